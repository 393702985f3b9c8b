"""Mixing of an enumerated chain, from its matrix: distance from stationarity, mixing time, spectral gap.

d(t) = max_x TV(P^t(x, .), pi), t_mix(eps) = min{t : d(t) <= eps}, gap = 1 - |lambda_2|. Source: Levin & Peres, "Markov
Chains and Mixing Times", sections 4.1, 4.4, 4.5 and 12.1. Matrices are those of ``exact.transition_matrix`` and
``exact.systematic_scan_matrix``; chains of incompatible conditionals are not reversible, so eigenvalues may be complex.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Complex128, Float64, Int64
from scipy.linalg import eigvals

from glauber_core.errors import UserError
from glauber_core.exact.laws import stationary_law

EPS = 0.25
LIMIT = 2**40  # steps: beyond it the rounding of P^t is no longer small beside eps


class TVCurve(NamedTuple):
    """Distance from stationarity over time.

    Attributes:
        steps: int64 [K], increasing.
        distance: float64 [K] in [0, 1], total variation.
    """

    steps: Int64[np.ndarray, " K"]
    distance: Float64[np.ndarray, " K"]


class Spectrum(NamedTuple):
    """Eigenvalues of a chain.

    Attributes:
        values: complex128 [S], by decreasing modulus; the first is 1.
        gap: 1 - |lambda_2|, in [0, 1].
        relaxation: 1 / gap, steps; inf without a gap.
    """

    values: Complex128[np.ndarray, " S"]
    gap: float
    relaxation: float


def total_variation(p: Float64[np.ndarray, "*B S"], q: Float64[np.ndarray, "*C S"]) -> Float64[np.ndarray, "*D"]:
    """TV(p, q) = (1/2) sum |p - q| over the last axis, which broadcast together."""
    return np.asarray(np.abs(p - q).sum(axis=-1) / 2)


class SimulatedTV(NamedTuple):
    """Distance of a histogram from a law.

    Attributes:
        value: total variation.
        noise: how far it may be from the distance of the law that was drawn from, at the stated false-alarm rate.
    """

    value: float
    noise: float


def simulated_tv(
    counts: Int64[np.ndarray, " S"],
    law: Float64[np.ndarray, " S"],
    drawn_from: Float64[np.ndarray, " S"],
    false_alarm: float = 1e-4,
) -> SimulatedTV:
    """TV of independent chains' histogram from ``law``, and what the histogram's own noise may add or hide.

    |TV(f, pi) - TV(p, pi)| <= TV(f, p); its mean is at most (1/2) sum sqrt(p (1 - p) / N), and it exceeds its mean by
    sqrt(log(1 / false_alarm) / (2 N)) with probability ``false_alarm`` at most (McDiarmid's inequality).

    Args:
        counts: int64 [S], where N independent chains are at one time.
        law: float64 [S], the stationary law pi.
        drawn_from: float64 [S], their exact law p at that time.
        false_alarm: in (0, 1).
    """
    total = int(counts.sum())
    mean = float(np.sqrt(drawn_from * (1 - drawn_from) / total).sum()) / 2
    return SimulatedTV(
        float(total_variation(counts / total, law)), mean + math.sqrt(math.log(1 / false_alarm) / (2 * total))
    )


def tv_curve(
    matrix: Float64[np.ndarray, "S S"],
    steps: Sequence[int],
    start: int | None = None,
    law: Float64[np.ndarray, " S"] | None = None,
) -> TVCurve:
    """d(t) at the stated times, from the worst state or from one.

    Args:
        matrix: P, float64 [S, S].
        steps: times >= 0, increasing.
        start: index of the start state; None for the worst one (cost S^3 a step instead of S^2).
        law: the stationary law; computed if None.

    Raises:
        UserError: times that are negative or do not increase, a start outside the states, or no single stationary law.
    """
    times = np.asarray(steps, dtype=np.int64)
    if len(times) == 0 or times[0] < 0 or (np.diff(times) <= 0).any():
        raise UserError("Give at least one time; times must be 0 or more and increase.")
    goal = stationary_law(matrix) if law is None else law
    rows, before, found = _starts(matrix, start), 0, []
    for t in times.tolist():
        rows = _advance(rows, matrix, t - before)
        before = t
        found.append(float(total_variation(rows, goal).max()))
    return TVCurve(times, np.array(found))


def mixing_time(
    matrix: Float64[np.ndarray, "S S"],
    eps: float = EPS,
    start: int | Float64[np.ndarray, " S"] | None = None,
    limit: int = LIMIT,
    law: Float64[np.ndarray, " S"] | None = None,
) -> int | None:
    """t_mix(eps), steps, from the worst state, from one, or from a start law; exact, by doubling and bisection.

    The distance never rises, so log2(t) squarings of P find it. They are kept: S^2 * 8 bytes each.

    Args:
        matrix: P, float64 [S, S].
        eps: in (0, 1).
        start: index of a state, a law float64 [S], or None for the worst state.
        limit: steps, at most ``LIMIT``.
        law: the stationary law; computed if None.

    Returns:
        Steps, or None if the distance is above eps for all the ``limit`` steps.

    Raises:
        UserError: eps outside (0, 1), a start outside the states, or no single stationary law.
    """
    check_eps(eps)
    goal = stationary_law(matrix) if law is None else law
    rows, powers = _starts(matrix, start), [matrix]

    def far(laws: Float64[np.ndarray, "C S"]) -> bool:
        return float(total_variation(laws, goal).max()) > eps

    if not far(rows):
        return 0
    while far(rows @ powers[-1]):
        if 2 ** (len(powers) - 1) >= min(limit, LIMIT):
            return None
        powers.append(powers[-1] @ powers[-1])
    last = 0  # the latest time that is known to be far
    for k in reversed(range(len(powers) - 1)):
        later = rows @ powers[k]
        if far(later):
            rows, last = later, last + 2**k
    return last + 1 if last + 1 <= limit else None


def spectrum(matrix: Float64[np.ndarray, "S S"]) -> Spectrum:
    """Eigenvalues and gap of P, float64 [S, S] with S >= 2; cost about 10 S^3.

    A single state would have no second eigenvalue.

    Raises:
        UserError: fewer than two states.
    """
    if len(matrix) < 2:
        raise UserError("A spectral gap needs at least two states.")
    values = eigvals(matrix).astype(np.complex128)
    values = values[np.lexsort((values.imag, values.real, -np.abs(values)))]
    values = np.concatenate((values[[k := int(np.abs(values - 1).argmin())]], np.delete(values, k)))
    gap = max(0.0, 1 - float(np.abs(values[1])))
    return Spectrum(values, gap, 1 / gap if gap > 0 else float("inf"))


def check_eps(eps: float) -> None:
    """Raises UserError: eps outside (0, 1)."""
    if not 0 < eps < 1:
        raise UserError("The distance eps must lie between 0 and 1, for example 0.25.")


def _starts(matrix: Float64[np.ndarray, "S S"], start: int | np.ndarray | None) -> Float64[np.ndarray, "C S"]:
    size = len(matrix)
    if start is None:
        return np.eye(size)
    if isinstance(start, np.ndarray):
        return start[None]
    if not 0 <= start < size:
        raise UserError(f"A state index must lie between 0 and {size - 1}.")
    return np.eye(1, size, start)


def _advance(
    rows: Float64[np.ndarray, "C S"], matrix: Float64[np.ndarray, "S S"], steps: int
) -> Float64[np.ndarray, "C S"]:
    if steps * len(rows) > len(matrix) * max(1, steps.bit_length()):  # squarings are cheaper
        return rows @ np.linalg.matrix_power(matrix, steps)
    for _ in range(steps):
        rows = rows @ matrix
    return rows
