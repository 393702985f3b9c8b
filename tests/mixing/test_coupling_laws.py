"""Coupled chains follow the enumerated product chain: coupling times, joint laws, margins, the distance curve.

Declared false-fail rate: 1e-4 for each comparison (``tests.law``), seeds fixed, no retry. There are about 40 of them,
so a correct sampler given new seeds would fail somewhere for about one set of seeds in 250.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from glauber_core.exact import StateSpace, distribution_after, stationary_law, transition_matrix
from glauber_core.mixing import coupling
from glauber_core.mixing.exact import simulated_tv, total_variation
from glauber_core.mixing.meeting import run_coupled
from glauber_core.mixing.pair_stream import pair_uniforms
from glauber_core.mixing.product import coupling_time_law, pair_law, product_matrix
from tests.law import FALSE_FAIL, assert_law, rejects
from tests.mixing.pairs import MANY, MODELS, PAIRS, couple, space_of, times

HORIZON = 12
TAUS = [0.0, 0.6, 2.0]


@pytest.mark.parametrize("tau", TAUS)
@pytest.mark.parametrize("name", MODELS)
def test_coupling_times_follow_the_product_chain(name: str, tau: float) -> None:
    model, start = MODELS[name]
    space, indices = space_of(model, start)
    law = coupling_time_law(product_matrix(model, space, tau), indices, HORIZON)
    done = couple(model, start, tau, HORIZON, 500 + TAUS.index(tau))
    assert_law(times(done, HORIZON), law)


@pytest.mark.parametrize("name", MODELS)
def test_margins_and_joint_law_at_a_fixed_time(name: str) -> None:
    """Met pairs stay as they were in the run, so the pairs themselves are stepped here, met or not."""
    model, start = MODELS[name]
    space, indices = space_of(model, start)
    steps, tau = 4, 0.6
    x, y = stepped(name, tau, steps, 520)
    joint = pair_law(product_matrix(model, space, tau), indices, steps)
    assert_law(x * space.size + y, joint.ravel(), what="pair")
    matrix = transition_matrix(model, space, tau)
    for which, found, first in (("first", x, indices[0]), ("second", y, indices[1])):
        law = distribution_after(matrix, first, steps)
        assert_law(found, law, what=which)
        assert np.allclose(joint.sum(axis=1 if which == "first" else 0), law, atol=1e-14)


@pytest.mark.parametrize("name", MODELS)
def test_distance_of_simulated_chains_from_stationarity(name: str) -> None:
    """Simulated TV within the noise of its histogram, at the declared rate; a wrong law is not."""
    model, start = MODELS[name]
    space, indices = space_of(model, start)
    matrix = transition_matrix(model, space, 0.6)
    law = stationary_law(matrix)
    for steps in (1, 4, 9):
        x, _ = stepped(name, 0.6, steps, 540 + steps)
        exact = distribution_after(matrix, indices[0], steps)
        found = simulated_tv(np.bincount(x, minlength=space.size), law, exact, FALSE_FAIL)
        distance = float(total_variation(exact, law))
        assert abs(found.value - distance) <= found.noise < 0.1
        later = distribution_after(matrix, indices[0], steps + 2)
        assert steps > 1 or abs(found.value - float(total_variation(later, law))) > found.noise


def stepped(name: str, tau: float, steps: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Indices of where both chains of ``PAIRS`` pairs are."""
    model, start = MODELS[name]
    space, _ = space_of(model, start)
    state = coupling.init(*(torch.tensor([tokens]).expand(PAIRS, -1) for tokens in start))
    read = coupling.Tempered(model, MANY, 0)
    uniform = torch.from_numpy(np.stack([pair_uniforms(seed, pair, 0, steps) for pair in range(PAIRS)]))
    taus, free = torch.full((PAIRS,), tau, dtype=torch.float64), torch.arange(len(start[0]))
    for t in range(steps):
        before = state.met != coupling.APART
        state, _ = coupling.step(read, state, uniform[:, t], taus, free)
        assert bool((state.x == state.y)[before].all())
    return space.encode(state.x), space.encode(state.y)


def test_mean_distance_over_time() -> None:
    """E of the Hamming distance from the product chain, within 5 standard errors (false fails below 1e-6 a time)."""
    model, start = MODELS["conditional"]
    space, indices = space_of(model, start)
    matrix = product_matrix(model, space, 0.6)
    states = space.states().numpy()
    apart = (states[:, None] != states[None]).sum(axis=2)
    done = couple(model, start, 0.6, HORIZON, 550)
    assert done.times.tolist() == list(range(HORIZON + 1))
    for t in (0, 1, 5, HORIZON):
        joint = pair_law(matrix, indices, t)
        mean = float((joint * apart).sum())
        spread = math.sqrt(float((joint * apart**2).sum()) - mean**2)
        assert abs(done.distance[t].mean() - mean) <= 5 * spread / math.sqrt(PAIRS)


