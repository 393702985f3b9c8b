"""Figures of many rectangles against numpy and plain loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glauber_core.errors import UserError
from glauber_core.rectangle import Measured, by_distance, pair_medians, summarize, worst
from tests.rectangle.surveys import dyadic, made

LEVELS = {"q25": 0.25, "median": 0.5, "q75": 0.75, "q90": 0.9, "q99": 0.99}


def assert_figures(found: Measured, floor: float | None) -> None:
    summary = summarize(found, floor, resamples=0)
    delta = np.abs((found.ratios[:, 0] + found.ratios[:, 1]) - (found.ratios[:, 2] + found.ratios[:, 3]))
    assert summary.rectangles == len(delta) and summary.sentences == len(set(found.rectangles.sentence.tolist()))
    assert summary.mean == pytest.approx(delta.mean(), rel=1e-12, abs=1e-15)
    for name, level in LEVELS.items():
        assert getattr(summary, name) == np.quantile(delta, level, method="inverted_cdf"), name
    l1, l2 = found.ratios[:, :2].sum(axis=1), found.ratios[:, 2:].sum(axis=1)
    relative = [d / t if t else 0.0 for d, t in zip(delta, np.abs(l1) + np.abs(l2), strict=True)]
    wanted = np.quantile(relative, 0.5, method="inverted_cdf")
    assert summary.relative_median == pytest.approx(wanted, rel=1e-12, abs=1e-15)
    if floor is None:
        assert math.isnan(summary.above)
    else:
        assert summary.above == pytest.approx((delta > floor).mean(), abs=1e-12)
    assert summary.intervals == {}


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 120), st.integers(0, 2**32), st.sampled_from([None, 0.0, 0.5, 1.0]), st.booleans())
def test_figures_are_those_of_numpy(count: int, seed: int, floor: float | None, tied: bool) -> None:
    rng = np.random.default_rng(seed)
    curl = dyadic(rng, count)
    found = made(np.round(curl) if tied else curl, rng.integers(0, 7, count))
    assert_figures(found, floor)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 10, 20, 99, 100, 101, 200, 1000])
def test_quantiles_at_counts_where_a_level_is_met_exactly(count: int) -> None:
    found = made(np.random.default_rng(count).permutation(np.arange(1.0, count + 1)), np.zeros(count))
    summary = summarize(found, None, resamples=0)
    for name, percent in {"q25": 25, "median": 50, "q75": 75, "q90": 90, "q99": 99}.items():
        assert getattr(summary, name) == -(-count * percent // 100), name  # the k-th smallest, k = ceil(level N)


def test_above_means_above() -> None:
    found = made(np.array([0.0, 0.5, -0.5, 1.0]), np.zeros(4))
    assert [summarize(found, floor).above for floor in (0.0, 0.25, 0.5, 1.0)] == [0.75, 0.75, 0.25, 0.0]


def test_where_both_sums_are_zero_the_relative_delta_is_zero() -> None:
    found = made(np.array([0.0, 3.0]), np.zeros(2))
    still = Measured(found.rectangles, np.array([[1.0, -1.0, 2.0, -2.0], [1.0, -1.0, 2.0, 0.0]]))
    assert still.relative.tolist() == [0.0, 1.0] and summarize(still, None).relative_median == 0.0


def test_no_rectangle_is_refused() -> None:
    with pytest.raises(UserError, match="no rectangle"):
        summarize(made(np.empty(0), np.empty(0)), 0.1)


def several(seed: int, count: int = 400, n: int = 7) -> Measured:
    """Rectangles of four sentences of n words; positions in both orders."""
    rng = np.random.default_rng(seed)
    pairs = np.array([rng.choice(n, 2, replace=False) for _ in range(count)])
    return made(dyadic(rng, count), rng.integers(0, 4, count), pairs[:, 0], pairs[:, 1])


def test_by_distance() -> None:
    found = several(1)
    groups = by_distance(found, 0.3)
    assert list(groups) == [1, 2, 3, 4, 5, 6]
    assert sum(s.rectangles for s in groups.values()) == len(found)
    for distance, summary in groups.items():
        mine = [
            d
            for d, i, j in zip(found.delta, found.rectangles.i, found.rectangles.j, strict=True)
            if abs(i - j) == distance
        ]
        assert summary.rectangles == len(mine) and summary.mean == pytest.approx(np.mean(mine), rel=1e-12)
        assert summary.median == np.quantile(mine, 0.5, method="inverted_cdf") and summary.intervals == {}
        assert summary.above == pytest.approx(np.mean(np.array(mine) > 0.3))


@pytest.mark.parametrize("sentence", [0, 3])
def test_pair_medians(sentence: int) -> None:
    found = several(2, count=60)
    table = pair_medians(found, sentence, 7)
    r = found.rectangles
    for p in range(7):
        for q in range(7):
            mine = [
                d
                for d, s, i, j in zip(found.delta, r.sentence, r.i, r.j, strict=True)
                if s == sentence and {i, j} == {p, q} and p != q
            ]
            assert math.isnan(table[p, q]) if not mine else table[p, q] == np.median(mine)
    assert np.isnan(np.diag(table)).all() and np.isnan(table).sum() < 49
    assert np.array_equal(table, table.T, equal_nan=True)


def test_pair_medians_of_a_sentence_without_rectangles() -> None:
    assert np.isnan(pair_medians(several(3), 9, 3)).all() and pair_medians(several(3), 9, 3).shape == (3, 3)


def test_worst() -> None:
    found = several(4)
    every = worst(found, 10_000, distinct_pairs=False)
    assert sorted(every.tolist()) == list(range(len(found)))
    assert found.delta[every].tolist() == sorted(found.delta.tolist(), reverse=True)
    assert worst(found, 7, distinct_pairs=False).tolist() == every[:7].tolist()
    r = found.rectangles
    seen: list[tuple[int, frozenset[int]]] = []
    wanted = []
    for row in every.tolist():
        key = (int(r.sentence[row]), frozenset((int(r.i[row]), int(r.j[row]))))
        if key not in seen:
            seen.append(key)
            wanted.append(row)
    assert worst(found, 10_000).tolist() == wanted and len(wanted) > 70
    assert worst(found, 5).tolist() == wanted[:5] and worst(found, 0).tolist() == []


def test_worst_takes_the_first_of_equals() -> None:
    found = made(np.array([1.0, -2.0, 2.0, 2.0]), np.array([0, 1, 1, 2]))
    assert worst(found, 9).tolist() == [1, 3, 0]
