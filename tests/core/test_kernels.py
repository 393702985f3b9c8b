"""The pieces of a step, each against its definition; the laws of whole chains are tested in tests/kernel."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from glauber_core.errors import UserError
from glauber_core.kernels import init, inverse_cdf, log_conditional, margin_of, pick_positions, resample, step
from glauber_core.streams import uniforms
from tests.exact.models import every, mask

F64 = torch.float64


def column(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=F64)


LOGITS = torch.tensor([[2.0, -1.0, 2.0, -torch.inf, 0.5]])


@pytest.mark.parametrize("tau", [0.0, 5e-324, 1e-300, 1e-3, 0.7, 1.0, 10.0, 1e6, 1e308])
def test_a_conditional_is_a_law_at_every_temperature(tau: float) -> None:
    prob = log_conditional(LOGITS, column(tau)).exp()[0]
    assert prob.dtype == F64 and bool((prob >= 0).all()) and prob[3] == 0.0
    assert float(prob.sum()) == pytest.approx(1, abs=1e-12)


def test_a_conditional_is_softmax_of_logits_over_tau() -> None:
    logits = torch.randn(4, 50, generator=torch.Generator().manual_seed(1), dtype=F64)
    taus = column(0.3, 1.0, 2.5, 10.0)
    assert torch.allclose(log_conditional(logits, taus), torch.log_softmax(logits / taus[:, None], dim=1), atol=1e-12)


def test_the_limits_of_tau() -> None:
    assert log_conditional(LOGITS, column(0.0)).exp()[0].tolist() == [1, 0, 0, 0, 0]  # lowest id on ties
    assert log_conditional(LOGITS, column(1e-300)).exp()[0].tolist() == [0.5, 0, 0.5, 0, 0]
    assert log_conditional(LOGITS, column(1e300)).exp()[0].tolist() == [0.25, 0.25, 0.25, 0, 0.25]


def test_rows_have_temperatures_of_their_own() -> None:
    taus = column(0.0, 0.5, 1e-300)
    together = log_conditional(LOGITS.expand(3, -1), taus)
    for row, tau in zip(together, taus, strict=True):
        assert torch.equal(row, log_conditional(LOGITS, tau[None])[0])


def test_extreme_logits_do_not_overflow() -> None:
    logits = torch.tensor([[3e38, -3e38, 1e38], [1e-40, 0.0, -1e-40]])
    for tau in (0.0, 1e-300, 1.0, 1e6):
        prob = log_conditional(logits, column(tau, tau)).exp()
        assert bool(torch.isfinite(prob).all()) and prob[0, 0] == 1.0


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=12), st.data())
def test_inverse_cdf_never_draws_a_disallowed_token(logits: list[float], data: st.DataObject) -> None:
    flags = data.draw(st.lists(st.booleans(), min_size=len(logits), max_size=len(logits)).filter(any))
    allowed = torch.tensor(flags)
    row = torch.tensor([logits], dtype=F64).masked_fill(~allowed, -torch.inf)
    log_prob = log_conditional(row, column(data.draw(st.sampled_from([0.0, 1e-300, 0.1, 1.0, 10.0, 1e6]))))
    for uniform in (0.0, 2.0**-53, data.draw(st.floats(0, 1, exclude_max=True)), 1 - 2.0**-53):
        token = int(inverse_cdf(log_prob, column(uniform), allowed)[0])
        assert allowed[token] and log_prob[0, token] > -torch.inf


def test_inverse_cdf_goes_in_id_order() -> None:
    log_prob = column(0.25, 0.0, 0.5, 0.25, 0.0).log()[None]
    allowed = mask(1, 0, 1, 1, 0)
    drawn = [int(inverse_cdf(log_prob, column(u), allowed)[0]) for u in (0, 0.2499, 0.25, 0.7499, 0.75, 1 - 2.0**-53)]
    assert drawn == [0, 0, 2, 2, 3, 3]


def test_margins() -> None:
    logits = torch.tensor([[1.0, 4.0, 2.5, -torch.inf]]).expand(4, -1)
    assert margin_of(logits, torch.tensor([0, 1, 2, 3])).tolist()[:3] == [-3.0, 1.5, -1.5]
    assert margin_of(logits, torch.tensor([0, 1, 2, 3]))[3].isnan()
    tied = torch.tensor([[2.0, 2.0, 0.0]]).expand(2, -1)
    assert margin_of(tied, torch.tensor([0, 1])).tolist() == [0.0, 0.0]
    alone = torch.tensor([[-torch.inf, 5.0, -torch.inf]])
    assert margin_of(alone, torch.tensor([1])).tolist() == [torch.inf]


def test_positions_are_the_free_ones() -> None:
    free = torch.tensor([1, 4, 6])
    assert pick_positions(free, column(0, 0.333, 0.334, 0.666, 0.667, 1 - 2.0**-53)).tolist() == [1, 1, 4, 4, 6, 6]


def test_init_copies_and_wants_a_position() -> None:
    tokens = torch.tensor([[1, 2]])
    state = init(tokens)
    tokens[0, 0] = 9
    assert state.tokens.tolist() == [[1, 2]] and state.steps.tolist() == [0]
    with pytest.raises(UserError, match="at least one word"):
        init(torch.empty((1, 0), dtype=torch.int64))


@pytest.mark.parametrize("name", every())
def test_a_step_reports_what_it_did_and_mutates_nothing(name: str) -> None:
    model, n = every()[name]
    tokens = torch.nonzero(model.allowed)[0].repeat(6, n)
    state, uniform, taus = init(tokens), torch.from_numpy(uniforms(1, 0, 0, 6)), column(0, 0.1, 0.5, 1, 2, 10)
    after, info = step(model, state, uniform, taus, torch.arange(n))
    assert torch.equal(state.tokens, tokens) and after.steps.tolist() == [1] * 6
    logits = model(tokens, info.position)
    log_p = log_conditional(logits, taus)
    rows = torch.arange(6)
    assert torch.equal(info.log_prob, log_p[rows, info.new])
    assert torch.equal(info.margin, margin_of(logits, info.new))
    entropy = [-sum(p * np.log(p) for p in row.exp().tolist() if p > 0) for row in log_p]
    assert info.entropy.tolist() == pytest.approx(entropy, abs=1e-12)
    expected = tokens.clone()
    expected[rows, info.position] = info.new
    assert torch.equal(after.tokens, expected) and torch.equal(info.old, tokens[rows, info.position])
    again, _ = resample(model, state, info.position, uniform[:, 1], taus)
    assert torch.equal(again.tokens, after.tokens)


def test_no_free_position() -> None:
    model, n = every()["joint"]
    with pytest.raises(UserError, match="Every word is locked"):
        step(model, init(torch.zeros(1, n, dtype=torch.int64)), column(0.1, 0.2)[None], column(1), torch.arange(0))
