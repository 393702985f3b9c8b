"""A fair lock: first come, first served, but what a person clicked goes before what merely plays."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

_local = threading.local()


CLICK, PLAY, IDLE = 2, 1, 0


@contextmanager
def _at(rank: int) -> Iterator[None]:
    before = rank_now()
    _local.rank = rank
    try:
        yield
    finally:
        _local.rank = before


def urgent() -> AbstractContextManager[None]:
    """Everything this thread asks of a model inside the block goes before non-urgent requests."""
    return _at(CLICK)


def idle() -> AbstractContextManager[None]:
    """What this thread asks of a sampler inside the block is served when nobody waits for anything else."""
    return _at(IDLE)


def rank_now() -> int:
    """``CLICK``, ``PLAY`` or ``IDLE``: who goes first, in this thread at this moment."""
    return int(getattr(_local, "rank", PLAY))


def is_urgent() -> bool:
    """True inside an ``urgent`` block of this thread."""
    return rank_now() == CLICK


class Turns:
    """Context manager: one holder at a time; the urgent queue is served first, each queue in order of arrival.

    A plain ``threading.Lock`` lets one busy thread take the lock again and again while others starve.
    """

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._held = False
        self._queues: tuple[deque[threading.Event], deque[threading.Event]] = (deque(), deque())

    def __enter__(self) -> None:
        with self._mutex:
            if not self._held:
                self._held = True
                return
            turn = threading.Event()
            self._queues[0 if is_urgent() else 1].append(turn)
        try:
            turn.wait()
        except BaseException:  # interrupted while waiting: pass on a turn that may have come meanwhile
            with self._mutex:
                for queue in self._queues:
                    if turn in queue:
                        queue.remove(turn)
                        raise
            self.__exit__()
            raise

    def __exit__(self, *exc: object) -> None:
        with self._mutex:
            for queue in self._queues:
                if queue:
                    queue.popleft().set()  # the lock passes on without being released in between
                    return
            self._held = False
