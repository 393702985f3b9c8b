"""How long a thread is willing to wait for a sampler: what merely plays comes back later, a click can be answered."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from glauber_core.errors import Cancelled

_local = threading.local()


class Late(Cancelled):
    """The wait took too long. The rows stay in line, and the same request made again finds what was read."""


@contextmanager
def patience(deadline: float) -> Iterator[None]:
    """Requests of this thread inside the block raise ``Late`` at ``deadline``, or at an outer block's.

    Args:
        deadline: a value of ``time.monotonic``.
    """
    before = getattr(_local, "deadline", None)
    _local.deadline = deadline if before is None else min(before, deadline)
    try:
        yield
    finally:
        _local.deadline = before


def left() -> float | None:
    """Seconds that this thread will go on waiting, at least 0; None for ever."""
    deadline = getattr(_local, "deadline", None)
    return None if deadline is None else max(0.0, deadline - time.monotonic())
