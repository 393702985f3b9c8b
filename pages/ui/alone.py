"""One thread at a time in a visitor's session.

Streamlit may run a click's script while the timer's is still at work, in another thread of the same session: everything
that changes or draws a session holds its lock.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class Locked(Protocol):
    """What has a re-entrant ``lock``."""

    lock: Any


S = TypeVar("S", bound=Locked)


def alone(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Run a method while no other thread of the session runs one."""

    @functools.wraps(method)
    def locked(self: S, *args: P.args, **kwargs: P.kwargs) -> R:
        with self.lock:
            return method(self, *args, **kwargs)

    return locked


def new_lock() -> Any:
    """A re-entrant lock, for a dataclass's field."""
    return threading.RLock()
