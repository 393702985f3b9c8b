"""The phase table of a sweep: median coupling time over tau x n, and where fast turns into slow (MATH section 6).

Definitions. The median of a point pools the pairs of its replicates (Kaplan-Meier); unit: sweeps. A point is *slow* if
its median is more than ``FACTOR`` times the median at the hottest tau of the same model, start and n, and *fast*
otherwise. A censored point, whose median is only known to be larger than the horizon, is slow if the horizon is at
least ``PATIENCE`` times that hot median, and *undecided* otherwise. The *boundary* at n lies between the hottest slow
tau and the coldest tau above it from which on all points are fast.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from glauber_core.mixing.cell import CellResult
from glauber_core.mixing.scaling import Scaling, fit_scaling
from glauber_core.mixing.survival import LEVEL, Median, TooFew, median

FACTOR = 10.0
PATIENCE = 100.0
Verdict = Literal["fast", "slow", "undecided"]


class PhasePoint(NamedTuple):
    """One point of the phase table.

    Attributes:
        model, start, tau, n: where.
        median: of T, sweeps, with interval, censoring and counts (``survival.Median``).
        few: True if there are too few pairs for the median to be relied on.
        verdict: by the definitions above.
    """

    model: str
    start: str
    tau: float
    n: int
    median: Median
    few: bool
    verdict: Verdict


class Boundary(NamedTuple):
    """Where fast turns into slow, at one n.

    Attributes:
        model, start, n: where.
        slow: the hottest slow tau; 0 if none is slow.
        fast: the coldest tau from which on all are fast; inf if the hottest is not.
        tau: the tau at which the median would be ``FACTOR`` times the hot one, by log-linear interpolation between the
            two; NaN where the slow median is censored or a side is missing: then only the bracket is known.
    """

    model: str
    start: str
    n: int
    slow: float
    fast: float
    tau: float


def phase_table(results: Sequence[CellResult]) -> list[PhasePoint]:
    """Points of the table: models and starts in order of appearance, n rising, tau falling."""
    pooled: dict[tuple[str, str, int, float], list[CellResult]] = {}
    for result in results:
        cell = result.cell
        pooled.setdefault((cell.model, cell.start, cell.n, cell.tau), []).append(result)
    lines: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for model, start, n, tau in pooled:
        lines.setdefault((model, start), []).append((n, tau))
    points = []
    for (model, start), places in lines.items():
        hot: dict[int, Median] = {}
        for n, tau in sorted(places, key=lambda place: (place[0], -place[1])):
            found, few = _median(pooled[model, start, n, tau], n)
            verdict = _verdict(found, hot.setdefault(n, found))
            points.append(PhasePoint(model, start, tau, n, found, few, verdict))
    return points


def boundaries(points: Sequence[PhasePoint]) -> list[Boundary]:
    """The boundary at each model, start and n, in the order of the points."""
    lines: dict[tuple[str, str, int], list[PhasePoint]] = {}
    for point in points:
        lines.setdefault((point.model, point.start, point.n), []).append(point)
    return [_boundary(*place, sorted(line, key=lambda point: -point.tau)) for place, line in lines.items()]


def growth(points: Sequence[PhasePoint], tau: float, level: float = LEVEL) -> Scaling:
    """How the median coupling time, in steps, grows with n at one tau (``scaling.fit_scaling``).

    Args:
        points: of one model and start; those at another tau, censored ones, and those with too few pairs are left out.
        tau: one of the table's.
        level: of the intervals.

    Raises:
        TooFew: as ``fit_scaling``.
    """
    used = [p for p in points if p.tau == tau and not p.few and not p.median.censored and p.n >= 2]
    return fit_scaling([p.n for p in used], [p.median.value * p.n for p in used], level)


def _median(results: Sequence[CellResult], n: int) -> tuple[Median, bool]:
    sweeps = np.concatenate([np.array(r.steps) for r in results]) / n
    met = np.concatenate([np.array(r.met, dtype=bool) for r in results])
    try:
        return median(sweeps, met), False
    except TooFew as error:
        assert isinstance(error.estimate, Median)
        return error.estimate, True


def _verdict(found: Median, hot: Median) -> Verdict:
    if hot.censored:
        return "undecided"
    if found.censored:
        return "slow" if found.beyond >= PATIENCE * hot.value else "undecided"
    return "slow" if found.value > FACTOR * hot.value else "fast"


def _boundary(model: str, start: str, n: int, line: Sequence[PhasePoint]) -> Boundary:
    fast = math.inf
    cooler = list(line)
    while cooler and cooler[0].verdict == "fast":
        fast = cooler.pop(0).tau
    slow = next((point for point in cooler if point.verdict == "slow"), None)
    tau = math.nan
    if slow is not None and math.isfinite(fast) and not slow.median.censored:
        last = next(point for point in line if point.tau == fast)
        goal = math.log(FACTOR * line[0].median.value)
        low, high = (math.log(max(p.median.value, 1 / n)) for p in (last, slow))
        tau = fast + (slow.tau - fast) * (goal - low) / (high - low)
    return Boundary(model, start, n, 0.0 if slow is None else slow.tau, fast, tau)
