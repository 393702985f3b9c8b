"""Recurrence of planted topics, counted exactly."""

from __future__ import annotations

import math

import numpy as np
import pytest

from glauber_core.errors import UserError
from glauber_core.landscape.recurrence import recurrence, share_interval, table
from tests.landscape.test_basins import walk

TOPIC = np.array([0, 1, -1, 0])  # of four states


def test_first_visit_returns_and_share() -> None:
    one = walk([2, 0, 3, 1, 0, 2], [4, 2, 2, 6, 2, 4])  # 20 steps, two a sweep
    health = recurrence(one, TOPIC, 0, 2)
    assert (health.first, health.returns, health.share, health.sweeps) == (2.0, 1, 6 / 20, 10.0)
    other = recurrence(one, TOPIC, 1, 2)
    assert (other.first, other.returns, other.share) == (4.0, 0, 6 / 20)
    never = recurrence(walk([2, 2], [1, 1]), TOPIC, 0, 2)
    assert math.isnan(never.first) and never.returns == 0 and never.share == 0.0


def test_a_chain_that_has_not_moved_is_where_it_began() -> None:
    assert recurrence(walk([0], [0]), TOPIC, 0, 2).share == 1.0


def test_table_joins_the_chains_of_a_start() -> None:
    chains = [walk([0, 1], [10, 10]), walk([2, 1], [10, 30]), walk([2], [5])]
    found = table(chains, ["food", "sport", "food"], TOPIC, 2, [2, 2, 2])
    assert found.starts == ["food", "sport"] and found.chains.tolist() == [2, 1]
    np.testing.assert_allclose(found.share, [[0.25, 0.25], [0.0, 0.75]])
    np.testing.assert_allclose(found.visited, [[0.5, 0.5], [0.0, 1.0]])
    np.testing.assert_allclose(found.returns, 0)


def test_interval_covers_the_mean_and_refuses_too_few() -> None:
    """Coverage of the 95 % percentile interval of 20 chains: simulated 0.92; below 0.8 once in 1e-20 seeds."""
    rng = np.random.default_rng(2)
    inside = 0
    for k in range(100):
        low, high = share_interval(rng.beta(2, 5, size=20), seed=k)
        inside += low <= 2 / 7 <= high
    assert inside >= 80
    assert share_interval(np.array([0.4, 0.4, 0.4])) == (0.4, 0.4)
    with pytest.raises(UserError):
        share_interval(np.array([0.1, 0.2]))
