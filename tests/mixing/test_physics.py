"""The physics check: simulated spins against the magnetisation chain, coupling times against the enumerated pair."""

from __future__ import annotations

import numpy as np
import pytest

from glauber_core.errors import Cancelled, UserError
from glauber_core.exact import CurieWeiss, StateSpace
from glauber_core.mixing import physics
from glauber_core.mixing.curie_weiss import coupling_line, magnetisation_chain, tv_curve
from glauber_core.mixing.physics import couple_spins, simulate_spins
from glauber_core.mixing.product import coupling_time_law, product_matrix
from glauber_core.mixing.survival import median
from tests.law import assert_law

TIMES = [0, 20, 60, 120]


def test_simulated_distance_lies_within_its_noise() -> None:
    """The noise holds at 1e-4 for each time."""
    found = simulate_spins(30, 0.6, 2000, TIMES, seed=1)
    assert found.steps.tolist() == TIMES and found.chains == 2000
    assert np.allclose(found.exact, tv_curve(magnetisation_chain(30, 0.6), TIMES).distance, atol=1e-14)
    assert (np.abs(found.simulated - found.exact) <= found.noise).all() and found.noise.max() < 0.1
    assert found.exact[0] > 0.99 and found.exact[-1] < 0.3


def test_spins_at_another_temperature_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(physics, "CurieWeiss", lambda beta: CurieWeiss(0.4))
    found = simulate_spins(30, 0.6, 2000, TIMES, seed=1)
    assert (np.abs(found.simulated - found.exact) > found.noise).any()


def test_coupling_times_of_spins() -> None:
    model = CurieWeiss(0.8)
    law = coupling_time_law(product_matrix(model, StateSpace.full(model, 4), 1.0), (0, 15), 30)
    done = couple_spins(4, 0.8, 3000, 30, seed=2)
    assert_law(np.where(done.met, done.steps, 31), law)
    many = couple_spins(60, 0.3, 24, 5000, seed=3)
    found = median(many.steps, many.met)
    assert 0.5 < found.value / coupling_line(60, 0.3) < 2


def test_cancel_and_bad_arguments() -> None:
    def stop(*_: float) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        simulate_spins(5, 0.5, 3, [10], progress=stop)
    with pytest.raises(Cancelled):
        couple_spins(5, 0.5, 3, 10, progress=stop)
    for call in ({"chains": 0, "steps": [1]}, {"chains": 2, "steps": []}, {"chains": 2, "steps": [2, 1]}):
        with pytest.raises(UserError, match="at least one chain"):
            simulate_spins(5, 0.5, **call)
    with pytest.raises(UserError, match="no pair"):
        couple_spins(5, 0.5, 0, 10)
