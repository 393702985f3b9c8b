"""Exact mixing: curves and times against closed forms, spectra, scans of incompatible tables."""

from __future__ import annotations

import math

import numpy as np
import pytest

from glauber_core.errors import UserError
from glauber_core.exact import (
    ConditionalTable,
    CurieWeiss,
    StateSpace,
    distribution_after,
    stationary_law,
    systematic_scan_matrix,
    transition_matrix,
)
from glauber_core.mixing.exact import mixing_time, spectrum, total_variation, tv_curve
from glauber_core.mixing.scans import conditional_misfit, scan_laws
from tests.exact.models import compatible, every, incompatible


def two_state(a: float, b: float) -> np.ndarray:
    return np.array([[1 - a, a], [b, 1 - b]])


def test_two_states_in_closed_form() -> None:
    """d(t) = max(a, b) / (a + b) * |1 - a - b|^t, and the second eigenvalue is 1 - a - b."""
    a, b = 0.1, 0.02
    curve = tv_curve(two_state(a, b), [0, 1, 5, 40, 41, 300])
    assert np.allclose(curve.distance, a / (a + b) * (1 - a - b) ** curve.steps, rtol=1e-12, atol=1e-14)
    exact = math.ceil(math.log(0.25 * (a + b) / a) / math.log(1 - a - b))
    assert mixing_time(two_state(a, b)) == exact
    found = spectrum(two_state(a, b))
    assert found.gap == pytest.approx(a + b, rel=1e-12) and found.relaxation == pytest.approx(1 / (a + b), rel=1e-12)


@pytest.mark.parametrize("n", [1, 4, 9])
def test_free_spins_in_closed_form(n: int) -> None:
    """At beta = 0 a spin is uniform from its first pick on: d(t) from the picked sites; eigenvalues 1 - k / n."""
    matrix = transition_matrix(CurieWeiss(0.0), n, 1.0)
    values = spectrum(matrix).values
    exact = np.sort(np.repeat([1 - k / n for k in range(n + 1)], [math.comb(n, k) for k in range(n + 1)]))
    assert np.allclose(np.sort(values.real), exact, atol=1e-9) and np.allclose(values.imag, 0, atol=1e-9)
    missing = np.eye(n + 1)[n]  # law of the number of sites that were not picked yet
    times, expected = list(range(0, 30, 3)), []
    for t in range(times[-1] + 1):
        if t in times:
            # Given j unpicked sites those are up and the rest free: TV = sum over states, by the number of minus spins.
            law = np.zeros(2**n)
            for state in range(2**n):
                minus = bin(state).count("1")
                share = [math.comb(n - minus, j) / math.comb(n, j) * 2.0 ** (j - n) for j in range(n - minus + 1)]
                law[state] = np.dot(missing[: n - minus + 1], share)
            expected.append(np.abs(law - 2.0**-n).sum() / 2)
        picked = missing * np.arange(n + 1) / n
        missing = missing - picked + np.append(picked[1:], 0)
    assert np.allclose(tv_curve(matrix, times).distance, expected, atol=1e-12)


@pytest.mark.parametrize("name", every())
def test_mixing_time_is_the_first_time_below(name: str) -> None:
    model, n = every()[name]
    matrix = transition_matrix(model, n, 0.7)
    for eps in (0.25, 0.01):
        t = mixing_time(matrix, eps)
        assert t is not None and t >= 1
        before, at = tv_curve(matrix, [t - 1, t]).distance
        assert at <= eps < before
        worst = [mixing_time(matrix, eps, start) for start in range(len(matrix))]
        assert max(w for w in worst if w is not None) == t
    law = stationary_law(matrix)
    one = tv_curve(matrix, [7], start=1).distance[0]
    assert one == pytest.approx(float(total_variation(distribution_after(matrix, 1, 7), law)), abs=1e-14)


