"""Coupling and hitting times with censoring: Kaplan-Meier curves, and medians with intervals.

A time that was cut by the horizon counts as "longer than that"; it is never dropped, which would make slow chains look
fast. Source: Kaplan & Meier (1958), by ``scipy.stats.ecdf``; interval of the median: Brookmeyer & Crowley, "A
confidence interval for the median survival time", Biometrics 38 (1982), on the log-log scale.
"""

from __future__ import annotations

import math
import warnings
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float64, Int64
from scipy.stats import CensoredData, ecdf

from glauber_core.errors import UserError

MIN_TIMES = 8
LEVEL = 0.95


class TooFew(UserError):
    """There is too little data for an estimate to be relied on.

    Attributes:
        estimate: what the data at hand give all the same, for whoever wants to show it as such; None if nothing.
    """

    def __init__(self, message: str, estimate: object = None) -> None:
        super().__init__(message)
        self.estimate = estimate


class Survival(NamedTuple):
    """Kaplan-Meier curve: P(T > t) is ``share[k]`` for times[k] <= t < times[k + 1], and 1 before times[0].

    Attributes:
        times: float64 [K], increasing: the different times, observed or censored.
        share: float64 [K] in [0, 1].
        low, high: float64 [K], ends of a pointwise interval; NaN where it is undefined (before the first meeting, and
            where the share is 0).
    """

    times: Float64[np.ndarray, " K"]
    share: Float64[np.ndarray, " K"]
    low: Float64[np.ndarray, " K"]
    high: Float64[np.ndarray, " K"]


class Median(NamedTuple):
    """Median of T.

    Attributes:
        value: the smallest time with P(T > t) <= 1/2; inf if there is none: see ``beyond``.
        low, high: ends of its 95 % interval; ``high`` is inf where the data give no upper end.
        beyond: the longest time watched: a censored median is larger than this.
        times, events: how many times there are, and how many of them are observed meetings.
    """

    value: float
    low: float
    high: float
    beyond: float
    times: int
    events: int

    @property
    def censored(self) -> bool:
        """True: fewer than half were seen to meet, so the median is only known to be larger than ``beyond``."""
        return math.isinf(self.value)


def kaplan_meier(
    times: Int64[np.ndarray, " N"] | Float64[np.ndarray, " N"], observed: Bool[np.ndarray, " N"], level: float = LEVEL
) -> Survival:
    """The survival function of N times.

    Args:
        times: T where it was observed, else the time at which watching ended.
        observed: bool [N].
        level: of the pointwise interval.

    Raises:
        UserError: no time at all, a negative one, or arrays of different length.
    """
    if len(times) == 0 or len(times) != len(observed) or (times < 0).any():
        raise UserError("A survival curve needs at least one time of 0 or more, each observed or censored.")
    wide = times.astype(np.float64)
    curve = ecdf(CensoredData(uncensored=wide[observed], right=wide[~observed])).sf
    with warnings.catch_warnings():  # undefined ends are NaN, as promised
        warnings.simplefilter("ignore", RuntimeWarning)
        band = curve.confidence_interval(level, method="log-log")
    ends = [np.asarray(end.probabilities, dtype=np.float64) for end in (band.low, band.high)]
    return Survival(np.asarray(curve.quantiles, dtype=np.float64), np.asarray(curve.probabilities), *ends)


def median(
    times: Int64[np.ndarray, " N"] | Float64[np.ndarray, " N"],
    observed: Bool[np.ndarray, " N"],
    level: float = LEVEL,
    least: int = MIN_TIMES,
) -> Median:
    """Median of N times, with the interval of all t at which P(T > t) = 1/2 cannot be ruled out.

    Args:
        times, observed, level: as of ``kaplan_meier``.
        least: times that are needed.

    Raises:
        TooFew: fewer than ``least`` times, observed or not; it carries the ``Median``.
        UserError: as of ``kaplan_meier``.
    """
    curve = kaplan_meier(times, observed, level)

    def first(share: Float64[np.ndarray, " K"]) -> float:
        below = np.flatnonzero(share <= 0.5 + 1e-12)  # products of shares are rounded; NaN is never below
        return float(curve.times[below[0]]) if len(below) else math.inf

    value = first(curve.share)
    found = Median(
        value, min(first(curve.low), value), first(curve.high), float(times.max()), len(times), int(observed.sum())
    )
    if len(times) < least:
        have = "1 pair was" if len(times) == 1 else f"{len(times)} pairs were"
        raise TooFew(f"A median needs at least {least} pairs; only {have} run.", found)
    return found
