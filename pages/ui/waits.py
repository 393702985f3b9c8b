"""What the page says of simulated time: how long a sentence waited before it changed, and the clock of a run."""

from __future__ import annotations

import math

import numpy as np

from glauber_core.record import RunRecord
from pages.ui.words import steps, whole


class Waits:
    """Waits and clock of one record, as it is now.

    A sentence's wait is the simulated time from the entry that made it to the one that changed it, both steps that
    changed nothing and skipped ones among it.
    """

    def __init__(self, record: RunRecord) -> None:
        self._clock, self._now = record.clock(), record.elapsed
        self._sweeps = record.simulated_sweeps()
        changed = np.fromiter((e.old != e.new for e in record.entries), dtype=bool, count=len(record))
        self.changed = np.concatenate([[False], changed])
        self._since = np.maximum.accumulate(np.where(self.changed, np.arange(len(record) + 1), 0)).tolist()
        self._count = np.cumsum(self.changed)

    def before(self, step: int) -> int:
        """Steps that the sentence before entry ``step`` had waited when this entry changed it."""
        return self._clock[step] - self._clock[self._since[step - 1]]

    def powers(self, last: int) -> list[tuple[float, float, int]]:
        """(entry, log10 of the wait, the wait in steps) of every change among the first ``last`` entries."""
        found = ((k, self.before(k)) for k in np.flatnonzero(self.changed[: last + 1]).tolist())
        return [(float(k), math.log10(wait), wait) for k, wait in found]

    def said(self, step: int) -> dict[str, str]:
        """What the strip says after ``step`` entries: the wait that just ended (or goes on), clock and changes.

        Where the entry changed a word, ``took`` is that wait alone.
        """
        time = self._now if step == len(self._clock) - 1 else self._clock[step]
        lasted = time - self._clock[self._since[step]]
        took = {"took": steps(self.before(step))} if self.changed[step] else {}
        if took and lasted == 0:
            wait = f"waited {took['took']}"
        else:
            wait = f"held {steps(lasted)} so far" if lasted else ""
        sweeps = float(self._sweeps[step])
        shown = f"{sweeps:.1f}" if sweeps < 10 else whole(round(sweeps))
        count = int(self._count[step])
        return took | {
            "wait": wait,
            "clock": f"{steps(time)}, {shown} sweeps",
            "count": "1 change" if count == 1 else f"{count:,} changes",
        }
