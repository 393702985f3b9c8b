"""Verdicts and boundaries of the phase table, on tables made by hand."""

from __future__ import annotations

import math

import pytest

from glauber_core.mixing.cell import CellResult
from glauber_core.mixing.phase import boundaries, growth, phase_table
from glauber_core.mixing.plan import Cell
from glauber_core.mixing.survival import TooFew

N = 10


def cell(tau: float, sweeps: list[float], horizon: float = math.inf, n: int = N, replicate: int = 0) -> CellResult:
    steps = tuple(round(min(s, horizon) * n) for s in sweeps)
    return CellResult(
        Cell("m", tau, n, "topics", replicate), "hash", {}, steps, tuple(s <= horizon for s in sweeps), (0,), (1.0,)
    )


def around(middle: float) -> list[float]:
    return [middle * k / 5 for k in range(1, 11)]  # median: the fifth


def test_medians_pool_replicates_and_verdicts_compare_with_the_hottest() -> None:
    table = phase_table(
        [
            cell(3.0, around(4)[:5]),
            cell(3.0, around(4)[5:], replicate=1),
            cell(2.0, around(30)),
            cell(1.0, around(41)),
            cell(0.7, [1000] * 10, horizon=400),
            cell(0.5, [1000] * 10, horizon=399),
        ]
    )
    assert [p.tau for p in table] == [3.0, 2.0, 1.0, 0.7, 0.5]
    assert [p.median.value for p in table[:3]] == [4.0, 30.0, 41.0] and table[0].median.times == 10
    assert [p.verdict for p in table] == ["fast", "fast", "slow", "slow", "undecided"]
    assert table[3].median.censored and table[3].median.beyond == 400 and not any(p.few for p in table)


def test_boundary_between_the_hottest_slow_and_the_coldest_fast() -> None:
    (found,) = boundaries(phase_table([cell(3.0, around(4)), cell(2.0, around(20)), cell(1.0, around(80))]))
    assert (found.slow, found.fast, found.n) == (1.0, 2.0, N)
    assert found.tau == pytest.approx(1.5)  # the median doubles from 20 to 40 half the way, on the log scale, to 80
    (open_,) = boundaries(phase_table([cell(3.0, around(4)), cell(1.0, [900] * 9, horizon=500)]))
    assert (open_.slow, open_.fast) == (1.0, 3.0) and math.isnan(open_.tau)


def test_no_boundary_within_the_grid() -> None:
    (fast,) = boundaries(phase_table([cell(3.0, around(4)), cell(2.0, around(5))]))
    assert (fast.slow, fast.fast) == (0.0, 2.0) and math.isnan(fast.tau)
    (hot,) = boundaries(phase_table([cell(3.0, [900] * 9, horizon=500), cell(2.0, [900] * 9, horizon=500)]))
    assert (hot.slow, hot.fast) == (0.0, math.inf)


def test_an_undecided_point_leaves_the_bracket_open() -> None:
    line = [cell(3.0, around(4)), cell(2.0, [900] * 9, horizon=100), cell(1.0, [900] * 9, horizon=500)]
    (found,) = boundaries(phase_table(line))
    assert (found.slow, found.fast) == (1.0, 3.0)


def test_lengths_are_judged_by_themselves_and_few_pairs_are_marked() -> None:
    table = phase_table([cell(3.0, around(4), n=8), cell(3.0, [3, 4, 5], n=16), cell(1.0, around(5), n=16)])
    assert [(p.n, p.tau, p.few) for p in table] == [(8, 3.0, False), (16, 3.0, True), (16, 1.0, False)]
    assert [b.n for b in boundaries(table)] == [8, 16]


def test_growth_takes_what_is_finite_at_one_temperature() -> None:
    cells = [cell(3.0, around(n * 0.5), n=n) for n in (8, 12, 16, 24)]  # sweeps: T = n^2 / 2 steps
    others = [cell(2.0, around(99), n=8), cell(3.0, [900] * 9, horizon=100, n=32), cell(3.0, [7, 8], n=48)]
    found = growth(phase_table(cells + others), 3.0)
    assert found.lengths.tolist() == [8, 12, 16, 24] and found.fits[0].name == "n^2"
    assert found.fits[0].scale == pytest.approx(0.5, rel=1e-2)
    with pytest.raises(TooFew):
        growth(phase_table(cells + others), 2.0)
