"""Semantic drift: how far a chain's sentence has moved from its start, and when it is as far as a stranger would be.

Drift is 1 - cos(e(x_0), e(x_t)), e a sentence embedding. The hitting time is the first time at which it reaches a
stated fraction of the mean distance between INDEPENDENT reference sentences. Pure functions of embeddings: float32
[m, d], rows of length 1. Source: arXiv 2605.16378; MATH section 6.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float32, Float64, Int64
from scipy.stats import t as student

from glauber_core.errors import UserError
from glauber_core.mixing.survival import LEVEL, TooFew

FRACTION = 0.9
MIN_REFERENCES = 10
_UNIT = 1e-3  # how far from 1 the length of a row may be


class Reference(NamedTuple):
    """Distance between independent sentences.

    Attributes:
        mean: of 1 - cos over all pairs.
        low, high: ends of its 95 % interval, by the jackknife over sentences (pairs of one sentence are dependent).
        sentences: how many.
    """

    mean: float
    low: float
    high: float
    sentences: int


class Hitting(NamedTuple):
    """When C chains first were as far from their start as stated.

    Attributes:
        steps: int64 [C], the first looked-at time at which the drift had reached ``threshold``, else the last
            looked-at time. The true time lies after the look before it.
        hit: bool [C]; the others are censored (``survival``).
        threshold: fraction * mean distance of the references.
    """

    steps: Int64[np.ndarray, " C"]
    hit: Bool[np.ndarray, " C"]
    threshold: float


def semantic_drift(start: Float32[np.ndarray, "*C d"], now: Float32[np.ndarray, "*D d"]) -> Float64[np.ndarray, "*D"]:
    """1 - cos of the rows of two stacks, which broadcast together; float64 in [0, 2].

    ``start`` [C, d] against ``now`` [T, C, d] gives drift curves [T, C].

    Raises:
        UserError: rows that are not of length 1.
    """
    _check_unit(start)
    _check_unit(now)
    return np.asarray(np.clip(1 - (start.astype(np.float64) * now.astype(np.float64)).sum(axis=-1), 0, 2))


def reference_distance(
    embeddings: Float32[np.ndarray, "m d"], level: float = LEVEL, least: int = MIN_REFERENCES
) -> Reference:
    """Mean distance over all pairs of m independent sentences.

    Raises:
        TooFew: fewer than ``least`` sentences; it carries the ``Reference``, if there is a pair at all.
        UserError: rows that are not of length 1.
    """
    _check_unit(embeddings)
    m, rows = len(embeddings), embeddings.astype(np.float64)
    message = f"The reference needs at least {least} independent sentences; there are {m}."
    if m < 2:
        raise TooFew(message)
    # The sum of the cosines of one sentence with all others; each pair counts in two of them.
    cosines = rows @ rows.sum(axis=0) - (rows**2).sum(axis=1)
    mean = 1 - cosines.sum() / (m * (m - 1))
    if m > 2:
        without = 1 - (cosines.sum() - 2 * cosines) / ((m - 1) * (m - 2))
        error = math.sqrt((m - 1) / m * float(((without - without.mean()) ** 2).sum()))
        half = float(student.ppf((1 + level) / 2, m - 1)) * error
    else:
        half = math.inf
    found = Reference(float(mean), float(mean) - half, float(mean) + half, m)
    if m < least:
        raise TooFew(message, found)
    return found


def hitting_times(
    drift: Float64[np.ndarray, "T C"],
    steps: Sequence[int] | Int64[np.ndarray, " T"],
    reference: Reference,
    fraction: float = FRACTION,
) -> Hitting:
    """First time at which each chain's drift reaches ``fraction`` of the reference distance.

    Args:
        drift: float64 [T, C] (``semantic_drift``).
        steps: the T times looked at, increasing.
        reference: of the same embedder.
        fraction: above 0.

    Raises:
        UserError: no time, times that do not increase or do not fit, or a fraction that is not above 0.
    """
    times = np.asarray(steps, dtype=np.int64)
    if len(times) == 0 or len(times) != len(drift) or (np.diff(times) <= 0).any():
        raise UserError("Each row of the drift needs its time, and times must increase.")
    if not fraction > 0:
        raise UserError("The fraction must be above 0, for example 0.9.")
    threshold = fraction * reference.mean
    there = drift >= threshold
    hit = np.asarray(there.any(axis=0))
    return Hitting(times[np.where(hit, there.argmax(axis=0), len(times) - 1)], hit, threshold)


def _check_unit(rows: Float32[np.ndarray, "*m d"]) -> None:
    length = np.linalg.norm(rows, axis=-1)
    if not np.all(np.abs(length - 1) <= _UNIT):
        raise UserError("Sentence embeddings must be rows of length 1.")
