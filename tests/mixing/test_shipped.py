"""The shipped sweeps: whole, of the plan and the weights they state, and what they show."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from glauber_core.errors import UserError
from glauber_core.mixing import shipped as shipped_module
from glauber_core.mixing.phase import PATIENCE, growth, phase_table
from glauber_core.mixing.shipped import NAMES, fits_weights, shipped, shipped_plan, shipped_sweep
from glauber_core.mixing.store import open_store


@pytest.mark.parametrize("name", NAMES)
def test_table_plan_and_results_belong_together(name: str) -> None:
    table, path = shipped(name), shipped_sweep(name)
    assert table.plan == shipped_plan(name) and set(table.model_hashes) == set(table.plan.models)
    with open_store(path) as store:
        results = store.results()
        assert len(results) == len(store.plan) and phase_table(results) == table.points
        assert store.versions == table.versions
        assert {r.model_hash for r in results} == set(table.model_hashes.values())
    leftovers = {p.name for p in Path(path).parent.glob("*.sqlite-*")}
    assert leftovers == set()  # it can lie where nothing may be written


@pytest.mark.parametrize("name", NAMES)
def test_they_are_of_the_weights_that_are_shipped(name: str) -> None:
    assert fits_weights(shipped(name)), "the built-in weights changed: run the sweep again (mixing/shipped.py says how)"


def test_hot_coupling_times_grow_like_n_log_n() -> None:
    found = growth(shipped("hot").points, 3.0)
    assert found.lengths.tolist() == [8, 12, 16, 24]
    best = found.fits[0]
    assert best.name == "n log n" and found.advantage("n log n") > 2
    assert 1 < best.scale_low < best.scale < best.scale_high < 3


def test_cold_pairs_take_at_least_a_hundred_times_as_long() -> None:
    """tau = 0.7 against tau = 3: a median, or the horizon where it is censored, at least 100 times the hot median."""
    points = {(p.tau, p.n): p for p in shipped("plan").points}
    slow = []
    for n in shipped_plan("plan").lengths:
        hot, cold = points[3.0, n].median, points[0.7, n].median
        assert math.isfinite(hot.value) and not points[3.0, n].few
        slow.append((cold.beyond if cold.censored else cold.value) >= PATIENCE * hot.value)
    assert all(slow)


def test_what_is_not_shipped() -> None:
    with pytest.raises(UserError, match="no shipped sweep"):
        shipped("cold")
    other = shipped("hot")._replace(model_hashes={"glauber-mini": "0" * 64})
    assert not fits_weights(other) and shipped_module.FOLDER.is_dir()
