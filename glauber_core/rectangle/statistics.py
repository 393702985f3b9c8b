"""Statistics of delta over many rectangles, with intervals by bootstrap over sentences (MATH section 2)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float64, Int64

from glauber_core.errors import UserError
from glauber_core.rectangle.results import Measured
from glauber_core.rectangle.schemes import generator

MIN_SENTENCES = 5
RESAMPLES = 1000
LEVEL = 0.95
QUANTILES = {"median": 0.5, "q25": 0.25, "q75": 0.75, "q90": 0.9, "q99": 0.99}


@dataclass(frozen=True)
class Summary:
    """Figures of delta, nats at tau = 1.

    Attributes:
        rectangles, sentences: how many.
        mean, median, q25, q75, q90, q99: of delta over the rectangles; quantiles are observed values (the inverse of
            the empirical distribution function).
        relative_median: median of the relative delta.
        above: share of the rectangles with delta above the noise floor; NaN without one.
        intervals: for each of these names, the ends of a 95 % percentile interval by bootstrap over sentences, because
            rectangles of one sentence are not independent; empty with fewer than ``MIN_SENTENCES`` sentences.
    """

    rectangles: int
    sentences: int
    mean: float
    median: float
    q25: float
    q75: float
    q90: float
    q99: float
    relative_median: float
    above: float
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict)


def summarize(measured: Measured, floor: float | None, seed: int = 0, resamples: int = RESAMPLES) -> Summary:
    """Figures of N rectangles, each counted once.

    Args:
        measured: the rectangles.
        floor: noise floor in nats, or None if unknown.
        seed: of the bootstrap.
        resamples: bootstrap samples; 0 for no intervals.

    Raises:
        UserError: no rectangle at all.
    """
    if not len(measured):
        raise UserError("There is no rectangle to summarise: choose another rule, or a longer sentence.")
    names, owner = np.unique(measured.rectangles.sentence, return_inverse=True)
    figures = _Figures(measured, floor)
    point = figures.at(np.ones(len(measured)))
    intervals: dict[str, tuple[float, float]] = {}
    if len(names) >= MIN_SENTENCES and resamples:
        rng = generator(seed, 0)
        equal = np.full(len(names), 1 / len(names))
        counts = rng.multinomial(len(names), equal, size=resamples)
        found = [figures.at(row[owner.reshape(-1)].astype(np.float64)) for row in counts]
        for name in point:
            values = [f[name] for f in found]
            low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
            intervals[name] = (float(low), float(high))
    return Summary(len(measured), len(names), **point, intervals=intervals)


class _Figures:
    """The figures as functions of the rectangles' weights; sorted once, because a bootstrap asks a thousand times."""

    def __init__(self, measured: Measured, floor: float | None) -> None:
        self._delta, self._relative = measured.delta, measured.relative
        self._by_delta, self._by_relative = np.argsort(self._delta), np.argsort(self._relative)
        self._above = None if floor is None else (self._delta > floor).astype(np.float64)

    def at(self, weights: Float64[np.ndarray, " N"]) -> dict[str, float]:
        total = weights.sum()
        figures = {"mean": float(self._delta @ weights / total)}
        figures |= _quantiles(self._delta, weights, self._by_delta, QUANTILES)
        figures |= _quantiles(self._relative, weights, self._by_relative, {"relative_median": 0.5})
        figures["above"] = float("nan") if self._above is None else float(self._above @ weights / total)
        return figures


def _quantiles(
    values: Float64[np.ndarray, " N"],
    weights: Float64[np.ndarray, " N"],
    order: Int64[np.ndarray, " N"],
    levels: dict[str, float],
) -> dict[str, float]:
    """Weighted quantiles: the smallest value at which the cumulated weight reaches the level."""
    cumulated = np.cumsum(weights[order])
    found = {}
    for name, level in levels.items():
        where = np.searchsorted(cumulated, level * cumulated[-1] * (1 - 1e-12))
        found[name] = float(values[order[min(int(where), len(order) - 1)]])
    return found


def by_distance(measured: Measured, floor: float | None, seed: int = 0, resamples: int = 0) -> dict[int, Summary]:
    """Figures for each |i - j|, in increasing order; arguments as of ``summarize``."""
    return {
        int(d): summarize(measured.take(np.nonzero(measured.distance == d)[0]), floor, seed, resamples)
        for d in np.unique(measured.distance)
    }


def pair_medians(measured: Measured, sentence: int, n: int) -> Float64[np.ndarray, "n n"]:
    """float64 [n, n], nats: median delta of each pair of positions of one sentence, symmetric; NaN where untested."""
    r = measured.rectangles
    out = np.full((n, n), np.nan)
    mine = np.nonzero(r.sentence == sentence)[0]
    if not len(mine):
        return out
    codes = np.minimum(r.i, r.j)[mine] * n + np.maximum(r.i, r.j)[mine]
    order = np.argsort(codes, kind="stable")
    unique, first = np.unique(codes[order], return_index=True)
    for code, group in zip(unique, np.split(measured.delta[mine[order]], first[1:]), strict=True):
        i, j = divmod(int(code), n)
        out[i, j] = out[j, i] = np.median(group)
    return out


def worst(measured: Measured, count: int, distinct_pairs: bool = True) -> Int64[np.ndarray, " m"]:
    """int64 [m], m <= count: row numbers of the largest delta, largest first; at most one a pair of positions."""
    order = np.argsort(-measured.delta, kind="stable")
    if not distinct_pairs:
        return order[:count]
    r = measured.rectangles
    keys = np.stack([r.sentence, np.minimum(r.i, r.j), np.maximum(r.i, r.j)], axis=1)[order]
    _, first = np.unique(keys, axis=0, return_index=True)
    return order[np.sort(first)][:count]