@pytest.mark.parametrize("name", compatible())
def test_gap_bounds_the_mixing_time_of_a_reversible_chain(name: str) -> None:
    """Levin & Peres, theorems 12.4 and 12.5."""
    model, n = compatible()[name]
    matrix = transition_matrix(model, n, 0.7)
    law, found, eps = stationary_law(matrix), spectrum(matrix), 0.05
    t = mixing_time(matrix, eps)
    assert t is not None
    assert (found.relaxation - 1) * math.log(1 / (2 * eps)) <= t + 1e-9
    assert t <= math.ceil(found.relaxation * math.log(1 / (eps * law[law > 0].min())))
    assert np.allclose(found.values.imag, 0, atol=1e-9)


def test_a_rotation_has_complex_eigenvalues() -> None:
    turn = 0.7 * np.roll(np.eye(3), 1, axis=1) + 0.3 * np.eye(3)
    found = spectrum(turn)
    assert np.abs(found.values.imag).max() > 0.5 and found.values[0] == pytest.approx(1)
    assert found.gap == pytest.approx(1 - math.sqrt(0.3**2 + 0.7**2 - 0.3 * 0.7), rel=1e-12)
    table = ConditionalTable.random(3, 3, np.random.default_rng(8), 4.0)
    assert np.abs(spectrum(systematic_scan_matrix(table, 3, 1.0)).values.imag).max() > 1e-3


def test_never_mixed_and_slow_chains() -> None:
    frozen = np.eye(2)
    assert spectrum(frozen).gap == 0 and spectrum(frozen).relaxation == math.inf
    with pytest.raises(UserError, match="several places"):
        mixing_time(frozen)
    flip = two_state(1.0, 1.0)  # periodic: it has a stationary law and never comes near it
    assert mixing_time(flip) is None and mixing_time(flip, limit=10) is None
    assert mixing_time(two_state(1e-9, 1e-9)) == pytest.approx(math.log(0.5) / math.log1p(-2e-9), rel=1e-6)
    assert mixing_time(two_state(1e-9, 1e-9), limit=1000) is None
    assert mixing_time(two_state(0.5, 0.5), start=stationary_law(two_state(0.5, 0.5))) == 0


@pytest.mark.parametrize("call", [{"eps": 0.0}, {"eps": 1.0}, {"start": 2}, {"start": -1}])
def test_bad_arguments(call: dict[str, float]) -> None:
    with pytest.raises(UserError):
        mixing_time(two_state(0.5, 0.5), **call)


@pytest.mark.parametrize("times", [[], [-1, 2], [3, 3], [4, 2]])
def test_bad_times(times: list[int]) -> None:
    with pytest.raises(UserError, match="increase"):
        tv_curve(two_state(0.5, 0.5), times)


def test_one_state_has_no_gap() -> None:
    with pytest.raises(UserError, match="two states"):
        spectrum(np.eye(1))


# -- scans ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", compatible())
def test_every_scan_of_a_joint_law_has_it(name: str) -> None:
    model, n = compatible()[name]
    found = scan_laws(model, n, 0.8)
    assert found.distance.max() < 1e-12 and found.misfit_random < 1e-12 and found.misfit.max() < 1e-12


@pytest.mark.parametrize("name", incompatible())
def test_scans_of_an_incompatible_table_differ_and_none_has_its_conditionals(name: str) -> None:
    model, n = incompatible()[name]
    found = scan_laws(model, n, 0.8)
    assert found.orders == ((0, 1, 2), (2, 1, 0)) and found.systematic.shape == (2, len(found.random))
    assert found.distance.min() > 1e-3 and total_variation(found.systematic[0], found.systematic[1]) > 1e-3
    assert found.misfit_random > 1e-3 and found.misfit.min() > 1e-3


def test_misfit_of_a_known_law() -> None:
    """Free spins judged by a law that copies the first spin onto the second: its conditionals are points, TV 1/2."""
    space = StateSpace.full(CurieWeiss(0.0), 2)
    copied = np.array([0.5, 0.0, 0.0, 0.5])
    assert conditional_misfit(copied, CurieWeiss(0.0), space, 1.0) == pytest.approx(0.5)
    assert conditional_misfit(np.full(4, 0.25), CurieWeiss(0.0), space, 1.0) == pytest.approx(0, abs=1e-15)
