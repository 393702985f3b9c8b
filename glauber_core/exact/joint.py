"""Models that do have a joint law, and that law on an enumerated state space."""

from __future__ import annotations

import math
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float64, Int
from scipy.special import softmax
from torch import Tensor

from glauber_core.errors import UserError
from glauber_core.exact.statespace import StateSpace
from glauber_core.types import Conditionals


@runtime_checkable
class Compatible(Conditionals, Protocol):
    """Conditionals of one positive joint law: every rectangle's curl is 0 (MATH section 2)."""

    def log_weight(self, states: Int[Tensor, "B n"]) -> Float64[Tensor, " B"]:
        """Log of the joint law up to a constant, float64 [B], nats."""
        ...


def joint_law(model: Compatible, space: StateSpace, tau: float = 1.0) -> Float64[np.ndarray, " S"]:
    """float64 [S]: the law proportional to joint^(1/tau) on the space, which has the conditionals p_i^tau.

    It is the stationary law of the chain at ``tau`` (Levin & Peres, section 3.3).

    Raises:
        UserError: tau is not a finite number above 0.
    """
    if not (math.isfinite(tau) and tau > 0):
        raise UserError("A joint law needs a finite temperature above 0.")
    return softmax(model.log_weight(space.states()).numpy() / tau)
