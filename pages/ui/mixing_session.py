"""What one visitor of the mixing page has: two coupled chains and how far they are apart. It draws nothing."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import torch

from glauber_core.errors import Cancelled, UserError
from glauber_core.mixing.coupling import APART, PairState, init, step
from glauber_core.mixing.pair_stream import pair_uniforms
from glauber_core.mixing.tempered import Tempered
from glauber_core.models import MaskedLM
from glauber_core.models.registry import ModelRegistry
from glauber_core.shape import shape_for
from glauber_core.starters import by_topic
from glauber_core.temperature import check_tau
from glauber_core.types import Conditionals
from pages.ui.address import MAX_TAU
from pages.ui.alone import alone, new_lock
from pages.ui.background import Background, Progress
from pages.ui.fetch import outcome
from pages.ui.mixing_address import MixingAddress

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


@dataclass
class MixingSession:
    """Attributes:
    model: the model in use.
    address: what the address bar holds.
    worker: moves the two chains.
    serve: what they ask instead of the model itself.
    pair: as far as they are.
    speed: wanted steps per second; None = as fast as they can be computed.
    epoch: grows when a new pair begins.
    rev: grows when the slider must take a new value from here.
    error, notices, pending, lock: as on the other pages.
    """

    model: MaskedLM
    address: MixingAddress
    worker: Background
    serve: Callable[[MaskedLM], Conditionals] = field(default=lambda model: model, repr=False)
    pair: Pair | None = None
    speed: float | None = 12.0
    epoch: int = 0
    rev: int = 0
    error: str = ""
    notices: list[str] = field(default_factory=list)
    pending: tuple[str, Future[MaskedLM]] | None = None
    lock: Any = field(default_factory=new_lock, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.begin()

    @alone
    def acts(self) -> None:
        """The visitor does something: what was said before is over."""
        self.error, self.notices = "", []

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

    @alone
    def set_tau(self, tau: object) -> None:
        """The slider's value, from the next step on."""
        try:
            value = check_tau(tau)
            if value > MAX_TAU:
                raise UserError(f"The temperature goes up to {MAX_TAU:.0f} here.")
        except UserError as error:
            self.error = str(error)
            self.rev += 1
            return
        self.address = replace(self.address, tau=value)

    # -- the model ------------------------------------------------------------------------------------------------

    @alone
    def want(self, name: str, registry: ModelRegistry) -> None:
        """Ask for another model; the present one stays in use until it is there."""
        self.acts()
        self.pending = (name, registry.request(name))

    @alone
    def stop_waiting(self) -> None:
        """Stay with the present model."""
        self.pending = None

    @alone
    def arrived(self) -> None:
        """Switch to the pending model if it is there, or say why it is not."""
        if self.pending is None or not self.pending[1].done():
            return
        (name, future), self.pending = self.pending, None
        try:
            self.model = outcome(name, future, self.model.name)
        except UserError as error:
            self.error = str(error)
            return
        self.address = replace(self.address, model=self.model.name)
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
    def pause(self) -> None:
        """Stop; ``run`` goes on from here."""
        self.worker.cancel()

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