def test_locked_positions_keep_apart_or_not() -> None:
    model, start = MODELS["curie-weiss"]
    done = couple(model, start, 1.0, 6, 560, locked=[2])
    assert not done.met.any() and bool((done.final.x[:, 2] == 0).all() and (done.final.y[:, 2] == 1).all())
    agree = ([0, 0, 1, 0], [1, 1, 1, 1])
    free = [0, 1, 3]
    space, indices = space_of(model, agree)
    law = coupling_time_law(product_matrix(model, space, 1.0, free), indices, HORIZON)
    assert_law(times(couple(model, agree, 1.0, HORIZON, 561, locked=[2]), HORIZON), law)


@pytest.mark.parametrize("name", MODELS)
def test_tail_bounds_the_distance_of_the_laws(name: str) -> None:
    """P(T > t) >= TV(P^t(x, .), P^t(y, .)): Levin & Peres, theorem 5.4. And d(t) is another quantity than T."""
    model, start = MODELS[name]
    space, (a, b) = space_of(model, start)
    law = coupling_time_law(product_matrix(model, space, 0.6), (a, b), HORIZON)
    matrix = transition_matrix(model, space, 0.6)
    assert law.sum() == pytest.approx(1, abs=1e-12)
    gap = []
    for t in range(HORIZON + 1):
        laws = distribution_after(matrix, a, t), distribution_after(matrix, b, t)
        gap.append(1 - law[: t + 1].sum() - float(total_variation(*laws)))
    assert min(gap) > -1e-12 and max(gap) > 1e-3


# -- the tests can fail -----------------------------------------------------------------------------------------------


def independent(p: Tensor, q: Tensor, uniform: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Both chains draw for themselves: right margins, wrong coupling."""
    drawn = coupling._token(p, uniform[:, 1]), coupling._token(q, uniform[:, 2])
    return *drawn, torch.zeros(len(p), dtype=torch.float64)


def one_uniform(p: Tensor, q: Tensor, uniform: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Both chains draw by inverse CDF with one uniform: a coupling, not a maximal one for three tokens."""
    drawn = coupling._token(p, uniform[:, 1]), coupling._token(q, uniform[:, 1])
    return *drawn, torch.zeros(len(p), dtype=torch.float64)


def reused(p: Tensor, q: Tensor, uniform: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The coin's uniform picks the token too: wrong margins."""
    return maximal(p, q, torch.stack((uniform[:, 0], uniform[:, 0], uniform[:, 2]), dim=1))


maximal = coupling.maximal_draw


@pytest.mark.parametrize("wrong", [independent, one_uniform], ids=lambda f: f.__name__)
def test_a_wrong_coupling_is_seen(wrong: object, monkeypatch: pytest.MonkeyPatch) -> None:
    model, start = MODELS["joint-barred"]
    space, indices = space_of(model, start)
    law = coupling_time_law(product_matrix(model, space, 0.6), indices, HORIZON)
    monkeypatch.setattr(coupling, "maximal_draw", wrong)
    assert rejects(times(couple(model, start, 0.6, HORIZON, 570), HORIZON), law)


def test_a_wrong_margin_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    model, start = MODELS["joint-barred"]
    space, (first, _) = space_of(model, start)
    monkeypatch.setattr(coupling, "maximal_draw", reused)
    x, _ = stepped("joint-barred", 0.6, 4, 571)
    assert rejects(x, distribution_after(transition_matrix(model, space, 0.6), first, 4))


def test_a_slightly_wrong_temperature_is_seen() -> None:
    model, start = MODELS["joint-barred"]
    space, indices = space_of(model, start)
    law = coupling_time_law(product_matrix(model, space, 0.7), indices, HORIZON)
    assert rejects(times(couple(model, start, 0.6, HORIZON, 572), HORIZON), law)


def test_pairs_may_have_temperatures_of_their_own() -> None:
    model, start = MODELS["curie-weiss"]
    space, indices = space_of(model, start)
    x, y = (torch.tensor([tokens]).expand(PAIRS, -1) for tokens in start)
    taus = [0.6, 2.0] * (PAIRS // 2)
    done = run_coupled(model, x, y, taus, HORIZON, 573, shape=MANY, cache_bytes=0)
    for k, tau in enumerate((0.6, 2.0)):
        law = coupling_time_law(product_matrix(model, space, tau), indices, HORIZON)
        assert_law(times(done, HORIZON)[k::2], law)


def test_product_of_a_large_space_is_refused() -> None:
    model, _ = MODELS["curie-weiss"]
    with pytest.raises(coupling.UserError, match="pairs of states"):
        product_matrix(model, StateSpace.full(model, 9), 1.0)
