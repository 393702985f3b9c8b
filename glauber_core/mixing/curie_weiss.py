"""Curie-Weiss through its magnetisation: exact mixing for thousands of spins, the physics check of every measurement.

The number k of plus spins is a birth-death chain. From all-plus (or all-minus) the law of the spins given k is uniform,
so the distance of the whole chain from stationarity is that of k. Source: Levin, Luczak & Peres, "Glauber dynamics for
the mean-field Ising model" (2010); Levin & Peres, "Markov Chains and Mixing Times", chapter 15; MATH section 6.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float64
from scipy.special import expit, softmax

from glauber_core.errors import UserError
from glauber_core.mixing.exact import EPS, LIMIT, TVCurve, check_eps, total_variation
from glauber_core.mixing.exact import mixing_time as mixing_time_of_matrix

MAX_SPINS = 20_000
_BLOCK = 64  # steps between two looks at the distance
_DIRECT = 2**19  # steps taken one by one; after them a small chain goes on by squaring its matrix
_DENSE = 1024  # spins up to which it can


class MagnetisationChain(NamedTuple):
    """The birth-death chain of k, the number of plus spins.

    Attributes:
        up, down: float64 [n + 1], P(k -> k + 1) and P(k -> k - 1).
        law: float64 [n + 1], the stationary law.
    """

    up: Float64[np.ndarray, " K"]
    down: Float64[np.ndarray, " K"]
    law: Float64[np.ndarray, " K"]

    @property
    def n(self) -> int:
        """Number of spins."""
        return len(self.up) - 1

    def matrix(self) -> Float64[np.ndarray, "K K"]:
        """P, float64 [n + 1, n + 1]."""
        return np.diag(1 - self.up - self.down) + np.diag(self.up[:-1], 1) + np.diag(self.down[1:], -1)

    def advance(self, law: Float64[np.ndarray, " K"], steps: int) -> Float64[np.ndarray, " K"]:
        """The law of k after ``steps`` more steps; the argument is not mutated."""
        up, down, stay = self.up[:-1], self.down[1:], 1 - self.up - self.down
        for _ in range(steps):
            after = law * stay
            after[1:] += law[:-1] * up
            after[:-1] += law[1:] * down
            law = after
        return law


def magnetisation_chain(n: int, beta: float) -> MagnetisationChain:
    """The chain of ``exact.CurieWeiss(beta)`` with n spins, seen through k.

    A minus spin sees the field (beta / n)(2k - n + 1), a plus spin (beta / n)(2k - n - 1).

    Raises:
        UserError: n outside 1 .. ``MAX_SPINS``, or a beta that is negative or not finite.
    """
    if not 1 <= n <= MAX_SPINS:
        raise UserError(f"The number of spins must lie between 1 and {MAX_SPINS:,}.")
    if not (math.isfinite(beta) and beta >= 0):
        raise UserError("The inverse temperature beta must be a finite number, 0 or more.")
    k = np.arange(n + 1, dtype=np.float64)
    total = 2 * k - n
    up = (n - k) / n * expit(2 * beta / n * (total + 1))
    down = k / n * expit(-2 * beta / n * (total - 1))
    log_law = np.concatenate(([0.0], np.cumsum(np.log(up[:-1]) - np.log(down[1:]))))  # detailed balance
    return MagnetisationChain(up, down, softmax(log_law))


def tv_curve(chain: MagnetisationChain, steps: Sequence[int], start: int | None = None) -> TVCurve:
    """TV(P^t(start, .), pi) at the stated times.

    Args:
        chain: the magnetisation's.
        steps: times >= 0, increasing; the last one costs n operations a step.
        start: plus spins at time 0; all n if None. The distance of the whole chain only for 0 and n.

    Raises:
        UserError: times that are negative or do not increase, or a start outside 0 .. n.
    """
    times = np.asarray(steps, dtype=np.int64)
    if len(times) == 0 or times[0] < 0 or (np.diff(times) <= 0).any():
        raise UserError("Give at least one time; times must be 0 or more and increase.")
    law, before, found = _from(chain, start), 0, []
    for t in times.tolist():
        law, before = chain.advance(law, t - before), t
        found.append(float(total_variation(law, chain.law)))
    return TVCurve(times, np.array(found))


def mixing_time(
    chain: MagnetisationChain, eps: float = EPS, start: int | None = None, limit: int = _DIRECT
) -> int | None:
    """t_mix(eps) from one start, steps, exact; None if the distance is above eps for all the ``limit`` steps.

    Args:
        chain: the magnetisation's.
        eps: in (0, 1).
        start: plus spins at time 0; all n if None.
        limit: steps. Above 2^19 of them a chain of at most 1,024 spins goes on by squaring; a larger one takes them
            one by one, n operations each.

    Raises:
        UserError: eps outside (0, 1), or a start outside 0 .. n.
    """
    check_eps(eps)
    law, t = _from(chain, start), 0

    def far(law: Float64[np.ndarray, " K"]) -> bool:
        return float(total_variation(law, chain.law)) > eps

    if not far(law):
        return 0
    while t < limit:
        if t >= _DIRECT and chain.n <= _DENSE:
            more = mixing_time_of_matrix(chain.matrix(), eps, law, min(limit, LIMIT) - t, chain.law)
            return None if more is None else t + more
        block = min(_BLOCK, limit - t)
        later = chain.advance(law, block)
        if far(later):
            law, t = later, t + block
            continue
        while far(law):
            law, t = chain.advance(law, 1), t + 1
        return t
    return None


def tv_line(n: int, beta: float) -> float:
    """n log n / (2 (1 - beta)), steps: the leading order of t_mix for beta < 1 (Levin, Luczak & Peres, theorem 1).

    Raises:
        UserError: beta is not below 1.
    """
    if not 0 <= beta < 1:
        raise UserError("This line is for 0 <= beta < 1.")
    return n * math.log(n) / (2 * (1 - beta))


def coupling_line(n: int, beta: float) -> float:
    """n log n / (1 - beta), steps: the coupling time's own line, twice ``tv_line``. Raises UserError as there."""
    return 2 * tv_line(n, beta)


def _from(chain: MagnetisationChain, start: int | None) -> Float64[np.ndarray, " K"]:
    place = chain.n if start is None else start
    if not 0 <= place <= chain.n:
        raise UserError(f"The number of plus spins must lie between 0 and {chain.n}.")
    law = np.zeros(chain.n + 1)
    law[place] = 1.0
    return law
