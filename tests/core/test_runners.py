"""The batched runner: the same paths as one chain at a time, and clear refusals."""

from __future__ import annotations

import pytest
import torch

from glauber_core.chain import Chain
from glauber_core.errors import UserError
from glauber_core.exact import CurieWeiss, JointTable
from glauber_core.runners import Trajectory, run
from glauber_core.shape import EvaluationShape
from tests.exact.models import every
from tests.models.checkpoints import FAMILIES, model

SPINS = CurieWeiss(0.8)


def zeros(count: int, n: int) -> torch.Tensor:
    return torch.zeros(count, n, dtype=torch.int64)


def replay(done: Trajectory) -> torch.Tensor:
    """The final states, from the steps alone; every old token must be the one that is there."""
    tokens = done.start.clone()
    rows = torch.arange(len(tokens))
    for position, old, new in zip(done.position, done.old, done.new, strict=True):
        assert torch.equal(tokens[rows, position], old)
        tokens[rows, position] = new
    return tokens


@pytest.mark.parametrize("name", every())
def test_the_steps_lead_from_start_to_final(name: str) -> None:
    conditionals, n = every()[name]
    start = torch.nonzero(conditionals.allowed)[0].repeat(7, n)
    done = run(conditionals, start, [0.0, 0.3, 0.7, 1.0, 2.0, 5.0, 1e6], 300, seed=1)
    assert done.new.shape == (300, 7) and torch.equal(replay(done), done.final)
    assert bool(conditionals.allowed[done.new].all()) and bool((done.log_prob <= 1e-12).all())
    assert bool((done.log_prob[:, 0] == 0).all())  # tau = 0 draws the argmax
    assert not torch.equal(done.new[:, 3], done.new[:, 4])


@pytest.mark.parametrize("family", FAMILIES)
def test_a_row_is_the_chain_of_the_same_key(family: str) -> None:
    lm = model(family)
    ids = lm.vocabulary.encode("the cat sat").ids
    done = run(lm, torch.tensor([ids, ids]), [0.8, 2.0], 40, seed=6, chains=[3, 4], shape=EvaluationShape(1, 1))
    for column, (stream, tau) in enumerate(((3, 0.8), (4, 2.0))):
        chain = Chain(lm, ids, 6, tau, chain=stream, shape=EvaluationShape(1, 1))
        entries = chain.advance(40)
        assert [e.new for e in entries] == done.new[:, column].tolist()
        assert [e.position for e in entries] == done.position[:, column].tolist()
        assert [e.log_prob for e in entries] == done.log_prob[:, column].tolist()


def test_paths_longer_than_a_block_continue() -> None:
    short, long = run(SPINS, zeros(2, 5), 1.0, 255, seed=3), run(SPINS, zeros(2, 5), 1.0, 515, seed=3)
    assert torch.equal(long.new[:255], short.new) and torch.equal(replay(long), long.final)


def test_locked_positions_never_move() -> None:
    done = run(SPINS, zeros(3, 6), 5.0, 200, locked=[0, 5])
    assert set(done.position.flatten().tolist()) == {1, 2, 3, 4}
    assert bool((done.final[:, [0, 5]] == 0).all())


def test_no_step_at_all() -> None:
    done = run(SPINS, zeros(2, 4), 1.0, 0)
    assert torch.equal(done.final, zeros(2, 4)) and done.new.shape == done.log_prob.shape == (0, 2)


def test_the_start_is_not_mutated() -> None:
    start = zeros(2, 4)
    run(SPINS, start, 10.0, 50)
    assert torch.equal(start, zeros(2, 4))


def test_chains_with_one_key_are_equal_and_others_differ() -> None:
    done = run(SPINS, zeros(3, 8), 2.0, 100, seed=1, chains=[4, 4, 5])
    assert torch.equal(done.new[:, 0], done.new[:, 1]) and not torch.equal(done.new[:, 0], done.new[:, 2])
    other = run(SPINS, zeros(1, 8), 2.0, 100, seed=2, chains=[4])
    assert not torch.equal(other.new[:, 0], done.new[:, 0])


def test_refusals() -> None:
    with pytest.raises(UserError, match="one chain id and one temperature"):
        run(SPINS, zeros(2, 4), [1.0], 5)
    with pytest.raises(UserError, match="one chain id and one temperature"):
        run(SPINS, zeros(2, 4), 1.0, 5, chains=[0])
    with pytest.raises(UserError, match="cannot be negative"):
        run(SPINS, zeros(1, 4), -1.0, 5)
    with pytest.raises(UserError, match="finite"):
        run(SPINS, zeros(1, 4), float("nan"), 5)
    with pytest.raises(UserError, match="cannot be negative"):
        run(SPINS, zeros(1, 4), 1.0, -5)
    with pytest.raises(UserError, match="seed"):
        run(SPINS, zeros(1, 4), 1.0, 5, seed=-1)
    with pytest.raises(UserError, match="seed"):
        run(SPINS, zeros(1, 4), 1.0, 5, chains=[-1])
    with pytest.raises(UserError, match="at least one word"):
        run(SPINS, zeros(1, 0), 1.0, 5)
    with pytest.raises(UserError, match="Every word is locked"):
        run(SPINS, zeros(1, 2), 1.0, 5, locked=[0, 1])
    with pytest.raises(UserError, match="is for 3 positions"):
        run(JointTable(torch.zeros(2, 2, 2, dtype=torch.float64)), zeros(1, 4), 1.0, 5)
