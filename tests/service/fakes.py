"""A model whose values give away the size of their batch, that can be held up, run out of memory, and fail."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import torch

from glauber_core.service import Client
from glauber_core.turns import urgent

V = 40
BAD = 33  # a sentence that holds it makes the whole batch fail
LIMIT_S = 60  # for things that come at once unless something is broken


class Watched:
    """Conditionals of V tokens; every value depends on its own row and, a little, on the rows of the batch.

    Attributes:
        batches: the sentences of each batch, in order of evaluation.
        room: rows that fit into memory.
    """

    def __init__(self, room: int = 10**6) -> None:
        self.vocab_size, self.allowed = V, torch.ones(V, dtype=torch.bool)
        self.batches: list[list[list[int]]] = []
        self.room = room
        self._gate, self._inside = threading.Event(), threading.Semaphore(0)
        self._gate.set()

    def __call__(self, states: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        self.batches.append(states.tolist())
        self._inside.release()
        assert self._gate.wait(LIMIT_S)
        if len(states) > self.room:
            raise torch.OutOfMemoryError("no room")
        if bool((states == BAD).any()):
            raise RuntimeError("bad token")
        return values(states, positions, len(states))

    def hold(self) -> None:
        self._gate.clear()

    def go(self) -> None:
        self._gate.set()

    def entered(self) -> None:
        """Wait until a batch has come in."""
        assert self._inside.acquire(timeout=LIMIT_S)


def values(states: torch.Tensor, positions: torch.Tensor, rows: int) -> torch.Tensor:
    """float64 [B, V]: the logits in a batch of ``rows`` rows."""
    n = states.shape[1]
    kept = torch.where(torch.arange(n) == positions[:, None], 0, states + 1)
    weight = (kept * torch.arange(1, n + 1)).sum(dim=1, keepdim=True) + 7 * positions[:, None]
    return torch.sin(weight * torch.arange(1, V + 1)).double() * 3 + 1e-9 * rows


class Crowd:
    """Threads that ask, each in its turn."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(max_workers=64)

    def ask(self, client: Client, *states: list[int], at: int = 0, click: bool = False) -> Future[torch.Tensor]:
        """One call in a thread of its own, all rows at position ``at``."""

        def call() -> torch.Tensor:
            rows = torch.tensor(states), torch.full((len(states),), at)
            if click:
                with urgent():
                    return client(*rows)
            return client(*rows)

        return self._pool.submit(call)

    def do(self, work: Callable[[], None]) -> Future[None]:
        return self._pool.submit(work)

    def end(self) -> None:
        self._pool.shutdown()


def until(true: Callable[[], bool]) -> None:
    """Wait for something that another thread is about to do."""
    deadline = time.monotonic() + LIMIT_S
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.001)
