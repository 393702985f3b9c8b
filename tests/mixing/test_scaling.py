"""Fits of the growth with n: each law is recognised and recovered; and the bounds beside them."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy.stats import binom

from glauber_core.errors import UserError
from glauber_core.exact import ConditionalTable, CurieWeiss, StateSpace, transition_matrix
from glauber_core.mixing.bounds import contraction_bound, coupling_bound, curie_weiss_influence
from glauber_core.mixing.exact import mixing_time
from glauber_core.mixing.physics import couple_spins
from glauber_core.mixing.product import coupling_time_law, product_matrix
from glauber_core.mixing.scaling import Scaling, fit_scaling
from glauber_core.mixing.survival import TooFew, median

LENGTHS = np.array([8.0, 12, 16, 24, 32])
LAWS = {
    "n log n": lambda n: 3 * n * np.log(n),
    "n^2": lambda n: 0.7 * n**2,
    "exp(c n)": lambda n: 5 * np.exp(0.2 * n),
}


@pytest.mark.parametrize("name", LAWS)
def test_an_exact_law_is_recovered(name: str) -> None:
    found = fit_scaling(LENGTHS, LAWS[name](LENGTHS))
    best = found.fits[0]
    assert best.name == name and found.advantage(name) > 10 and best.rss < 1e-12
    assert best.scale == pytest.approx({"n log n": 3, "n^2": 0.7, "exp(c n)": 5}[name], rel=1e-6)
    assert math.isnan(best.rate) if name != "exp(c n)" else best.rate == pytest.approx(0.2, rel=1e-6)
    assert np.allclose(best.at(np.array([10.0, 50])), LAWS[name](np.array([10.0, 50])), rtol=1e-5)
    others = [fit for fit in found.fits if fit.name != name]
    assert all(found.advantage(fit.name) < 0 and fit.rss > 0.01 for fit in others)
    assert all(np.allclose(f.residuals, np.log(found.times / f.at(found.lengths))) for f in found.fits)


def test_intervals_cover_as_often_as_they_say() -> None:
    """20 % noise, 400 fits, nominal 95 %: fails for a correct interval in less than 1e-4 of the seeds."""
    rng, runs = np.random.default_rng(4), 400
    inside = {"scale": 0, "rate": 0}
    for _ in range(runs):
        noise = np.exp(0.2 * rng.standard_normal(len(LENGTHS)))
        fit = fit_scaling(LENGTHS, LAWS["n log n"](LENGTHS) * noise).by_name("n log n")
        inside["scale"] += fit.scale_low <= 3 <= fit.scale_high
        fit = fit_scaling(LENGTHS, LAWS["exp(c n)"](LENGTHS) * noise).by_name("exp(c n)")
        inside["rate"] += fit.rate_low <= 0.2 <= fit.rate_high
    for count in inside.values():
        assert binom.ppf(1e-4, runs, 0.95) <= count <= binom.ppf(1 - 1e-4, runs, 0.95)


def test_too_few_lengths() -> None:
    with pytest.raises(TooFew, match="there are 3") as error:
        fit_scaling(LENGTHS[:3], LENGTHS[:3])
    assert isinstance(error.value.estimate, Scaling) and len(error.value.estimate.fits) == 3
    with pytest.raises(TooFew) as nothing:
        fit_scaling([8, 8, 12, 12], [1, 2, 3, 4])
    assert nothing.value.estimate is None


@pytest.mark.parametrize(
    ("lengths", "times"),
    [([8, 12], [1]), ([1, 2, 3, 4], [1, 1, 1, 1]), ([2, 3, 4, 5], [1, 2, 3, math.inf]), ([2, 3, 4, 5], [0, 2, 3, 4])],
)
def test_bad_arguments(lengths: list[float], times: list[float]) -> None:
    with pytest.raises(UserError, match="A fit needs"):
        fit_scaling(lengths, times)


# -- bounds -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_influence_of_a_spin_by_enumeration(n: int) -> None:
    beta, tau = 1.3, 0.8
    model, states = CurieWeiss(beta), StateSpace.full(CurieWeiss(beta), n).states()
    plus = torch.softmax(model(states, torch.zeros(len(states)).long()) / tau, dim=1)[:, 1]
    flipped = states.clone()
    flipped[:, 1] = 1 - flipped[:, 1]
    other = torch.softmax(model(flipped, torch.zeros(len(states)).long()) / tau, dim=1)[:, 1]
    assert curie_weiss_influence(n, beta, tau) == pytest.approx((n - 1) * float((plus - other).abs().max()), rel=1e-12)
    assert curie_weiss_influence(1, beta) == 0


def test_bound_lies_above_mixing_and_coupling() -> None:
    n, beta = 4, 0.7
    model, space = CurieWeiss(beta), StateSpace.full(CurieWeiss(beta), n)
    alpha = curie_weiss_influence(n, beta)
    for eps in (0.25, 0.01):
        bound, exact = contraction_bound(n, alpha, eps), mixing_time(transition_matrix(model, space, 1.0), eps)
        assert bound is not None and exact is not None and exact <= bound <= 20 * exact
    half = contraction_bound(n, alpha, 0.5)
    assert half is not None
    law = coupling_time_law(product_matrix(model, space, 1.0), (0, space.size - 1), half)
    assert law[-1] <= 0.5


def test_bound_beside_a_measured_median() -> None:
    done = couple_spins(20, 0.5, 40, 3000, seed=8)
    measured, bound = median(done.steps, done.met), coupling_bound(CurieWeiss(0.5), 20, 1.0)
    assert bound is not None and measured.high <= bound <= 20 * measured.value
    assert coupling_bound(CurieWeiss(0.5), 20, 0.4) is None  # beta / tau is above 1
    assert coupling_bound(ConditionalTable.random(3, 3, np.random.default_rng(1)), 3, 5.0) is None


def test_no_bound_where_the_theorem_says_nothing() -> None:
    assert contraction_bound(8, 1.0) is None and contraction_bound(8, 1.7) is None
    assert contraction_bound(1, 0.0, 0.25) == 2
    for bad in ((0, 0.5, 0.25), (4, -0.1, 0.25), (4, math.nan, 0.25), (4, 0.5, 1.0)):
        with pytest.raises(UserError, match="bound needs"):
            contraction_bound(*bad)
    for wrong in ((0, 1.0, 1.0), (3, 1.0, 0.0)):
        with pytest.raises(UserError, match="influence needs"):
            curie_weiss_influence(*wrong)
