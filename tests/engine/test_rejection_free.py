"""The rejection-free and the hybrid runner: horizons, limits, paths that nobody's company changes, refusals."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch

from glauber_core.errors import UserError
from glauber_core.exact import ConditionalTable, CurieWeiss, Potts
from glauber_core.hybrid import Switch, run_hybrid
from glauber_core.profile import profile
from glauber_core.rejection_free import Jumps, Path, run_rejection_free
from glauber_core.runners import run
from glauber_core.shape import EvaluationShape
from glauber_core.waiting import FOREVER
from tests.exact.models import every
from tests.models.checkpoints import FAMILIES, named

SPINS = CurieWeiss(0.8)
RUNNERS = [run_rejection_free, run_hybrid]
Runner = Callable[..., Jumps]
both = pytest.mark.parametrize("runner", RUNNERS, ids=lambda f: f.__name__)


def zeros(count: int, n: int) -> torch.Tensor:
    return torch.zeros(count, n, dtype=torch.int64)


def trap(rate: float) -> ConditionalTable:
    return ConditionalTable.random(3, 3, np.random.default_rng(32)).with_trap([2, 0, 1], rate)


def equal(one: Path, two: Path) -> bool:
    """Bit for bit."""
    return all(np.array_equal(a, b, equal_nan=True) if isinstance(a, np.ndarray) else a == b or (a != a and b != b)
               for a, b in zip(one, two, strict=True))  # fmt: skip


@both
@pytest.mark.parametrize("name", every())
def test_the_changes_lead_from_start_to_final_and_the_steps_to_the_horizon(name: str, runner: Runner) -> None:
    model, n = every()[name]
    start = torch.nonzero(model.allowed)[0].repeat(7, n)
    done = runner(model, start, [0.0, 0.3, 0.7, 1.0, 2.0, 5.0, 1e6], 200, seed=1)
    for k, path in enumerate(done.paths):
        state = start[k].clone()
        for position, old, new in zip(path.position, path.old, path.new, strict=True):
            assert state[position] == old != new and bool(model.allowed[new])
            state[position] = new
        assert torch.equal(state, done.final[k])
        assert path.steps == 200 == sum(path.dwell) + path.held and path.held >= 0 and min(path.dwell, default=1) >= 1
        assert path.end == ("absorbed" if path.held_log_exit == -math.inf else "horizon")
        assert len(path.dwell) == len(path.new) == len(path.log_exit) == len(path.log_prob)
    assert torch.equal(done.start, torch.nonzero(model.allowed)[0].repeat(7, n))
    assert all(type(d) is int for path in done.paths for d in path.dwell)


@both
def test_the_state_at_a_horizon_is_the_one_held_then(runner: Runner) -> None:
    """Runs of one key that stop at 0, 1, 2, ... are all seen in the one that goes on."""
    start = torch.tensor([[2, 0, 1]])
    long = runner(trap(0.2), start, 1.0, 60, seed=3).paths[0]
    times = np.cumsum(long.dwell)
    for horizon in range(61):
        short = runner(trap(0.2), start, 1.0, horizon, seed=3)
        seen = int((times <= horizon).sum())
        path = short.paths[0]
        assert path.steps == horizon and path.new.tolist() == long.new[:seen].tolist()
        assert path.held == horizon - int(times[:seen][-1:].sum())


@both
def test_a_limit_of_changes(runner: Runner) -> None:
    done = runner(SPINS, zeros(5, 6), 1.0, changes=17, seed=2)
    assert [len(p.dwell) for p in done.paths] == [17] * 5 and {p.end for p in done.paths} == {"changes"}
    assert {p.held for p in done.paths} == {0} and len({p.steps for p in done.paths}) > 1
    first = runner(SPINS, zeros(5, 6), 1.0, horizon=8, changes=17, seed=2)
    assert {p.end for p in first.paths} == {"horizon"} and {p.steps for p in first.paths} == {8}
    none = runner(SPINS, zeros(5, 6), 1.0, changes=0)
    assert torch.equal(none.final, zeros(5, 6)) and {p.steps for p in none.paths} == {0}


@both
def test_exit_rates_are_those_of_the_profile(runner: Runner) -> None:
    done = runner(trap(1e-4), torch.tensor([[2, 0, 1]]), 1.0, changes=60, seed=4)
    path, state, seen = done.paths[0], torch.tensor([2, 0, 1]), 0
    for position, new, log_exit in zip(path.position, path.new, path.log_exit, strict=True):
        if not math.isnan(log_exit):
            assert log_exit == pytest.approx(profile(trap(1e-4), state, 1.0, torch.arange(3)).log_exit, rel=1e-12)
            seen += 1
        state[position] = new
    assert seen >= 1 and (runner is run_hybrid or seen == 60)


def test_waits_beyond_two_to_the_53_add_up_exactly() -> None:
    done = run_rejection_free(trap(1e-13), torch.tensor([[2, 0, 1]]), 1.0, changes=400, seed=5)
    (path,) = done.paths
    assert path.steps > 10**13 and path.steps == sum(int(d) for d in path.dwell)
    far = run_rejection_free(trap(1e-13), torch.tensor([[2, 0, 1]]), 1.0, horizon=2**70 + 1, changes=400, seed=5)
    assert equal(far.paths[0], path)
    total = path.steps - 1
    cut = run_rejection_free(trap(1e-13), torch.tensor([[2, 0, 1]]), 1.0, horizon=total, seed=5).paths[0]
    assert cut.steps == total and len(cut.dwell) == 399 and cut.held == path.dwell[-1] - 1


@both
def test_a_trap_of_1e_minus_300(runner: Runner) -> None:
    start = torch.tensor([[2, 0, 1]] * 40)
    done = runner(trap(1e-300), start, 1.0, changes=1, seed=6)
    scaled = np.array([p.dwell[0] * 1e-300 for p in done.paths])
    assert 0.4 < scaled.mean() < 2.0  # an exponential's mean of 40: within 6 standard errors
    deeper = runner(trap(1e-300), start, 0.1, horizon=10**40, seed=6)
    assert torch.equal(deeper.final, start) and {p.held for p in deeper.paths} == {10**40}
    assert all(p.end == "horizon" and p.held_log_exit < -6_000 for p in deeper.paths)
    assert {p.held for p in runner(trap(1e-300), start, 0.1, changes=1).paths} == {FOREVER}


@both
def test_absorbed_at_tau_zero(runner: Runner) -> None:
    done = runner(SPINS, torch.tensor([[0, 1, 0, 0, 1, 0]]), 0.0, changes=1_000)
    assert done.paths[0].end == "absorbed" and done.paths[0].held_log_exit == -math.inf
    assert (done.final[0] == 0).all() or (done.final[0] == 1).all()
    at = runner(SPINS, zeros(1, 6), 0.0, horizon=10**15)
    assert at.paths[0].end == "absorbed" and at.paths[0].held == 10**15 and at.paths[0].dwell == ()


@both
def test_locked_positions_never_move(runner: Runner) -> None:
    done = runner(SPINS, zeros(3, 6), 5.0, 200, locked=[0, 5])
    assert set(np.concatenate([p.position for p in done.paths])) == {1, 2, 3, 4}
    assert bool((done.final[:, [0, 5]] == 0).all())


# -- company ----------------------------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("states", [1, 4])
@pytest.mark.parametrize("name", (*FAMILIES, "glauber-mini"))
def test_a_path_does_not_depend_on_its_company(name: str, states: int, runner: Runner) -> None:
    lm = named(name)
    shape = EvaluationShape(1, torch.get_num_threads(), kernels=lm.kernels, states=states)
    mine = torch.tensor([lm.vocabulary.encode("the cat [MASK] the mat").ids])
    changes = 3 if name == "glauber-mini" else 20
    alone = runner(lm, mine, 0.5, changes=changes, seed=4, chains=[9], shape=shape).paths[0]
    for count, slot in ((3, 0), (5, 4)):
        generator = torch.Generator().manual_seed(count)
        drawn = torch.randint(int(lm.allowed.sum()), (count, mine.shape[1]), generator=generator)
        company = torch.nonzero(lm.allowed)[:, 0][drawn]
        company[slot] = mine[0]
        ids, taus = [50 + k for k in range(count)], [0.4 + k for k in range(count)]
        ids[slot], taus[slot] = 9, 0.5
        done = runner(lm, company, taus, changes=changes, seed=4, chains=ids, shape=shape)
        assert equal(done.paths[slot], alone)
    assert equal(runner(lm, mine, 0.5, changes=changes, seed=4, chains=[9], shape=shape).paths[0], alone)


def test_other_keys_other_paths() -> None:
    paths = [
        run_rejection_free(SPINS, zeros(1, 6), 2.0, changes=40, seed=s, chains=[c]).paths[0]
        for s, c in ((1, 0), (2, 0), (1, 1), (2, 1))
    ]
    assert not any(equal(a, b) for i, a in enumerate(paths) for b in paths[:i])


# -- the hybrid -------------------------------------------------------------------------------------------------------


def test_a_hot_hybrid_is_the_plain_chain() -> None:
    words = Potts(40, 1.0)
    done = run_hybrid(words, zeros(2, 8), 5.0, 300, seed=3)
    plain = run(words, zeros(2, 8), 5.0, 300, seed=3)
    assert torch.equal(done.final, plain.final)
    for k, path in enumerate(done.paths):
        moved = plain.new[:, k] != plain.old[:, k]
        assert path.reads == 0 and path.new.tolist() == plain.new[moved, k].tolist()
        assert np.cumsum(path.dwell).tolist() == (torch.nonzero(moved)[:, 0] + 1).tolist()
        assert path.log_prob.tolist() == plain.log_prob[moved, k].tolist() and np.isnan(path.log_exit).all()


@pytest.mark.usefixtures("restless")
def test_a_trapped_hybrid_waits_and_a_freed_one_steps() -> None:
    (path,) = run_hybrid(trap(1e-9), torch.tensor([[2, 0, 1]]), 1.0, horizon=10**10, seed=3).paths
    assert path.steps == 10**10 and 1 <= path.reads < 2_000
    kinds = np.isnan(path.log_exit)
    assert kinds.any() and not kinds.all()


def test_the_rule() -> None:
    rule = Switch(20)  # a read costs 6 steps: 32 steps are looked at, 2 changes among them are few
    for k in range(32):
        assert not rule.waiting
        rule.saw(1, k in (0, 1))
    assert rule.waiting
    for _ in range(7):
        rule.saw(6, True)
        assert rule.waiting
    rule.saw(6, True)  # 48 steps for 8 moves: just worth it
    assert rule.waiting
    rule.saw(5, True)
    assert not rule.waiting
    for k in range(200):  # between the two rates nothing turns: 4 of every 32
        rule.saw(1, k % 8 == 0)
        assert not rule.waiting


def test_one_free_word() -> None:
    rule = Switch(1)
    assert rule.cost == 1.0
    done = run_hybrid(SPINS, zeros(2, 3), 1.0, 100, locked=[0, 2, 2, 7])
    assert {p.steps for p in done.paths} == {100}


# -- refusals ---------------------------------------------------------------------------------------------------------


@both
def test_refusals(runner: Runner) -> None:
    for arguments, reason in (
        ({}, "how far to go"),
        ({"horizon": -1}, "cannot be negative"),
        ({"changes": -1}, "cannot be negative"),
        ({"horizon": 5, "seed": -1}, "seed"),
        ({"horizon": 5, "chains": [-1]}, "seed"),
        ({"horizon": 5, "chains": [1, 2]}, "one chain id and one temperature"),
        ({"horizon": 5, "locked": [0, 1, 2, 3]}, "Every word is locked"),
    ):
        with pytest.raises(UserError, match=reason):
            runner(SPINS, zeros(1, 4), 1.0, **arguments)
    for tau, reason in ((-1.0, "cannot be negative"), (math.nan, "finite"), ([1.0, 2.0], "one temperature for each")):
        with pytest.raises(UserError, match=reason):
            runner(SPINS, zeros(1, 4), tau, 5)
    with pytest.raises(UserError, match="no chain"):
        runner(SPINS, zeros(0, 4), 1.0, 5)
    with pytest.raises(UserError, match="at least one word"):
        runner(SPINS, zeros(1, 0), 1.0, 5)
