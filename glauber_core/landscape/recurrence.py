"""Do chains come back to a topic? First visits, returns and shares of time, with intervals over chains (MATH 7)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float64, Int64

from glauber_core.errors import UserError
from glauber_core.landscape.visits import Visits

MIN_CHAINS = 3  # below, an interval over chains means nothing
_RESAMPLES = 2_000


class Recurrence(NamedTuple):
    """How one chain meets one topic.

    Attributes:
        first: sweeps until it was first there, 0 if it began there; NaN if it never was (censored at ``sweeps``).
        returns: stays in the topic after the first one.
        share: of the chain's time, in [0, 1].
        sweeps: how long the chain ran.
    """

    first: float
    returns: int
    share: float
    sweeps: float


class Table(NamedTuple):
    """Start topics against topics met on the way.

    Attributes:
        starts: names of the rows.
        visited: float64 [R, T], share of the row's chains that were ever in the topic.
        share: float64 [R, T], mean share of their time there.
        returns: float64 [R, T], mean number of returns.
        chains: int64 [R].
    """

    starts: list[str]
    visited: Float64[np.ndarray, "R T"]
    share: Float64[np.ndarray, "R T"]
    returns: Float64[np.ndarray, "R T"]
    chains: Int64[np.ndarray, " R"]


def recurrence(visits: Visits, topic: Int64[np.ndarray, " S"], which: int, per_sweep: float) -> Recurrence:
    """One chain and one topic.

    Args:
        visits: of the chain.
        topic: int64 [S], the clear topic of each state, -1 for none.
        which: the topic.
        per_sweep: steps in a sweep.
    """
    there = topic[visits.state] == which
    total = float(visits.dwell.sum())
    begins = np.flatnonzero(there & ~np.concatenate([[False], there[:-1]]))
    return Recurrence(
        first=float(visits.entered[int(begins[0])]) / per_sweep if len(begins) else math.nan,
        returns=max(0, len(begins) - 1),
        share=float(visits.dwell[there].sum()) / total if total else float(there[-1]),
        sweeps=total / per_sweep,
    )


def table(
    visits: Sequence[Visits],
    starts: Sequence[str],
    topic: Int64[np.ndarray, " S"],
    count: int,
    per_sweep: Sequence[float],
) -> Table:
    """All chains, those of one start together, rows in the order of first appearance.

    Args:
        visits: one a chain.
        starts: the topic each chain began from, or another name for its start.
        topic: int64 [S], the clear topic of each state, -1 for none.
        count: T, the number of topics.
        per_sweep: steps in a sweep of each chain.
    """
    names = list(dict.fromkeys(starts))
    every = [[recurrence(v, topic, t, s) for t in range(count)] for v, s in zip(visits, per_sweep, strict=True)]
    own = np.array([names.index(s) for s in starts])

    def mean(values: list[list[float]]) -> Float64[np.ndarray, "R T"]:
        rows = np.array(values, dtype=np.float64)
        return np.stack([rows[own == k].mean(axis=0) for k in range(len(names))])

    return Table(
        names,
        mean([[float(not math.isnan(r.first)) for r in row] for row in every]),
        mean([[r.share for r in row] for row in every]),
        mean([[float(r.returns) for r in row] for row in every]),
        np.bincount(own, minlength=len(names)),
    )


def share_interval(shares: Float64[np.ndarray, " C"], seed: int = 0, level: float = 0.95) -> tuple[float, float]:
    """Interval of the mean share of time, by the percentile bootstrap over chains.

    Args:
        shares: float64 [C], one a chain.
        seed: of the resampling.
        level: of the interval.

    Raises:
        UserError: fewer than ``MIN_CHAINS`` chains.
    """
    from scipy.stats import bootstrap

    if len(shares) < MIN_CHAINS:
        raise UserError(f"An interval over chains needs at least {MIN_CHAINS} of them.")
    if np.ptp(shares) == 0:
        return float(shares[0]), float(shares[0])
    found = bootstrap(
        (shares,), np.mean, n_resamples=_RESAMPLES, confidence_level=level, method="percentile",
        rng=np.random.default_rng(seed),
    )  # fmt: skip
    return float(found.confidence_interval.low), float(found.confidence_interval.high)
