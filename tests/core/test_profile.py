"""Whole-state figures against brute force, and the verdict's table (MATH section 4)."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
import torch

from glauber_core.exact import Bigram, ConditionalTable, CurieWeiss, JointTable, StateSpace, transition_matrix
from glauber_core.profile import HOLD, WINDOW_SWEEPS, StateProfile, Verdict, confined, profile, verdict
from glauber_core.types import Conditionals
from tests.exact.models import every, mask
from tests.models.checkpoints import FAMILIES, model

TAUS = (0.0, 0.05, 0.7, 1.0, 3.0, 1e6)


def brute(conditionals: Conditionals, state: list[int], tau: float, free: list[int]) -> dict[str, Any]:
    """The figures of one state from their definitions, position by position, in Python's floats."""
    out: dict[str, Any] = {"margin": {}, "log_prob": {}, "entropy": {}, "argmax": {}, "q": 0.0}
    for i in free:
        logits = conditionals(torch.tensor([state]), torch.tensor([i]))[0].double().tolist()
        words = [v for v, logit in enumerate(logits) if logit > -math.inf]
        top = max(logits)
        best = logits.index(top)
        if tau == 0:
            p = {v: float(v == best) for v in words}
        else:
            mass = {v: math.exp((logits[v] - top) / tau) for v in words}
            p = {v: m / sum(mass.values()) for v, m in mass.items()}
        out["entropy"][i] = -sum(x * math.log(x) for x in p.values() if x > 0)
        if state[i] in p:
            own = state[i]
            out["margin"][i] = logits[own] - max(logits[v] for v in words if v != own)
            out["log_prob"][i] = math.log(p[own]) if p[own] > 0 else -math.inf
            out["argmax"][i] = own == best
            out["q"] += sum(x for v, x in p.items() if v != own) / len(free)
    return out


def check(conditionals: Conditionals, state: list[int], tau: float, free: list[int], tolerance: float = 1e-9) -> None:
    found = profile(conditionals, torch.tensor(state), tau, torch.tensor(free, dtype=torch.int64))
    wanted = brute(conditionals, state, tau, free)
    defined = sorted(wanted["margin"])
    assert np.flatnonzero(found.defined).tolist() == defined
    for name in ("margin", "log_prob", "entropy"):
        array = getattr(found, name)
        for i in range(len(state)):
            if i in wanted[name]:
                assert array[i] == pytest.approx(wanted[name][i], rel=tolerance, abs=tolerance)
            else:
                assert math.isnan(array[i])
    assert np.flatnonzero(found.argmax).tolist() == [i for i in defined if wanted["argmax"][i]]
    if defined:
        assert found.exit_rate == pytest.approx(wanted["q"], rel=tolerance, abs=1e-300)
        assert found.holding == pytest.approx(1 - wanted["q"], abs=1e-12)
    else:
        assert math.isnan(found.log_exit) and math.isnan(found.holding) and math.isnan(found.dwell)


