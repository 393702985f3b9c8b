"""Several chains on their way through the landscape: moved in turn, followed, embedded and mapped as they go."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float32

from glauber_core.chain import Chain
from glauber_core.errors import UserError
from glauber_core.hybrid import Switch
from glauber_core.landscape.visits import Follower, StateBook, Visits
from glauber_core.types import Conditionals

MAX_CHAINS = 8
MAX_ENTRIES = 200_000  # of one chain's record: some 50 MB
POINTS = 10_000  # that a picture is made for; chains share them (``Follower.dense``)


@runtime_checkable
class Embed(Protocol):
    """Sentences to unit vectors: float32 [m, d]."""

    def __call__(self, texts: Sequence[str]) -> Float32[np.ndarray, "m d"]: ...


class Start(NamedTuple):
    """Where a chain begins: token ids, the sentence as shown, and its topic (empty if it has none)."""

    ids: tuple[int, ...]
    text: str
    topic: str


class Picture(NamedTuple):
    """What is known at one moment. Arrays are never written to again.

    Attributes:
        texts: S distinct states, as sentences.
        embeddings: float32 [S, d], unit vectors.
        visits: one a chain; states are numbers below S.
        elapsed: simulated steps of each chain, exact.
        absorbed: True for a chain whose state is never left (q = 0).
        stride: of how many changes of each chain one is kept now.
    """

    texts: list[str]
    embeddings: Float32[np.ndarray, "S d"]
    visits: tuple[Visits, ...]
    elapsed: tuple[int, ...]
    absorbed: tuple[bool, ...]
    stride: tuple[int, ...]


@dataclass
class _Walk:
    """One chain on its way."""

    chain: Chain
    rule: Switch
    follower: Follower
    absorbed: bool = False


class Expedition:
    """Chains with hybrid moves (``hybrid.Switch``): the law of the plain chain, waiting skipped where it pays.

    Moved by one thread; ``picture`` may be read by any.

    Args:
        conditionals: of the model; asked by several threads at once if it may be (``service.Client``).
        starts: one a chain, 1 .. ``MAX_CHAINS``.
        tau: temperature, >= 0.
        seed: of the streams; chain k has the id k.
        text: token ids to a sentence.
        embed: sentences to unit vectors.

    Raises:
        UserError: too few or too many chains, or what ``Chain`` refuses.
    """

    def __init__(
        self,
        conditionals: Conditionals,
        starts: Sequence[Start],
        tau: float,
        seed: int,
        text: Callable[[tuple[int, ...]], str],
        embed: Embed,
    ) -> None:
        if not 1 <= len(starts) <= MAX_CHAINS:
            raise UserError(f"Choose from 1 to {MAX_CHAINS} chains.")
        self.starts, self._text, self._embed = tuple(starts), text, embed
        self.book = StateBook()
        self._walks = []
        for k, start in enumerate(starts):
            chain = Chain(conditionals, start.ids, seed, tau, chain=k, start_text=start.text)
            dense = POINTS // (4 * len(starts))
            self._walks.append(_Walk(chain, Switch(chain.sweep_length), Follower(chain.record, self.book, dense)))
        self._texts: list[str] = []
        self._vectors: list[np.ndarray] = []
        self.picture = self._picture(np.empty((0, 0), dtype=np.float32), [])
        self.look()

    @property
    def chains(self) -> tuple[Chain, ...]:
        """The chains; only the thread that moves them may change them."""
        return tuple(walk.chain for walk in self._walks)

    @property
    def per_sweep(self) -> tuple[int, ...]:
        """Steps in a sweep of each chain."""
        return tuple(walk.chain.sweep_length for walk in self._walks)

    def set_tau(self, tau: float) -> None:
        """Temperature of all chains from their next moves on. Raises UserError if unusable."""
        for walk in self._walks:
            walk.absorbed = walk.absorbed and walk.chain.tau == tau
            walk.chain.set_tau(tau)

    def move(self, horizon: int, seconds: float, stop: threading.Event | None = None) -> bool:
        """Move every chain towards ``horizon`` simulated steps for about so many seconds; True when all are there.

        A chain stops exactly at the horizon. One that can never change is held until there and marked absorbed.

        Args:
            horizon: >= 0.
            seconds: of real time, checked between moves.
            stop: ends the moving early when set.

        Raises:
            UserError: a chain's record is full; the others have moved.
        """
        until = time.monotonic() + seconds
        going = [walk for walk in self._walks if walk.chain.record.elapsed < horizon]
        if going:
            with ThreadPoolExecutor(len(going), thread_name_prefix="landscape") as pool:
                for future in [pool.submit(_go, walk, horizon, until, stop) for walk in going]:
                    future.result()
        return all(walk.chain.record.elapsed >= horizon for walk in self._walks)

    def look(self, progress: Callable[[float], None] = lambda share: None) -> Picture:
        """Read what the chains did since, embed the new states, and make the new picture.

        Args:
            progress: told the share of new states embedded; may raise, and the old picture stays.
        """
        for walk in self._walks:
            walk.follower.catch_up()
        new = self.book.states[len(self._texts) :]
        texts = [self._text(state) for state in new]
        vectors = []
        for first in range(0, len(texts), 64):
            progress(first / len(texts))
            vectors.append(self._embed(texts[first : first + 64]))
        self._texts = self._texts + texts
        if vectors:
            self._vectors = [np.concatenate([*self._vectors, *vectors])]
        self.picture = self._picture(self._vectors[0], self._texts)
        return self.picture

    def _picture(self, embeddings: Float32[np.ndarray, "S d"], texts: list[str]) -> Picture:
        walks = self._walks
        return Picture(
            texts,
            embeddings,
            tuple(walk.follower.visits() for walk in walks),
            tuple(walk.chain.record.elapsed for walk in walks),
            tuple(walk.absorbed for walk in walks),
            tuple(walk.follower.stride for walk in walks),
        )


def _go(walk: _Walk, horizon: int, until: float, stop: threading.Event | None) -> None:
    chain, rule = walk.chain, walk.rule
    if chain.steps >= MAX_ENTRIES:
        raise UserError(f"A chain of this run has reached {MAX_ENTRIES:,} recorded steps: save it and begin a new run.")
    while (
        chain.steps < MAX_ENTRIES
        and chain.record.elapsed < horizon
        and time.monotonic() < until
        and not (stop and stop.is_set())
    ):
        if rule.waiting:
            skipped = chain.skip(1, horizon - chain.record.elapsed)
            walk.absorbed = skipped.end == "absorbed"
            if skipped.end == "changes":
                rule.saw(skipped.steps, True)
        else:
            entry = chain.advance(1)[0]
            rule.saw(1, entry.new != entry.old)
