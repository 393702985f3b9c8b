"""How many threads are fastest right now, on a machine that other programs use too."""

from __future__ import annotations

from statistics import median

import torch


class Threads:
    """Chooses between one thread and ``most``, by timing a few steps of the other choice every so often.

    When another program holds a core, the steps of many threads wait for the slowest one and a single thread can be
    faster; on an idle machine it is not.

    Args:
        most: largest number of threads.
        period: steps from one trial to the next.
        trial: steps timed of each choice.
    """

    def __init__(self, most: int, period: int = 60, trial: int = 3) -> None:
        self.chosen = most
        self._choices = (1, most)
        self._period, self._trial = period, trial
        self._times: dict[int, list[float]] = {1: [], most: []}
        self._count = 0
        torch.set_num_threads(most)

    def after_step(self, seconds: float) -> None:
        """Take in the duration of the step that just ended and set the number of threads for the next."""
        if len(self._times) == 1:
            return
        self._count += 1
        phase = self._count % self._period
        other = next(n for n in self._choices if n != self.chosen)
        start = self._period - 2 * self._trial
        if phase >= start or phase == 0:
            running = self.chosen if start <= phase < start + self._trial else other
            self._times[running].append(seconds)
        if phase == start + self._trial - 1:
            torch.set_num_threads(other)
        elif phase == 0:
            self.chosen = min(self._choices, key=lambda n: median(self._times[n]))
            torch.set_num_threads(self.chosen)
            for times in self._times.values():
                times.clear()
