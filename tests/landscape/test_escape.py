"""Escapes against the exact law, and the bounds of MATH section 4 against the exact exit rate."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from glauber_core.errors import UserError
from glauber_core.exact import ConditionalTable, StateSpace, transition_matrix
from glauber_core.landscape.escape import curve, escape
from glauber_core.landscape.reinforcement import reinforcement, repeated
from glauber_core.shape import EvaluationShape
from tests.law import FALSE_FAIL, assert_law, rejects

MODEL = ConditionalTable.random(3, 3, np.random.default_rng(31)).with_trap([2, 0, 1], 0.08)
TRAP = (2, 0, 1)
SHAPE = EvaluationShape(rows=4_000, threads=1, dtype="float64", states=4_000)


def escape_law(radius: int, tau: float, horizon: int) -> np.ndarray:
    """P(T = 1), .., P(T = horizon), P(T > horizon) by powers of P restricted to the ball."""
    space = StateSpace.full(MODEL, 3)
    matrix = transition_matrix(MODEL, space, tau, range(3))
    states = space.states().numpy()
    inside = (states != np.array(TRAP)).sum(axis=1) <= radius
    row = np.zeros(len(states))
    row[space.encode(torch.tensor([TRAP]))[0]] = 1.0
    left = []
    for _ in range(horizon):
        row = np.where(inside, row, 0.0) @ matrix
        left.append(row[~inside].sum())
        row = np.where(inside, row, 0.0)
    return np.array([*left, row.sum()])


@pytest.mark.parametrize(("radius", "tau"), [(0, 1.0), (0, 0.7), (1, 1.0)])
def test_escape_times_have_the_exact_law(radius: int, tau: float) -> None:
    """4,000 chains; declared false-fail rate 1e-4 each."""
    horizon = 30
    found = escape(MODEL, TRAP, [tau], 4_000, horizon, radius, seed=5, shape=SHAPE)[0]
    cell = np.array([t - 1 if out else horizon for t, out in zip(found.steps, found.left, strict=True)])
    assert all(t == horizon for t, out in zip(found.steps, found.left, strict=True) if not out)
    law = escape_law(radius, tau, horizon)
    assert_law(cell, law / law.sum(), FALSE_FAIL, f"escape, radius {radius}")
    assert rejects(np.minimum(cell + 1, horizon), law / law.sum(), FALSE_FAIL)  # one step late


def test_mean_and_interval_count_the_censored() -> None:
    found = escape(MODEL, TRAP, [1.0], 4_000, 5, seed=6, shape=SHAPE)[0]
    assert not all(found.left)
    low, high = found.interval()
    assert low < found.mean < high
    assert low < math.exp(-found.log_exit) < high  # a 95 % interval; this seed's
    none = found._replace(left=tuple(False for _ in found.left))
    assert none.mean == math.inf and none.interval()[1] == math.inf and none.interval()[0] > 0


def test_bounds_lie_above_the_exit_rate() -> None:
    rng = np.random.default_rng(7)
    informative = 0
    for _ in range(80):
        table = ConditionalTable.random(3, 4, rng, 3.0)
        best = [0, 0, 0]
        for _ in range(10):  # towards a state of large margins
            for i in range(3):
                best[i] = int(table(torch.tensor([best]), torch.tensor([i]))[0].argmax())
        for one in escape(table, best, [0.2, 0.6, 1.0], 1, 1, shape=SHAPE):
            assert one.log_exit <= one.log_sum + 1e-9
            if not math.isnan(one.log_margin):
                assert one.log_sum <= one.log_margin + 1e-9
                informative += one.log_margin < 0
    assert informative >= 50


def test_curve_is_ready_to_be_drawn() -> None:
    found = escape(MODEL, TRAP, [1.0, 0.5, 0.0], 3, 50, shape=SHAPE)
    columns = curve(found)
    assert columns["inverse_tau"].tolist() == [1.0, 2.0]  # tau = 0 has no place on this axis
    np.testing.assert_allclose(columns["exact"], [-e.log_exit / math.log(10) for e in found[:2]])
    assert (columns["sum_bound"] <= columns["exact"] + 1e-9).all()


def test_what_cannot_be_tried_is_refused() -> None:
    for bad in ({"chains": 0}, {"horizon": 0}, {"radius": 3}, {"radius": -1}):
        with pytest.raises(UserError):
            escape(MODEL, TRAP, [1.0], shape=SHAPE, **{"chains": 1, "horizon": 5, **bad})  # type: ignore[arg-type]
    with pytest.raises(UserError):
        escape(MODEL, TRAP, [-1.0], 1, 5, shape=SHAPE)


def test_reinforcement_equals_the_table() -> None:
    model = ConditionalTable.random(4, 3, np.random.default_rng(8), 1.5)
    state = (1, 1, 0, 1)
    assert repeated(state) == [1] and repeated((0, 1, 2)) == []
    found = reinforcement(model, state, 1, 0.8)
    assert found.others.tolist() == [0, 1, 2] and found.tried.tolist() == [3, 6, 3]

    def p(row: list[int], i: int) -> float:
        return float(torch.softmax(model(torch.tensor([row]), torch.tensor([i]))[0] / 0.8, 0)[1])

    whole = [p(list(state), i) for i in (0, 1, 3)]
    assert found.mean[2] == pytest.approx(np.mean(whole))
    assert (found.low[2], found.high[2]) == (pytest.approx(min(whole)), pytest.approx(max(whole)))
    with pytest.raises(UserError):
        reinforcement(model, state, 0, 0.8)
