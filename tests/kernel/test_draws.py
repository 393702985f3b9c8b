"""Draws at the edges: barred tokens, the ends of the CDF, extreme temperatures."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from glauber_core.exact import Bigram, Potts
from glauber_core.kernels import init, inverse_cdf, log_conditional, step
from glauber_core.streams import uniforms
from glauber_core.types import Conditionals
from tests.exact.models import every
from tests.kernel.simulate import draws, simulate
from tests.law import CHAINS, assert_law

LAST = float(np.nextafter(1.0, 0.0))
BERT = 30_522


def barred_vocabulary(size: int, seed: int) -> torch.Tensor:
    """bool [size]: a third disallowed, the first and the last among them."""
    allowed = torch.from_numpy(np.random.default_rng(seed).random(size) > 1 / 3)
    allowed[0] = allowed[-1] = False
    return allowed


def ones(value: float, count: int) -> torch.Tensor:
    return torch.full((count,), value, dtype=torch.float64)


def test_a_million_draws_at_tau_ten_never_take_a_barred_token() -> None:
    allowed = barred_vocabulary(128, 41)
    model = Potts(128, 5.0, allowed)
    start = torch.nonzero(allowed)[:8, 0].tolist()
    tokens = simulate(model, start, 10.0, draws(201, 50))
    assert len(tokens[1:]) * CHAINS == 1_000_000
    assert all(bool(allowed[t].all()) for t in tokens)
    counts = torch.bincount(tokens[-1].flatten(), minlength=128)
    assert bool((counts[allowed] > 0).all())  # and every allowed one does come


def test_no_barred_token_at_the_edges_of_a_whole_vocabulary() -> None:
    """The only uniforms that could give one lie where two shares of [0, 1) meet: try those and their neighbours."""
    rng = np.random.default_rng(42)
    allowed = barred_vocabulary(BERT, 43)
    model = Bigram.from_sequences([rng.zipf(1.2, 2_000) % BERT], BERT, allowed)
    logits = model(torch.from_numpy(rng.integers(0, BERT, (1, 3))), torch.tensor([1]))
    log_prob = log_conditional(logits, ones(10.0, 1))
    cdf = log_prob.exp().cumsum(dim=1)[0]
    barred = torch.from_numpy(rng.choice(torch.nonzero(~allowed)[:, 0].numpy(), 100, replace=False))
    edges = (cdf[barred] / cdf[-1]).numpy()
    tried = np.concatenate([edges, np.nextafter(edges, 0.0), np.nextafter(edges, 1.0), [0.0, 2.0**-53, LAST]])
    uniform = torch.from_numpy(tried.clip(0.0, LAST))
    drawn = inverse_cdf(log_prob.expand(len(uniform), -1), uniform, allowed)
    assert bool(allowed[drawn].all())
    # the same draws read with the other end of each share: this would have been the bug
    naive = torch.searchsorted(cdf, uniform * cdf[-1], right=False)
    assert not bool(allowed[naive].all())


@pytest.mark.parametrize("tau", [0.0, 1e-300, 0.5, 1.0, 10.0, 1e6])
def test_the_ends_of_the_cdf(tau: float) -> None:
    allowed = torch.tensor([False, True, True, False, True, False])
    logits = torch.tensor([[0.0, 3.0, 1.0, 9.0, 2.0, 9.0]], dtype=torch.float64).masked_fill(~allowed, -torch.inf)
    for value, hot_answer in ((0.0, 1), (LAST, 4)):
        drawn = inverse_cdf(log_conditional(logits, ones(tau, 1)), ones(value, 1), allowed)
        assert drawn.tolist() == [hot_answer if tau >= 0.5 else 1]


def test_rounding_past_the_end_is_clamped_at_the_last_allowed_token() -> None:
    allowed = torch.tensor([True, True, True, False])
    law = torch.tensor([[0.1, 0.7, 0.2, 0.0]], dtype=torch.float64).log()
    beyond = ones(1.0, 1)  # a uniform is below 1; 1.0 stands for a product rounded up to the whole mass
    assert inverse_cdf(law, beyond, allowed).tolist() == [2]
    lost = law - 1e-12  # mass a little short of 1
    assert inverse_cdf(lost, ones(LAST, 1), allowed).tolist() == [2]


@pytest.mark.parametrize("tau", [5e-324, 1e-300, 1e-12, 1e6, 1e300])
@pytest.mark.parametrize("name", every())
def test_extreme_temperatures_give_numbers(name: str, tau: float) -> None:
    model, n = every()[name]
    tokens = torch.nonzero(model.allowed)[:, 0]
    rng = np.random.default_rng(44)
    state = init(tokens[torch.from_numpy(rng.integers(0, len(tokens), (500, n)))])
    uniform = torch.from_numpy(uniforms(202, 0, 0, 500))
    after, info = step(model, state, uniform, ones(tau, 500), torch.arange(n))
    for values in (info.log_prob, info.entropy, info.margin):
        assert bool(torch.isfinite(values).all())
    assert bool(model.allowed[after.tokens].all())
    assert bool((info.log_prob <= 0).all()) and bool((info.entropy >= -1e-12).all())
    if tau >= 1e6:
        assert info.entropy.numpy() == pytest.approx(np.log(len(tokens)), abs=1e-5)


def test_huge_logits_do_not_overflow() -> None:
    logits = torch.tensor([[1e30, -1e30, 0.0], [-3e38, -3e38, -3e38]], dtype=torch.float64)
    for tau in (1e-300, 1.0, 1e6):
        law = log_conditional(logits, ones(tau, 2)).exp()
        assert law.tolist()[0] == [1.0, 0.0, 0.0]
        assert law[1].tolist() == pytest.approx([1 / 3] * 3)


def test_a_tiny_tau_is_the_argmax_where_nothing_is_tied() -> None:
    model: Conditionals = every()["conditional"][0]
    uniform = draws(203, 20, 1_000)
    cold, frozen = (simulate(model, [0, 1, 2], tau, uniform)[-1] for tau in (1e-300, 0.0))
    assert torch.equal(cold, frozen)


def test_an_infinite_temperature_is_uniform_on_the_allowed_tokens() -> None:
    allowed = barred_vocabulary(40, 45)
    model = Potts(40, 8.0, allowed)
    start = [int(torch.nonzero(allowed)[0])] * 3
    drawn = simulate(model, start, 1e6, draws(204, 1), free=[1])[-1][:, 1].numpy()
    assert_law(drawn, (allowed.double() / allowed.sum()).numpy())
