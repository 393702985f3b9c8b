"""Plain steps where the chain keeps moving, rejection-free moves where it waits; the law is the plain chain's."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence

from jaxtyping import Int64
from torch import Tensor

from glauber_core.rejection_free import Jumps, follow
from glauber_core.shape import EvaluationShape
from glauber_core.types import Conditionals

READ_COST = 0.3  # of one position of a whole-state read, in plain steps: rows in one batch are cheaper than alone
_STEPS, _MOVES = 32, 8  # seen before a turn, at least


class Switch:
    """The rule of one chain (``rejection_free.Rule``).

    A rejection-free move costs r = max(1, 0.3 m) plain steps, m the number of free positions. The chain begins with
    plain steps. When its last w = max(32, ceil(4 r)) plain steps held at most w / (2 r) changes, waiting has become at
    least twice as cheap as stepping, and it waits. When its last 8 rejection-free moves took fewer than 8 r steps
    together, stepping would have been cheaper, and it steps. Each turn forgets what was seen before it, so that a rate
    between 1 / (2 r) and 1 / r keeps whatever is on.
    """

    def __init__(self, free: int) -> None:
        self.cost = max(1.0, READ_COST * free)
        self.waiting = False
        self._steps: deque[bool] = deque(maxlen=max(_STEPS, math.ceil(4 * self.cost)))
        self._waits: deque[int] = deque(maxlen=_MOVES)

    def saw(self, steps: int, changed: bool) -> None:
        """See ``rejection_free.Rule``."""
        seen: deque[bool] | deque[int]
        if self.waiting:
            seen = self._waits
            self._waits.append(steps)
            turn = sum(self._waits) < _MOVES * self.cost
        else:
            seen = self._steps
            self._steps.append(changed)
            turn = sum(self._steps) <= len(self._steps) / (2 * self.cost)
        if turn and len(seen) == seen.maxlen:
            self.waiting = not self.waiting
            seen.clear()


def run_hybrid(
    conditionals: Conditionals,
    start: Int64[Tensor, "C n"],
    tau: float | Sequence[float],
    horizon: int | None = None,
    changes: int | None = None,
    seed: int = 0,
    chains: Sequence[int] | None = None,
    locked: Sequence[int] = (),
    shape: EvaluationShape | None = None,
) -> Jumps:
    """Chains that each choose between plain and rejection-free moves by what they have seen (``Switch``).

    Arguments, result and errors as ``rejection_free.run_rejection_free``. As long as a chain only steps, its path is
    that of ``runners.run`` of the same key.
    """
    rules = [Switch(start.shape[1] - len(set(locked) & set(range(start.shape[1])))) for _ in range(len(start))]
    return follow(conditionals, start, tau, horizon, changes, seed, chains, locked, shape, rules)