@pytest.mark.parametrize("tau", TAUS)
@pytest.mark.parametrize("name", every())
def test_holding_is_the_diagonal_of_the_chain(name: str, tau: float) -> None:
    conditionals, n = every()[name]
    space = StateSpace.full(conditionals, n)
    diagonal = transition_matrix(conditionals, space, tau).diagonal()
    for k in range(0, space.size, max(1, space.size // 12)):
        found = profile(conditionals, space.decode(np.array([k]))[0], tau, torch.arange(n))
        assert found.holding == pytest.approx(diagonal[k], abs=1e-12)
        assert found.exit_rate == pytest.approx(1 - diagonal[k], abs=1e-12)


@pytest.mark.parametrize("tau", TAUS)
@pytest.mark.parametrize("name", every())
def test_figures_against_brute_force(name: str, tau: float) -> None:
    conditionals, n = every()[name]
    rng = np.random.default_rng(3)
    for _ in range(4):
        state = rng.integers(0, conditionals.vocab_size, n).tolist()  # some hold tokens that are never sampled
        for free in (list(range(n)), [0], [1, n - 1]):
            check(conditionals, state, tau, free)


@pytest.mark.parametrize("family", FAMILIES)
def test_figures_of_a_network(family: str) -> None:
    lm = model(family)
    state = list(lm.vocabulary.encode("the cat [MASK] on the mat").ids)
    check(lm, state, 0.7, list(range(len(state))), tolerance=1e-4)  # batched rows round differently


@pytest.mark.parametrize("tau", [0.3, 1.0])
def test_locked_positions_take_no_part(tau: float) -> None:
    table = ConditionalTable.random(4, 3, np.random.default_rng(5))
    state, free = torch.tensor([2, 0, 1, 1]), [0, 3]
    space = StateSpace.around(table, state, free)
    here = int(space.encode(state[None])[0])
    found = profile(table, state, tau, torch.tensor(free))
    assert found.holding == pytest.approx(transition_matrix(table, space, tau, free)[here, here], abs=1e-12)
    assert found.defined.tolist() == [True, False, False, True]
    assert np.isnan(found.margin[[1, 2]]).all() and np.isnan(found.entropy[[1, 2]]).all()


def test_more_positions_than_one_batch() -> None:
    state = [int(k % 3 == 0) for k in range(37)]
    check(CurieWeiss(1.3), state, 0.8, list(range(37)))
    check(CurieWeiss(1.3), state, 0.8, list(range(0, 37, 2)))


# -- very deep, very cold ---------------------------------------------------------------------------------------------


def test_a_margin_of_a_thousand_nats_at_tau_a_tenth() -> None:
    weights = torch.tensor([[1000.0, 0.0], [0.0, 0.0]], dtype=torch.float64)
    found = profile(JointTable(weights), torch.tensor([0, 0]), 0.1, torch.arange(2))
    assert found.margin.tolist() == [1000.0, 1000.0]
    assert found.log_exit == pytest.approx(-10_000, rel=1e-12)  # two ways out, each e^-10000, half the time each
    assert found.exit_rate == 0.0 and found.holding == 1.0 and found.dwell == math.inf
    assert verdict(found, 2).kind == "perfect"


@pytest.mark.parametrize("exit_rate", [1e-18, 1e-6, 0.3, 0.999])
def test_a_stated_exit_rate_is_found_to_every_digit(exit_rate: float) -> None:
    trap = ConditionalTable.random(3, 5, np.random.default_rng(6)).with_trap([4, 0, 2], exit_rate, tau=0.4)
    found = profile(trap, torch.tensor([4, 0, 2]), 0.4, torch.arange(3))
    assert found.exit_rate == pytest.approx(exit_rate, rel=1e-9)  # 1 - h would be 0 below 1e-16
    assert found.dwell == pytest.approx(1 / exit_rate, rel=1e-9)


def test_the_sum_bound_holds() -> None:
    """q <= (1/n) sum_i sum_{v != x_i} exp(-(l_i(x_i) - l_i(v)) / tau) <= (|V| - 1) exp(-gamma / tau)."""
    for seed in range(5):
        trap = ConditionalTable.random(3, 5, np.random.default_rng(seed)).with_trap([1, 1, 3], 0.01)
        state, tau = torch.tensor([1, 1, 3]), 0.8
        found = profile(trap, state, tau, torch.arange(3))
        logits = trap(state.expand(3, -1), torch.arange(3)).numpy()
        gaps = logits[np.arange(3), state.numpy()][:, None] - logits
        total = (np.exp(-gaps / tau).sum(axis=1) - 1).mean()
        gamma = found.margin.min()
        assert gamma > 0 and found.exit_rate <= total <= 4 * math.exp(-gamma / tau)


def test_absorbed_at_tau_zero() -> None:
    found = profile(CurieWeiss(1.0), torch.ones(5, dtype=torch.int64), 0.0, torch.arange(5))
    assert found.log_exit == -math.inf and found.exit_rate == 0.0
    assert found.holding == 1.0 and found.dwell == math.inf and found.argmax.all()
    assert found.log_prob.tolist() == [0.0] * 5 and found.entropy.tolist() == [0.0] * 5
    summary = found.summary(3)
    assert summary["log_exit"] == -math.inf and summary["argmax"] == 5


def test_ties_at_tau_zero_go_to_the_lowest_id() -> None:
    flat = JointTable(torch.zeros(3, 3, dtype=torch.float64))
    assert profile(flat, torch.tensor([0, 0]), 0.0, torch.arange(2)).holding == 1.0
    found = profile(flat, torch.tensor([0, 2]), 0.0, torch.arange(2))
    assert found.holding == 0.5 and found.argmax.tolist() == [True, False]
    assert found.margin.tolist() == [0.0, 0.0] and found.log_prob.tolist() == [0.0, -math.inf]
    assert verdict(profile(flat, torch.tensor([0, 0]), 0.0, torch.arange(2)), 2) == Verdict("approximate", "holding", 0)


# -- tokens outside the vocabulary ------------------------------------------------------------------------------------


def test_positions_outside_the_vocabulary_are_left_out() -> None:
    barred = Bigram.from_sequences([[0, 1, 2, 3]] * 3, 4, mask(1, 1, 0, 1))
    check(barred, [0, 2, 1], 0.7, [0, 1, 2])
    found = profile(barred, torch.tensor([0, 2, 1]), 0.7, torch.arange(3))
    assert found.defined.tolist() == [True, False, True] and not found.argmax[1]
    assert verdict(found, 3).skipped == 1
    summary = found.summary(0)
    assert summary["defined"] == 2 and math.isfinite(summary["min_margin"])
    empty = profile(barred, torch.tensor([2, 2, 2]), 0.7, torch.arange(3))
    assert verdict(empty, 3) == Verdict("unknown", "none", 3)
    assert math.isnan(empty.summary(0)["min_margin"])


def test_nothing_free() -> None:
    found = profile(CurieWeiss(1.0), torch.zeros(3, dtype=torch.int64), 0.5, torch.empty(0, dtype=torch.int64))
    assert math.isnan(found.log_exit) and not found.defined.any() and verdict(found, 0).kind == "unknown"


def test_a_summary_holds_plain_numbers() -> None:
    summary = profile(CurieWeiss(1.0), torch.tensor([0, 0, 1]), 0.5, torch.arange(3)).summary(12)
    assert json.loads(json.dumps(summary)) == summary
    assert summary["step"] == 12 and summary["tau"] == 0.5 and summary["defined"] == 3


# -- verdicts ---------------------------------------------------------------------------------------------------------


def figures(margins: list[float], holding: float, undefined: int = 0) -> StateProfile:
    n = len(margins) + undefined
    margin = np.array(margins + [math.nan] * undefined)
    defined = np.array([True] * len(margins) + [False] * undefined, dtype=bool)
    log_exit = math.log1p(-holding) if margins and holding < 1 else (-math.inf if margins else math.nan)
    return StateProfile(np.zeros(n), np.zeros(n), margin, defined, defined, log_exit, 1.0)


STAYS, LEAVES = np.zeros((161, 8), dtype=np.int64), np.eye(8, dtype=np.int64)


@pytest.mark.parametrize(
    "margins, holding, recent, wanted",
    [
        ([0.1, 2.0], 0.2, None, ("perfect", "margins")),  # at any temperature: margins alone decide
        ([0.1, 0.0], 0.2, None, ("wandering", "none")),  # a tie is no trap
        ([-0.1, 2.0], 0.98999, None, ("wandering", "none")),
        ([-0.1, 2.0], 0.99001, None, ("approximate", "holding")),
        ([-0.1, 2.0], 1.0, LEAVES, ("approximate", "holding")),
        ([-0.1] * 8, 0.1, STAYS, ("approximate", "window")),
        ([-0.1] * 8, 0.1, LEAVES * 3, ("wandering", "none")),
        ([0.1] * 8, 0.1, LEAVES * 3, ("perfect", "margins")),
    ],
)
def test_verdicts(margins: list[float], holding: float, recent: np.ndarray | None, wanted: tuple[str, str]) -> None:
    found = verdict(figures(margins, holding), len(margins), recent)
    assert (found.kind, found.reason, found.skipped) == (*wanted, 0)


def test_verdicts_skip_what_is_undefined_and_say_so() -> None:
    assert verdict(figures([0.5], 0.5, undefined=2), 3) == Verdict("perfect", "margins", 2)
    assert verdict(figures([], 0.5, undefined=3), 3) == Verdict("unknown", "none", 3)


def test_the_threshold_can_be_moved() -> None:
    assert verdict(figures([-1.0], 0.8), 1, hold=0.75).kind == "approximate"
    assert HOLD == 0.99 and WINDOW_SWEEPS == 20


def test_confined_against_brute_force() -> None:
    rng = np.random.default_rng(8)
    answers = []
    for _ in range(300):
        states = rng.integers(0, 2, (int(rng.integers(1, 7)), 6))
        radius = float(rng.integers(1, 4))
        wanted = any(all((a != b).sum() <= radius for b in states) for a in states)
        assert confined(states, radius) == wanted
        answers.append(wanted)
    assert 30 < sum(answers) < 270  # both answers are tried
    assert confined(np.zeros((1, 4), dtype=np.int64), 1)


def test_many_different_states_are_never_confined_to_a_small_ball() -> None:
    states = np.arange(600)[:, None] // np.array([1, 5, 25, 125]) % 5
    assert not confined(states, 1)


def test_a_ball_may_hold_any_number_of_states() -> None:
    rng = np.random.default_rng(0)
    states = np.zeros((1300, 512), dtype=np.int64)
    for k in range(1, len(states)):  # 64 of 512 words are redrawn, about twenty times each
        states[k] = states[k - 1]
        states[k, rng.integers(64)] = rng.integers(30_000)
    assert len(np.unique(states, axis=0)) > 512
    assert confined(states, 64)
