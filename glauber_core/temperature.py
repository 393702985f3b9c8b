"""Temperature: its range, and schedules of it over a run.

tau divides the logits: ``p_i^tau(. | x_-i) = softmax(l_i / tau)``. tau = 0 is the argmax (lowest id on ties).
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

from glauber_core.errors import UserError

SCHEDULES = ("constant", "heat_then_cool", "anneal")
HOT = 3.0


def check_tau(tau: object) -> float:
    """Return ``tau`` as a float.

    Raises:
        UserError: not a number, not finite, or negative. Nothing is silently replaced by 1.
    """
    try:
        value = float(tau)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise UserError("The temperature must be a number, for example 0.7.") from None
    if not math.isfinite(value):
        raise UserError("The temperature must be a finite number; use a large one such as 1000 for pure noise.")
    if value < 0:
        raise UserError("The temperature cannot be negative; 0 always takes the most likely word.")
    return value + 0.0  # -0.0 becomes 0.0


@dataclass(frozen=True)
class Schedule:
    """tau as a function of the sweeps since the schedule began.

    Attributes:
        kind: ``constant``; ``heat_then_cool`` (``HOT`` or twice the target, whichever is hotter, for the first half of
            ``sweeps``, then the target); ``anneal`` (geometric from hot down to the target over ``sweeps``).
        sweeps: length of the programme, in sweeps.
    """

    kind: str = "constant"
    sweeps: float = 20.0

    def __post_init__(self) -> None:
        if self.kind not in SCHEDULES:
            raise UserError(f"Unknown temperature schedule; choose one of {', '.join(SCHEDULES)}.")
        if not (math.isfinite(self.sweeps) and self.sweeps > 0):
            raise UserError("The schedule must last more than 0 sweeps.")

    def tau(self, target: float, sweep: float) -> float:
        """Temperature at ``sweep`` sweeps after the start, ending at ``target``."""
        hot = max(HOT, min(2 * target, sys.float_info.max))
        progress = min(max(sweep / self.sweeps, 0.0), 1.0)
        if self.kind == "constant" or progress >= 1.0:
            return target
        if self.kind == "heat_then_cool":
            return hot if progress < 0.5 else target
        floor = max(target, 0.02)  # a geometric path cannot reach 0; the last step is the target itself
        return hot * (floor / hot) ** progress

    def still(self, sweep: float) -> float:
        """Sweeps from ``sweep`` on during which tau stays what it is there; inf if for ever, 0 if it moves at once."""
        if self.kind == "constant" or sweep >= self.sweeps:
            return math.inf
        if self.kind == "heat_then_cool":
            return math.inf if sweep >= self.sweeps / 2 else self.sweeps / 2 - sweep
        return 0.0
