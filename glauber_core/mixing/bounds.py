"""Theoretical bounds to print beside a measured time, where they exist (MATH section 3)."""

from __future__ import annotations

import math

import numpy as np

from glauber_core.errors import UserError
from glauber_core.exact import CurieWeiss
from glauber_core.types import Conditionals


def contraction_bound(n: int, alpha: float, eps: float = 0.25) -> int | None:
    """ceil(n / (1 - alpha) (log n + log(1 / eps))), steps; None for alpha >= 1, where the theorem says nothing.

    Each step of the maximally coupled pair shrinks the mean Hamming distance by 1 - (1 - alpha) / n at least, so this
    bounds t_mix(eps), and with eps = 1/2 the median coupling time. Source: Levin & Peres, "Markov Chains and Mixing
    Times", section 14.2 and theorem 15.1.

    Args:
        n: free positions, >= 1.
        alpha: max_j sum_i c_ij, exact or an upper bound, >= 0.
        eps: in (0, 1).

    Raises:
        UserError: an argument outside its range.
    """
    if n < 1 or not alpha >= 0 or not 0 < eps < 1:
        raise UserError("The bound needs n >= 1, alpha >= 0 and eps between 0 and 1.")
    return math.ceil(n / (1 - alpha) * (math.log(n) + math.log(1 / eps))) if alpha < 1 else None


def curie_weiss_influence(n: int, beta: float, tau: float = 1.0) -> float:
    """alpha of ``exact.CurieWeiss(beta)`` at ``tau`` with n spins, exact: (n - 1) times the influence of one spin.

    The influence is largest where the other n - 2 spins cancel, or nearly so.

    Raises:
        UserError: n below 1, or a temperature that is not above 0.
    """
    if n < 1 or not tau > 0:
        raise UserError("The influence needs n >= 1 and a temperature above 0.")
    b, rest = beta / tau / n, (n - 2) % 2  # the sum of the other spins, as near to 0 as its parity lets it be
    tv = (np.tanh(b * (rest + 1)) - np.tanh(b * (rest - 1))) / 2
    return float((n - 1) * tv) if n > 1 else 0.0


def coupling_bound(conditionals: Conditionals, n: int, tau: float) -> int | None:
    """Bound of the median coupling time, steps, to print beside a measured one; None where no theorem gives one.

    Only models whose influence is known exactly have one: sampled influences of a language model are lower bounds, and
    prove nothing (MATH section 3).

    Args:
        conditionals: the model (``subjects.open_subject``).
        n: free positions, >= 1.
        tau: temperature, > 0.

    Raises:
        UserError: an argument outside its range.
    """
    if not isinstance(conditionals, CurieWeiss):
        return None
    return contraction_bound(n, curie_weiss_influence(n, conditionals.beta, tau), 0.5)
