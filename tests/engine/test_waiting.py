"""The pieces of a rejection-free move, at the edges: barred tokens, tiny and huge numbers, long sentences."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from glauber_core.errors import UserError
from glauber_core.exact import ConditionalTable, CurieWeiss, Potts, StateSpace, transition_matrix
from glauber_core.profile import profile
from glauber_core.shape import EvaluationShape
from glauber_core.types import Conditionals
from glauber_core.waiting import FOREVER, dwell, leave, log_change, read
from tests.exact.models import every, mask

LAST = float(np.nextafter(1.0, 0.0))
TAUS = [0.0, 1e-300, 1e-3, 0.5, 1.0, 2.0, 1e6]


def taus(value: float, count: int) -> torch.Tensor:
    return torch.full((count,), value, dtype=torch.float64)


def draws(count: int, seed: int = 1) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).random((count, 2)))


# -- exit rates -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tau", TAUS)
@pytest.mark.parametrize("name", every())
def test_the_exit_rate_is_that_of_the_profile_and_of_the_matrix(name: str, tau: float) -> None:
    model, n = every()[name]
    space = StateSpace.full(model, n)
    states = space.states()
    found = leave(model, states, draws(len(states)), taus(tau, len(states)), torch.arange(n)).log_exit
    ours = [profile(model, state, tau, torch.arange(n)).log_exit for state in states]
    assert found.tolist() == pytest.approx(ours, rel=1e-12, abs=1e-12)
    matrix = transition_matrix(model, space, tau)
    assert found.exp().numpy() == pytest.approx(1 - matrix.diagonal(), abs=1e-12)


@pytest.mark.parametrize("rate", [0.5, 1e-3, 1e-18, 1e-300])
def test_the_rate_of_a_trap_to_all_digits(rate: float) -> None:
    model = ConditionalTable.random(3, 4, np.random.default_rng(2), allowed=mask(1, 1, 0, 1)).with_trap([3, 0, 1], rate)
    found = leave(model, torch.tensor([[3, 0, 1]]), draws(1), taus(1.0, 1), torch.arange(3))
    assert float(found.log_exit[0]) == pytest.approx(math.log(rate), rel=1e-13)
    colder = leave(model, torch.tensor([[3, 0, 1]]), draws(1), taus(1e-4, 1), torch.arange(3))
    if rate < 1e-3:  # far below the smallest float64
        assert -math.inf < float(colder.log_exit[0]) < 1e3 * math.log(rate)


def test_a_change_is_certain_where_the_token_cannot_be_drawn() -> None:
    logits = torch.tensor([[0.0, 1.0, -torch.inf], [3.0, -torch.inf, -torch.inf]], dtype=torch.float64)
    for tau in TAUS:
        assert log_change(logits, torch.tensor([2, 2]), taus(tau, 2)).tolist() == [0.0, 0.0]
    assert log_change(logits, torch.tensor([2, 0]), taus(1.0, 2)).tolist() == [0.0, -math.inf]  # nothing else to draw


def test_tau_zero_changes_what_is_not_the_argmax_of_lowest_id() -> None:
    logits = torch.tensor([[1.0, 1.0, 0.0]] * 3, dtype=torch.float64)
    assert log_change(logits, torch.tensor([0, 1, 2]), taus(0.0, 3)).tolist() == [-math.inf, 0.0, 0.0]
    mixed = log_change(logits, torch.tensor([0, 0, 0]), torch.tensor([0.0, 1.0, 0.0], dtype=torch.float64))
    assert mixed[1] == pytest.approx(math.log(1 - math.e / (2 * math.e + 1)))


def test_a_single_precision_network_loses_nothing_more() -> None:
    logits = torch.tensor([[80.0, 0.0, 1.0]])  # p of change 1e-35 of the 1 that float32 could hold
    wanted = math.log1p(math.e) - 80 - math.log1p(math.exp(-80) * (1 + math.e))
    assert float(log_change(logits, torch.tensor([0]), taus(1.0, 1))[0]) == pytest.approx(wanted, rel=1e-15)


# -- waits ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("log_q", [0.0, -1e-300, -1e-17, -0.1, -5.0, -40.0, -599.0, -601.0, -690.0])
def test_waits_grow_with_the_uniform_and_begin_at_one(log_q: float) -> None:
    found = [dwell(u, log_q) for u in (0.0, 2.0**-53, 0.1, 0.5, 0.9, LAST)]
    assert found[0] == 1 and found == sorted(found) and all(type(d) is int for d in found)
    if log_q < -1:
        median = math.log(2) * math.exp(-log_q)
        assert abs(found[3] - median) <= max(1.0, 1e-12 * median)
    if log_q > -1e-10:
        assert found[:-1] == [1] * 5


def test_the_two_ways_to_a_wait_agree_where_they_meet() -> None:
    for u in (2.0**-53, 0.3, LAST):
        above, below = dwell(u, -600.0 + 1e-10), dwell(u, -600.0 - 1e-10)
        assert below / above == pytest.approx(1.0, abs=1e-9)


def test_waits_beyond_the_clock() -> None:
    assert dwell(0.5, -math.inf) == dwell(0.0, -math.inf) == dwell(0.5, -1e300) == FOREVER + 1
    assert dwell(0.0, -1e300) == 1
    assert dwell(0.5, -704.0) < FOREVER < dwell(LAST, -704.0)
    assert math.isfinite(float(FOREVER + 10**9))


# -- changes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tau", TAUS)
def test_a_change_never_keeps_the_token_and_never_takes_a_barred_one(tau: float) -> None:
    allowed = torch.from_numpy(np.random.default_rng(3).random(40) > 1 / 3)
    allowed[0] = allowed[-1] = False
    model = Potts(40, 5.0, allowed)
    start = torch.nonzero(allowed)[
        torch.from_numpy(np.random.default_rng(4).integers(0, int(allowed.sum()), (3_000, 4)))
    ]
    start = start[..., 0]
    uniform = draws(3_000, 5)
    uniform[:500] = torch.tensor([0.0, LAST], dtype=torch.float64)[
        torch.randint(2, (500, 2), generator=torch.manual_seed(0))
    ]
    before = start.clone()
    after, log_exit, info = leave(model, start, uniform, taus(tau, 3_000), torch.arange(4))
    assert torch.equal(start, before)
    left = torch.isfinite(log_exit)
    assert bool(left.any()) and bool((info.new != info.old)[left].all()) and bool(model.allowed[after].all())
    assert ((after != start).sum(dim=1) == left.long()).all()
    rows = torch.arange(3_000)
    assert torch.equal(after[rows, info.position], info.new) and torch.equal(start[rows, info.position], info.old)
    for values in (info.log_prob[left], info.entropy, info.margin):
        assert bool(torch.isfinite(values).all())


def test_the_ends_of_both_draws() -> None:
    model = CurieWeiss(0.5)
    start = torch.tensor([[0, 0, 0, 0]] * 2)
    uniform = torch.tensor([[0.0, 0.0], [LAST, LAST]], dtype=torch.float64)
    assert leave(model, start, uniform, taus(1.0, 2), torch.tensor([1, 2])).info.position.tolist() == [1, 2]
    # a position that cannot change is never picked, whatever the uniform
    logits = torch.zeros(3, 4, 2, dtype=torch.float64)
    logits[[0, 2], :, 0] = 1e6
    table = ConditionalTable(logits)
    found = leave(table, torch.zeros(2, 3, dtype=torch.int64), uniform, taus(1.0, 2), torch.arange(3))
    assert found.info.position.tolist() == [1, 1] and found.info.new.tolist() == [1, 1]


def test_an_absorbed_state_stays() -> None:
    model = Potts(3, 9.0)
    start = torch.tensor([[1, 1, 1], [0, 1, 2]])
    after, log_exit, _ = leave(model, start, draws(2), taus(0.0, 2), torch.arange(3))
    assert torch.equal(after[0], start[0]) and float(log_exit[0]) == -math.inf
    assert not torch.equal(after[1], start[1]) and math.isfinite(float(log_exit[1]))


def test_no_free_position() -> None:
    with pytest.raises(UserError, match="Every word is locked"):
        leave(CurieWeiss(1.0), torch.zeros(1, 2, dtype=torch.int64), draws(1), taus(1.0, 1), torch.arange(0))


class Sizes:
    """Conditionals that note the rows of every call."""

    def __init__(self, inner: Conditionals) -> None:
        self.inner, self.rows = inner, list[int]()
        self.vocab_size, self.allowed = inner.vocab_size, inner.allowed

    def __call__(self, states: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        self.rows.append(len(states))
        return self.inner(states, positions)


@pytest.mark.parametrize("m, calls", [(1, [1]), (15, [15]), (64, [64]), (65, [33, 33]), (200, [50] * 4)])
def test_a_state_is_read_in_calls_of_one_size_whatever_its_company(m: int, calls: list[int]) -> None:
    model = Sizes(CurieWeiss(0.7))
    states = torch.from_numpy(np.random.default_rng(6).integers(0, 2, (3, m + 1)))
    free = torch.arange(m) + 1
    logits, change = read(model, states[:1], taus(0.9, 1), free)
    assert model.rows == calls and logits.shape == (1, m, 2)
    for k, i in enumerate(free.tolist()):
        row = model.inner(states[:1], torch.tensor([i]))
        assert torch.equal(row[0], logits[0, k])
        assert torch.equal(log_change(row, states[:1, i], taus(0.9, 1))[0], change[0, k])
    together = read(model, states, taus(0.9, 3), free)
    assert torch.equal(together[0][0], logits[0]) and torch.equal(together[1][0], change[0])


def test_old_shapes_read_one_sentence_at_a_time() -> None:
    stored = EvaluationShape(1, 2).as_dict()
    del stored["states"]
    assert EvaluationShape(**stored).states == 1  # type: ignore[arg-type]
