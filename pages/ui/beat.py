"""How often the pages that play are drawn anew: less often, the more of them there are."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

BEATS = (0.5, 1.0, 1.5)  # seconds
EACH = 10  # players for whom one of them is enough: drawing a page takes 15 to 20 ms of one core
GONE = 10.0  # seconds after which somebody who was not drawn does not count
KEPT = 10.0  # seconds that a beat stays at least, or pages at the border would change theirs all the time


class Beats:
    """The players of a process. Thread-safe.

    Args:
        clock: seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._mutex = threading.Lock()
        self._seen: dict[str, float] = {}
        self._beats: dict[str, tuple[float, float]] = {}

    def of(self, name: str) -> float:
        """Seconds between two beats of a player, who is thereby known to play."""
        with self._mutex:
            now = self._clock()
            self._seen[name] = now
            for gone in [n for n, seen in self._seen.items() if now - seen > GONE]:
                del self._seen[gone]
                self._beats.pop(gone, None)
            wanted = BEATS[min((len(self._seen) - 1) // EACH, len(BEATS) - 1)]
            beat, since = self._beats.get(name, (wanted, now))
            if beat != wanted and now - since >= KEPT:
                beat, since = wanted, now
            self._beats[name] = beat, since
            return beat
