"""Semantic drift and hitting times on embeddings made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from glauber_core.errors import UserError
from glauber_core.mixing.drift import Reference, hitting_times, reference_distance, semantic_drift
from glauber_core.mixing.survival import TooFew


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)


def plane(*degrees: float) -> np.ndarray:
    angles = np.radians(degrees)
    return np.stack((np.cos(angles), np.sin(angles)), axis=-1).astype(np.float32)


def test_drift_is_one_minus_the_cosine() -> None:
    start = plane(0, 0, 90)
    assert np.allclose(semantic_drift(start, plane(0, 60, 270)), [0, 0.5, 2], atol=1e-6)
    curves = semantic_drift(start, np.stack((plane(0, 0, 90), plane(90, 180, 90))))
    assert curves.shape == (2, 3) and np.allclose(curves, [[0, 0, 0], [1, 2, 0]], atol=1e-6)
    with pytest.raises(UserError, match="length 1"):
        semantic_drift(start, 2 * start)


def test_reference_against_all_pairs_written_out() -> None:
    rows = unit(np.random.default_rng(3).standard_normal((12, 5)) + 0.7)
    wide = rows.astype(np.float64)
    pairs = [1 - wide[a] @ wide[b] for a in range(12) for b in range(a)]
    found = reference_distance(rows)
    assert found.mean == pytest.approx(np.mean(pairs), abs=1e-12) and found.sentences == 12
    left_out = [
        np.mean([1 - wide[a] @ wide[b] for a in range(12) for b in range(a) if k not in (a, b)]) for k in range(12)
    ]
    error = np.sqrt(11 / 12 * np.sum((left_out - np.mean(left_out)) ** 2))
    assert (found.high - found.low) / 2 == pytest.approx(2.20099 * error, rel=1e-5)  # Student, 11 degrees of freedom


def test_too_few_references() -> None:
    rows = plane(0, 90, 180)
    with pytest.raises(TooFew, match="at least 10") as error:
        reference_distance(rows)
    estimate = error.value.estimate
    assert isinstance(estimate, Reference) and estimate.mean == pytest.approx(4 / 3, abs=1e-6)
    with pytest.raises(TooFew) as nothing:
        reference_distance(rows[:1])
    assert nothing.value.estimate is None
    assert reference_distance(rows[:2], least=2).low == -np.inf


def test_hitting_times_and_censoring() -> None:
    reference = Reference(0.5, 0.4, 0.6, 20)
    drift = np.array([[0.0, 0.0, 0.0], [0.3, 0.46, 0.1], [0.46, 0.2, 0.2], [0.9, 0.1, 0.449]])
    found = hitting_times(drift, [0, 8, 16, 24], reference)
    assert found.threshold == pytest.approx(0.45)
    assert found.steps.tolist() == [16, 8, 24] and found.hit.tolist() == [True, True, False]
    assert hitting_times(drift, [0, 8, 16, 24], reference, 0.2).hit.all()


@pytest.mark.parametrize(
    ("steps", "fraction", "words"), [([0], 0.9, "its time"), ([0, 0], 0.9, "increase"), ([0, 1], 0.0, "fraction")]
)
def test_bad_arguments(steps: list[int], fraction: float, words: str) -> None:
    with pytest.raises(UserError, match=words):
        hitting_times(np.zeros((2, 1)), steps, Reference(0.5, 0.4, 0.6, 20), fraction)
