"""The canonical evaluation shape: a chain's bits do not depend on its company, its slot or the number of chains."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from glauber_core.chain import Chain
from glauber_core.errors import UserError
from glauber_core.exact import CurieWeiss
from glauber_core.kernels import init, step
from glauber_core.models import MaskedLM
from glauber_core.runners import run
from glauber_core.shape import EvaluationShape, canonical_step, shape_for, threads, versions
from glauber_core.streams import uniforms
from glauber_core.types import Conditionals
from tests.exact.models import every
from tests.models.checkpoints import FAMILIES, named

MODELS = (*FAMILIES, "glauber-mini")
ROWS = (1, 4, 16)


def some_states(lm: MaskedLM, count: int, n: int, seed: int) -> torch.Tensor:
    allowed = torch.nonzero(lm.allowed)[:, 0]
    return allowed[torch.randint(len(allowed), (count, n), generator=torch.Generator().manual_seed(seed))]


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("name", MODELS)
def test_logits_do_not_depend_on_company_or_slot(name: str, rows: int) -> None:
    lm = named(name)
    generator = torch.Generator().manual_seed(rows)
    for n in (1, 5, 14) if name == "glauber-mini" else (1, 2, 5, 14, 33):
        mine, position = some_states(lm, 1, n, seed=n)[0], n // 2
        found = []
        for slot in sorted({0, 1, rows // 2, rows - 1} & set(range(rows))):
            states = some_states(lm, rows, n, seed=100 * n + slot)
            positions = torch.randint(n, (rows,), generator=generator)
            states[slot], positions[slot] = mine, position
            found.append(lm(states, positions)[slot])
        found.append(lm(mine.expand(rows, -1), torch.full((rows,), position))[rows - 1])  # dummies of itself
        assert all(torch.equal(row, found[0]) for row in found), n


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("name", MODELS)
def test_a_path_does_not_depend_on_how_many_chains_run(name: str, rows: int) -> None:
    lm = named(name)
    shape = EvaluationShape(rows, torch.get_num_threads())
    start = some_states(lm, 1, 7, seed=3)
    steps = 4 if name == "glauber-mini" else 10
    counts = {1: (1, 2), 4: (1, 5), 16: (1, 17)}[rows]
    paths = []
    for count in counts:
        company = some_states(lm, count, 7, seed=count)
        for slot in {0, count - 1}:
            company[slot] = start[0]
            ids = [50 + k for k in range(count)]
            ids[slot] = 9
            taus = [float(1 + k) for k in range(count)]
            taus[slot] = 1.5
            done = run(lm, company, taus, steps, seed=4, chains=ids, shape=shape)
            paths.append((done.position[:, slot], done.new[:, slot], done.log_prob[:, slot]))
    for path in paths[1:]:
        assert all(torch.equal(a, b) for a, b in zip(path, paths[0], strict=True))


@pytest.mark.parametrize("name", every())
def test_exact_models_too(name: str) -> None:
    model, n = every()[name]
    start = torch.nonzero(model.allowed)[0].repeat(1, n)
    alone = run(model, start, 0.8, 60, seed=2, chains=[5])
    for count in (3, 20):
        together = run(model, start.expand(count, -1), 0.8, 60, seed=2, chains=[5 + k for k in range(count)])
        assert torch.equal(together.new[:, 0], alone.new[:, 0])
        assert torch.equal(together.log_prob[:, 0], alone.log_prob[:, 0])


class Counting:
    """Conditionals that note how many rows they are asked for."""

    def __init__(self, inner: Conditionals) -> None:
        self.inner, self.asked = inner, list[int]()
        self.threads = list[int]()
        self.vocab_size, self.allowed = inner.vocab_size, inner.allowed

    def __call__(self, states: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        self.asked.append(len(states))
        self.threads.append(torch.get_num_threads())
        return self.inner(states, positions)


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("count", [1, 2, 4, 15, 16, 17, 33])
def test_every_batch_has_exactly_the_rows_of_the_shape(rows: int, count: int) -> None:
    model = Counting(CurieWeiss(0.7))
    state = init(torch.zeros(count, 4, dtype=torch.int64))
    uniform = torch.from_numpy(np.concatenate([uniforms(0, c, 0, 1) for c in range(count)]))
    tau = torch.linspace(0, 2, count, dtype=torch.float64)
    after, info = canonical_step(model, EvaluationShape(rows, 1), state, uniform, tau, torch.arange(4))
    assert model.asked == [rows] * -(-count // rows) and set(model.threads) == {1}
    wanted, what = step(CurieWeiss(0.7), state, uniform, tau, torch.arange(4))
    assert torch.equal(after.tokens, wanted.tokens) and torch.equal(after.steps, wanted.steps)
    assert all(torch.equal(a, b) for a, b in zip(info, what, strict=True))


def test_threads_are_those_of_the_shape_and_are_put_back() -> None:
    before = torch.get_num_threads()
    model = Counting(CurieWeiss(0.7))
    shape = EvaluationShape(1, 2)
    canonical_step(
        model, shape, init(torch.zeros(1, 4, dtype=torch.int64)), torch.full((1, 2), 0.5).double(),
        torch.ones(1, dtype=torch.float64), torch.arange(4),
    )  # fmt: skip
    assert model.threads == [2] and torch.get_num_threads() == before
    with pytest.raises(RuntimeError), threads(2):
        raise RuntimeError
    assert torch.get_num_threads() == before


def test_default_shapes() -> None:
    assert [shape_for(CurieWeiss(1), c).rows for c in (1, 2, 4, 5, 16, 64)] == [1, 4, 4, 16, 16, 16]
    found = shape_for(named("bert"), 1)
    kernels = named("bert").kernels
    assert found == EvaluationShape(1, torch.get_num_threads(), "cpu", "float32", kernels)
    assert kernels in ("packed", "plain") and shape_for(CurieWeiss(1), 1).kernels == "plain"
    assert shape_for(CurieWeiss(1), 1).dtype == "float64"
    wanted = {"rows": 1, "threads": found.threads, "device": "cpu", "dtype": "float32", "kernels": kernels}
    assert found.as_dict() == wanted | {"states": 1}


def test_conditionals_may_keep_to_a_shape_of_their_own() -> None:
    model = Counting(CurieWeiss(0.7))
    model.shape, model.fills_up = EvaluationShape(8, 1, states=0), True  # type: ignore[attr-defined]
    assert shape_for(model, 1) is shape_for(model, 64) is model.shape  # type: ignore[attr-defined]
    state = init(torch.zeros(5, 4, dtype=torch.int64))
    uniform = torch.from_numpy(np.concatenate([uniforms(0, c, 0, 1) for c in range(5)]))
    tau = torch.linspace(0, 2, 5, dtype=torch.float64)
    after, info = canonical_step(model, shape_for(model, 5), state, uniform, tau, torch.arange(4))
    assert model.asked == [5]  # no dummy rows: it fills up itself
    wanted, what = step(CurieWeiss(0.7), state, uniform, tau, torch.arange(4))
    assert torch.equal(after.tokens, wanted.tokens)
    assert all(torch.equal(a, b) for a, b in zip(info, what, strict=True))
    with pytest.raises(UserError, match="locked"):
        canonical_step(model, shape_for(model, 5), state, uniform, tau, torch.arange(0))


def test_versions_name_what_can_change_a_bit() -> None:
    found = versions()
    assert {"python", "machine", "torch", "transformers", "tokenizers", "numpy", "glauber-explorer"} == set(found)
    assert found["torch"].startswith(torch.__version__.split("+")[0]) and all(found.values())


def test_the_record_states_the_shape() -> None:
    shape = EvaluationShape(4, 1)
    assert Chain(named("bert"), [15, 16], 0, 1.0, shape=shape).header.shape == shape.as_dict()
