"""Surveys made up for the tests of statistics and exports: deltas that are chosen, not measured."""

from __future__ import annotations

import numpy as np

from glauber_core.rectangle import Measured, Rectangles


def made(curl: np.ndarray, sentence: np.ndarray, i: np.ndarray | None = None, j: np.ndarray | None = None) -> Measured:
    """N rectangles with this curl, as L1 = curl + 1 and L2 = 1."""
    count = len(curl)
    zero, one = np.zeros(count, dtype=np.int64), np.ones(count, dtype=np.int64)
    places = (zero if i is None else i, one if j is None else j)
    ratios = np.stack([curl, np.ones(count), np.full(count, 0.25), np.full(count, 0.75)], axis=1)
    return Measured(Rectangles(sentence.astype(np.int64), *places, zero, one, one, zero), ratios)


def dyadic(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Random multiples of 1/256: so few bits that every sum and difference of them is exact."""
    return np.round(rng.standard_normal(shape) * 256) / 256
