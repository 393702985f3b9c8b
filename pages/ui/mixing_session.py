"""What one visitor of the mixing page has: two coupled chains and how far they are apart. It draws nothing."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch

from glauber_core.errors import Cancelled, UserError
from glauber_core.mixing.coupling import APART, PairState, init, step
from glauber_core.mixing.pair_stream import pair_uniforms
from glauber_core.mixing.tempered import Tempered
from glauber_core.shape import shape_for
from glauber_core.starters import by_topic
from pages.ui.alone import alone
from pages.ui.background import Progress
from pages.ui.mixing_address import MixingAddress
from pages.ui.visit import Visit

HORIZON = 2_000  # sweeps
KEPT = 32 * 2**20  # bytes of conditionals kept: a cold pair asks for the same ones again
CURVE = 600  # points that are drawn


class Pair(NamedTuple):
    """Two coupled chains at one moment.

    Attributes:
        state: of one pair.
        distance: words in which they differ, after 0, 1, 2, .. steps.
    """

    state: PairState
    distance: list[int]

    @property
    def steps(self) -> int:
        return int(self.state.steps[0])

    @property
    def met(self) -> int | None:
        """T, the step at which they met; None before."""
        found = int(self.state.met[0])
        return None if found == APART else found


@dataclass(kw_only=True)
class MixingSession(Visit):
    """Attributes, beside those of every ``Visit``:
    pair: as far as they are.
    speed: wanted steps per second; None = as fast as they can be computed.
    """

    address: MixingAddress
    pair: Pair | None = None
    speed: float | None = 12.0

    def __post_init__(self) -> None:
        self.begin()

    @alone
    def begin(self) -> None:
        """A new pair from the address's topics; bad input leaves ``error``."""
        self.worker.cancel()
        self.epoch += 1
        try:
            x, y = (torch.tensor([self._sentence(topic)]) for topic in (self.address.first, self.address.second))
            state = init(x, y)
        except UserError as error:
            self.error, self.pair = str(error), None
            return
        self.pair = Pair(state, [int(state.distance[0])])

    def _sentence(self, topic: str) -> list[int]:
        """The topic's starters one after the other, cut after n tokens."""
        n, starters = self.address.n, by_topic(topic)
        ids: list[int] = []
        while len(ids) < n:
            for starter in starters:
                ids += self.model.vocabulary.encode(starter.text).ids
        return ids[:n]

    @alone
    def set(self, **changes: Any) -> None:
        """Change the address; everything but the view begins a new pair."""
        self.acts()
        self.address = replace(self.address, **changes)
        if changes.keys() - {"view"}:
            self.begin()

    # -- moving ---------------------------------------------------------------------------------------------------

    @property
    def finished(self) -> bool:
        """True if they have met, or it took too long."""
        pair = self.pair
        return pair is None or pair.met is not None or pair.steps >= HORIZON * self.address.n

    @alone
    def run(self) -> None:
        """Let the two chains go on until they meet."""
        self.acts()
        if self.worker.running or self.finished or self.pair is None:
            return
        epoch, seed, begin = self.epoch, self.address.seed, self.pair
        conditionals = self.serve(self.model)
        read = Tempered(conditionals, shape_for(conditionals, 1), KEPT)
        free = torch.arange(self.address.n)
        last = HORIZON * self.address.n

        def work(progress: Progress) -> None:
            pair, due = begin, time.monotonic()
            try:
                while pair.met is None and pair.steps < last:
                    progress(pair.steps / last)
                    uniform = torch.from_numpy(pair_uniforms(seed, 0, pair.steps, 1).copy())
                    tau = torch.tensor([self.address.tau], dtype=torch.float64)
                    state, _ = step(read, pair.state, uniform, tau, free)
                    pair = _after(pair, state)
                    with self.lock:
                        if self.epoch != epoch:
                            return
                        self.pair = pair
                    due = max(due + (1 / self.speed if self.speed else 0.0), time.monotonic() - 1.0)
                    time.sleep(max(0.0, due - time.monotonic()))
            except Cancelled:
                pass

        self.worker.start("moving", work)

    @alone
    def collect(self) -> None:
        """What went wrong in a finished run."""
        if not self.worker.running:
            _, error = self.worker.take()
            if error and not error.startswith("Cancelled"):
                self.error = error


def _after(pair: Pair, state: PairState) -> Pair:
    """The next moment; the list of distances is shared, for it only grows at its end."""
    pair.distance.append(int(state.distance[0]))
    return Pair(state, pair.distance)


def curve(pair: Pair, n: int) -> list[list[float]]:
    """[sweep, share of words that differ], at most ``CURVE`` points, the last one among them."""
    count = pair.steps + 1
    distance = pair.distance[:count]
    index = np.unique(np.linspace(0, count - 1, min(count, CURVE)).round().astype(int))
    return [[round(k / n, 3), round(distance[k] / n, 4)] for k in index.tolist()]
