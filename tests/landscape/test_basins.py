"""Planted clusters, stays and transitions are recovered exactly."""

from __future__ import annotations

import numpy as np
import pytest

from glauber_core.errors import UserError
from glauber_core.landscape import basins
from glauber_core.landscape.basins import describe, find_basins
from glauber_core.landscape.flow import itinerary, returns, transitions
from glauber_core.landscape.labels import distinguishing_words
from glauber_core.landscape.visits import Visits


def planted(sizes: list[int], spread: float = 0.05, dim: int = 16, seed: int = 1) -> np.ndarray:
    """Unit vectors in groups around orthogonal centres; the last group is scattered everywhere."""
    rng = np.random.default_rng(seed)
    groups = [np.eye(dim)[k] + spread * rng.normal(size=(size, dim)) for k, size in enumerate(sizes[:-1])]
    points = np.concatenate([*groups, rng.normal(size=(sizes[-1], dim))])
    return (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32)


def walk(states: list[int], dwell: list[float]) -> Visits:
    entered = tuple(int(t) for t in np.concatenate([[0], np.cumsum(dwell)[:-1]]))
    k = np.arange(len(states))
    return Visits(np.array(states), k, entered, np.array(dwell, dtype=float), np.full(len(states), np.nan))


def test_planted_clusters_are_found_and_noise_is_noise() -> None:
    points = planted([30, 20, 10, 12])
    sweeps = np.ones(72)
    labels = find_basins(points, sweeps, reach=0.3, least=8)
    assert labels.tolist() == [0] * 30 + [1] * 20 + [2] * 10 + [-1] * 12


def test_a_single_state_that_held_long_is_a_basin_and_time_decides() -> None:
    points = planted([30, 20, 10, 12])
    sweeps = np.full(72, 0.1)
    assert (find_basins(points, sweeps, 0.3, 8) == -1).all()
    sweeps[40], sweeps[70] = 50.0, 50.0
    labels = find_basins(points, sweeps, 0.3, 8)
    assert labels[40] == 0 and labels[70] == 1
    assert set(labels[30:50].tolist()) == {0} and (labels[:30] == -1).all()


def test_of_many_states_the_rest_joins_its_nearest_core(monkeypatch: pytest.MonkeyPatch) -> None:
    points = planted([30, 20, 10, 12])
    sweeps = np.linspace(2.0, 1.0, 72)
    whole = find_basins(points, sweeps, 0.3, 8)
    monkeypatch.setattr(basins, "MOST", 55)
    parts = find_basins(points, sweeps, 0.3, 6)
    assert parts[:50].tolist() == whole[:50].tolist()  # the third group is too small in what is left of it
    assert len(parts) == 72


@pytest.mark.parametrize(("reach", "least"), [(0.0, 1.0), (2.1, 1.0), (float("nan"), 1.0), (0.3, 0.0)])
def test_useless_parameters_are_refused(reach: float, least: float) -> None:
    with pytest.raises(UserError):
        find_basins(planted([3, 3, 3]), np.ones(9), reach, least)


def test_no_states_no_basins() -> None:
    assert find_basins(np.empty((0, 4), dtype=np.float32), np.empty(0)).tolist() == []


def test_stays_transitions_and_returns_are_counted_exactly() -> None:
    # States 0, 1 in basin 0; 2 in basin 1; 3 in none. Two steps make a sweep.
    labels = np.array([0, 0, 1, -1])
    first = walk([0, 1, 3, 0, 2, 3, 2, 0], [4, 2, 2, 6, 10, 4, 2, 8])
    stays = itinerary(first, labels, per_sweep=2, patience=1.0)
    # 0 1 (noise of one sweep, bridged) 0 | 2 | noise of two sweeps | 2 | 0
    assert stays.basin.tolist() == [0, 1, -1, 1, 0]
    assert stays.sweeps.tolist() == [7.0, 5.0, 2.0, 1.0, 4.0]
    assert stays.entered.tolist() == [0.0, 7.0, 12.0, 14.0, 15.0]
    assert stays.open.tolist() == [False, False, False, False, True]
    assert transitions([stays], 2).tolist() == [[0, 1], [1, 1]]
    assert [returns(stays, b) for b in (0, 1)] == [1, 1]
    strict = itinerary(first, labels, per_sweep=2, patience=0.0)
    assert strict.basin.tolist() == [0, -1, 0, 1, -1, 1, 0]


def test_figures_of_planted_basins() -> None:
    points = planted([4, 4, 2], seed=3)
    labels = np.array([0] * 4 + [1] * 4 + [-1] * 2)
    one = walk([0, 1, 4, 0], [10, 10, 20, 10])
    two = walk([5, 8, 6], [5, 15, 30])
    found, stays = describe(labels, points, [one, two], [1, 1])
    a, b = found
    assert (a.states, a.visits, a.chains, a.returns, a.open) == (4, 2, 1, 1, 1)
    assert (b.states, b.visits, b.chains, b.returns, b.open) == (4, 3, 2, 1, 1)
    assert a.share == pytest.approx(30 / 100) and b.share == pytest.approx(55 / 100)
    assert a.mean_stay == 20.0 and b.mean_stay == pytest.approx((20 + 5) / 2)
    assert a.medoid in (0, 1) and b.medoid in (4, 5, 6)
    assert len(stays) == 2


def test_words_that_tell_basins_apart() -> None:
    texts = ["the doctor was ill .", "a doctor is here .", "the team won .", "the team lost again .", "rain ?"]
    words = distinguishing_words(texts, np.array([0, 0, 1, 1, -1]), 2)
    assert words[0][0] == "doctor" and words[1][0] == "team"
    assert all(w.isalpha() for group in words for w in group)
    assert "the" not in words[0] + words[1]
    assert distinguishing_words(["cat dog .", "cat ."], np.array([0, 0]))[0][0] == "cat"  # nothing to compare with
    assert distinguishing_words([". .", "?"], np.array([0, -1])) == [[]]
