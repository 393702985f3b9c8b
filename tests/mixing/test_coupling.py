"""Coupled pairs: their stream, one row for equal sentences, paths that depend on nothing but their own key."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from glauber_core import streams
from glauber_core.errors import Cancelled, UserError
from glauber_core.exact import ConditionalTable, CurieWeiss
from glauber_core.mixing import coupling, pair_stream
from glauber_core.mixing.coupling import APART, maximal_draw
from glauber_core.mixing.meeting import Meetings, run_coupled
from glauber_core.mixing.pair_stream import pair_uniforms
from glauber_core.mixing.tempered import Tempered
from glauber_core.models import MaskedLM
from glauber_core.shape import EvaluationShape
from tests.exact.models import incompatible, mask
from tests.models.checkpoints import model as checkpoint

ROWS = EvaluationShape(rows=4, threads=1, dtype="float64")


class Counting:
    """A model that counts its rows and gives away, a little, which place of which batch a row had."""

    def __init__(self, jitter: float = 0.0) -> None:
        self.inner, self.jitter = incompatible()["conditional-barred"][0], jitter
        self.vocab_size, self.allowed = self.inner.vocab_size, self.inner.allowed
        self.batches: list[int] = []

    def __call__(self, states: Tensor, positions: Tensor) -> Tensor:
        self.batches.append(len(states))
        noise = torch.rand((len(states), self.vocab_size), generator=torch.Generator().manual_seed(len(self.batches)))
        return self.inner(states, positions) + self.jitter * noise


def same(a: Meetings, b: Meetings) -> bool:
    pairs = [(a.steps, b.steps), (a.met, b.met), (a.final.x.numpy(), b.final.x.numpy())]
    return all(np.array_equal(p, q) for p, q in [*pairs, (a.final.y.numpy(), b.final.y.numpy())])


# -- streams ----------------------------------------------------------------------------------------------------------


def test_stream_is_addressable_and_apart_from_the_others() -> None:
    whole = pair_uniforms(3, 5, 0, 40)
    assert whole.shape == (40, 4) and (whole >= 0).all() and (whole < 1).all()
    assert np.array_equal(pair_uniforms(3, 5, 17, 6), whole[17:23])
    others = [pair_uniforms(3, 6, 0, 40), pair_uniforms(4, 5, 0, 40)]
    others += [streams.uniforms(3, 5, 0, 40), streams.wait_uniforms(3, 5, 0, 40)]
    for other in others:
        assert not np.isin(other, whole).any()
    assert pair_stream.PAIRS not in (streams._STEPS, streams._WAITS)


# -- the draw ---------------------------------------------------------------------------------------------------------


def test_tokens_differ_exactly_below_the_total_variation() -> None:
    p, q = torch.tensor([[[0.5, 0.3, 0.2, 0.0]], [[0.1, 0.3, 0.2, 0.4]]], dtype=torch.float64)
    for coin, together in ((0.0, False), (0.3999, False), (0.4001, True), (1 - 2**-53, True)):
        x, y, tv = maximal_draw(p, q, torch.tensor([[coin, 0.99, 0.01]], dtype=torch.float64))
        assert float(tv[0]) == pytest.approx(0.4, abs=1e-15)
        assert bool(x[0] == y[0]) is together
        assert together or (int(x[0]), int(y[0])) == (0, 3)  # what is left of p, and of q


@pytest.mark.parametrize("uniform", [0.0, 0.5, 1 - 2**-53])
def test_a_token_without_mass_is_never_drawn(uniform: float) -> None:
    p, q = torch.tensor([[[0, 1, 0, 0]], [[0, 0, 0.7, 0]]], dtype=torch.float64)
    assert [int(v) for v in maximal_draw(p, q, torch.full((1, 3), uniform, dtype=torch.float64))[:2]] == [1, 2]
    x, y, tv = maximal_draw(p, p, torch.full((1, 3), uniform, dtype=torch.float64))
    assert (int(x[0]), int(y[0]), float(tv[0])) == (1, 1, 0.0)


def test_laws_equal_up_to_rounding_stay_together() -> None:
    """What is left of one may be nothing while the other keeps a rounding error: then there is nothing to part over."""
    p, q = torch.tensor([[[0.25, 0.75 + 2**-53]], [[0.25, 0.75]]], dtype=torch.float64)
    assert bool((p != q).any())
    x, y, tv = maximal_draw(p, q, torch.zeros(1, 3).double())
    assert int(x[0]) == int(y[0]) == 0 and float(tv[0]) == 0.0


# -- steps ------------------------------------------------------------------------------------------------------------


def test_equal_sentences_stay_equal_whatever_the_rounding() -> None:
    """Rows of one sentence differ from place to place here; one row for both is what keeps the pair together."""
    model = Counting(jitter=3.0)
    start = torch.tensor([[0, 1, 3], [0, 1, 3], [3, 3, 3]])
    state = coupling.init(start, torch.tensor([[0, 1, 3], [0, 1, 3], [0, 0, 0]]))
    assert state.met.tolist() == [0, 0, APART] and state.distance.tolist() == [0, 0, 3]
    read, tau = Tempered(model, ROWS, 0), torch.ones(3).double()
    for t in range(200):
        uniform = torch.from_numpy(np.stack([pair_uniforms(1, k, t, 1)[0] for k in range(3)]))
        before = state.met != APART
        state, info = coupling.step(read, state, uniform, tau, torch.arange(3))
        assert bool((state.distance[before] == 0).all()) and bool((info.tv[before] == 0).all())
    assert set(model.batches) == {ROWS.rows}


def test_one_difference_ends_when_its_position_is_picked() -> None:
    x, y = torch.tensor([[0, 1, 3]]), torch.tensor([[0, 3, 3]])
    read = Tempered(Counting(jitter=3.0), ROWS, 0)
    picks_middle = torch.tensor([[0.5, 0.0, 0.9, 0.1]]).double()
    state, info = coupling.step(read, coupling.init(x, y), picks_middle, torch.ones(1).double(), torch.arange(3))
    assert int(info.position[0]) == 1 and float(info.tv[0]) == 0.0 and int(state.met[0]) == 1
    assert x.tolist() == [[0, 1, 3]] and y.tolist() == [[0, 3, 3]]


def test_argmax_temperature_and_tokens_outside_the_vocabulary() -> None:
    model = ConditionalTable.random(3, 3, np.random.default_rng(1), allowed=mask(1, 0, 1))
    done = run_coupled(model, torch.tensor([[1, 1, 1]]), torch.tensor([[0, 2, 1]]), 0.0, 400, shape=ROWS)
    tokens = set(done.final.x.flatten().tolist() + done.final.y.flatten().tolist())
    assert tokens <= {0, 2}


# -- runs -------------------------------------------------------------------------------------------------------------


def test_live_steps_are_the_run() -> None:
    model = Counting()
    x, y = torch.tensor([[0, 0, 0]]), torch.tensor([[3, 3, 1]])
    done = run_coupled(model, x, y, 0.5, 60, seed=2, pairs=[7], shape=ROWS, every=1)
    state, read, uniform = coupling.init(x, y), Tempered(model, ROWS), pair_uniforms(2, 7, 0, 60)
    distance = [int(state.distance[0])]
    while int(state.met[0]) == APART:
        row = torch.from_numpy(uniform[[int(state.steps[0])]])
        state, _ = coupling.step(read, state, row, torch.tensor([0.5]).double(), torch.arange(3))
        distance.append(int(state.distance[0]))
    assert int(state.met[0]) == int(done.steps[0]) == len(distance) - 1 and done.met[0]
    assert done.distance[:, 0].tolist() == distance and done.times.tolist() == list(range(len(distance)))


@pytest.mark.parametrize("limit", [0, 200, 10**6])
def test_a_pair_does_not_depend_on_its_company_nor_on_the_cache(limit: int) -> None:
    model = checkpoint("bert")
    assert isinstance(model, MaskedLM)
    x = torch.tensor([model.vocabulary.encode("the cat sat on the mat").ids]).expand(6, -1)
    y = torch.tensor([model.vocabulary.encode("a doctor told the patient to").ids[:6]]).expand(6, -1)
    shape = EvaluationShape(rows=4, threads=1, kernels=model.kernels)
    everyone = run_coupled(model, x, y, 0.8, 40, seed=3, shape=shape, cache_bytes=10**8)
    alone = [run_coupled(model, x[:1], y[:1], 0.8, 40, 3, [k], shape=shape, cache_bytes=limit) for k in range(6)]
    assert everyone.steps.tolist() == [int(one.steps[0]) for one in alone]
    assert everyone.final.x.tolist() == [one.final.x[0].tolist() for one in alone]
    assert everyone.final.y.tolist() == [one.final.y[0].tolist() for one in alone]


def test_conditionals_with_a_shape_of_their_own_are_asked_for_real_rows_alone() -> None:
    class Filling(Counting):
        fills_up = True

    x, y = torch.tensor([[0, 0, 0]] * 3), torch.tensor([[3, 3, 1]] * 3)
    own, plain = Filling(), Counting()
    done = run_coupled(own, x, y, 0.6, 80, seed=5, shape=ROWS, cache_bytes=0)
    assert same(done, run_coupled(plain, x, y, 0.6, 80, seed=5, shape=ROWS, cache_bytes=0))
    assert own.batches[0] == 6 and set(plain.batches) == {ROWS.rows}


def test_the_horizon_censors() -> None:
    x, y = torch.zeros(8, 6).long(), torch.ones(8, 6).long()
    long = run_coupled(CurieWeiss(0.5), x, y, 1.0, 10**4, shape=ROWS, every=3)
    assert long.met.all() and long.steps.max() < 10**4 and long.distance[-1].sum() >= 0
    cut = int(np.median(long.steps))
    short = run_coupled(CurieWeiss(0.5), x, y, 1.0, cut, shape=ROWS, every=3)
    assert np.array_equal(short.met, long.steps <= cut)
    assert np.array_equal(short.steps, np.minimum(long.steps, cut))
    assert same(short, run_coupled(CurieWeiss(0.5), x, y, 1.0, cut, shape=ROWS, cache_bytes=0))
    assert short.times.tolist() == [t for t in range(cut + 1) if t % 3 == 0]
    assert (short.distance[0] == 6).all()
    none = run_coupled(CurieWeiss(0.5), x, y, 1.0, 0, shape=ROWS)
    assert not none.met.any() and none.steps.tolist() == [0] * 8 and none.times.tolist() == [0]


def test_met_pairs_cost_nothing_and_cached_rows_are_not_read_again() -> None:
    model = Counting()
    x = torch.tensor([[0, 1, 3]])
    assert run_coupled(model, x, x, 1.0, 10**6, shape=ROWS).steps.tolist() == [0]
    assert model.batches == []
    cold = (torch.tensor([[0, 0, 0]]), torch.tensor([[3, 3, 3]]))
    kept, read = Counting(), Counting()
    a = run_coupled(kept, *cold, 0.05, 300, shape=ROWS)
    b = run_coupled(read, *cold, 0.05, 300, shape=ROWS, cache_bytes=0)
    assert same(a, b) and len(kept.batches) < len(read.batches) / 2


def test_progress_can_end_a_run() -> None:
    seen: list[tuple[int, int]] = []

    def progress(step: int, met: int) -> None:
        seen.append((step, met))
        if step == 5:
            raise Cancelled

    x, y = torch.zeros(3, 40).long(), torch.ones(3, 40).long()
    with pytest.raises(Cancelled):
        run_coupled(CurieWeiss(0.5), x, y, 1.0, 100, shape=ROWS, progress=progress)
    assert seen == [(t, 0) for t in range(1, 6)]
    seen.clear()
    done = run_coupled(CurieWeiss(0.5), x[:, :3], y[:, :3], 1.0, 10**4, shape=ROWS, progress=lambda t, m: None)
    assert done.met.all()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tau": -1.0}, "temperature"),
        ({"tau": [1.0]}, "one temperature"),
        ({"pairs": [1]}, "one pair id"),
        ({"seed": -1}, "seed"),
        ({"horizon": -1}, "horizon"),
        ({"every": 0}, "looked at"),
        ({"locked": [0, 1]}, "locked"),
        ({"y": torch.zeros(2, 3).long()}, "same number"),
        ({"x": torch.zeros(0, 2).long(), "y": torch.zeros(0, 2).long()}, "no pair"),
        ({"x": torch.zeros(2, 0).long(), "y": torch.zeros(2, 0).long()}, "one word"),
    ],
)
def test_bad_arguments(change: dict[str, object], words: str) -> None:
    given = {"x": torch.zeros(2, 2).long(), "y": torch.ones(2, 2).long(), "tau": 1.0, "horizon": 5}
    with pytest.raises(UserError, match=words):
        run_coupled(CurieWeiss(0.5), **(given | change))
