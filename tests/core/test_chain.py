"""A chain: its path and record, rewinding, looking at any step, and what it refuses."""

from __future__ import annotations

import json
import math
import threading

import pytest
import torch

from glauber_core.chain import Chain
from glauber_core.errors import UserError
from glauber_core.exact import ConditionalTable, CurieWeiss, StateSpace, transition_matrix
from glauber_core.kernels import init, step
from glauber_core.models import MaskedLM
from glauber_core.record import Entry, RunRecord
from glauber_core.runners import run
from glauber_core.shape import EvaluationShape
from glauber_core.streams import uniforms
from tests.core.chains import START, TABLE, chain, path
from tests.models.checkpoints import FAMILIES, model, named

# -- the path ---------------------------------------------------------------------------------------------------------


def test_the_path_is_the_kernel_on_the_chains_stream() -> None:
    mine = chain(seed=9, tau=0.8, chain=2)
    state, draws = init(torch.tensor([START])), uniforms(9, 2, 0, 300)
    tau = torch.tensor([0.8], dtype=torch.float64)
    for entry, uniform in zip(mine.advance(300), draws, strict=True):
        state, info = step(TABLE, state, torch.from_numpy(uniform)[None], tau, torch.arange(3))
        assert entry.kind == "step" and entry.tau == 0.8
        assert (entry.position, entry.old, entry.new) == tuple(int(x) for x in (info.position, info.old, info.new))
        assert (entry.log_prob, entry.entropy, entry.margin) == tuple(
            float(x) for x in (info.log_prob, info.entropy, info.margin)
        )
    assert mine.tokens == state.tokens[0].tolist()


@pytest.mark.parametrize("name", (*FAMILIES, "glauber-mini"))
def test_same_seed_same_path_in_pieces_in_a_thread_and_beside_another(name: str) -> None:
    lm = named(name)
    ids, steps = lm.vocabulary.encode("the cat [MASK] water").ids, 8 if name == "glauber-mini" else 40
    shape = EvaluationShape(1, 1, kernels=lm.kernels)
    whole = path(Chain(lm, ids, 3, 1.5, shape=shape).advance(steps))
    pieces, other = Chain(lm, ids, 3, 1.5, shape=shape), Chain(lm, ids, 3, 1.5, chain=1, shape=shape)
    found: list[Entry] = []
    while len(found) < steps:
        found += pieces.advance(min(3, steps - len(found)))
        other.advance(2)
    assert path(found) == whole
    result: list[Entry] = []
    worker = threading.Thread(target=lambda: result.extend(Chain(lm, ids, 3, 1.5, shape=shape).advance(steps)))
    worker.start()
    Chain(lm, ids, 8, 3.0, shape=shape).advance(steps)
    worker.join()
    assert path(result) == whole
    assert path(other.record.entries[:steps]) != whole[: len(other.record)]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_stored_run_is_continued_as_if_it_had_never_stopped(family: str) -> None:
    lm = named(family)
    ids = lm.vocabulary.encode("the cat sat").ids
    whole = Chain(lm, ids, 4, 1.2)
    whole.advance(30)
    record = RunRecord.from_dict(json.loads(whole.record.to_json()))
    # The same key and start, and the shape of the record: the chain says again what it said.
    again = Chain(lm, record.header.start, record.header.seed, 1.2, shape=EvaluationShape(**record.header.shape))
    assert path(again.advance(30)) == path(record.entries)
    assert path(again.advance(10)) == path(whole.advance(10))


def test_different_seeds_and_streams_differ() -> None:
    paths = {tuple(path(c.advance(60))) for c in (chain(1), chain(2), chain(1, chain=1), chain(2, chain=1))}
    assert len(paths) == 4


@pytest.mark.parametrize("family", FAMILIES)
def test_hot_chains_never_leave_the_vocabulary(family: str) -> None:
    """No special, mask, unknown, unused or foreign id, though every chain begins on one."""
    lm: MaskedLM = named(family)
    start = torch.tensor([lm.vocabulary.encode("the [MASK]").ids]).repeat(16, 1)
    done = run(lm, start, 10.0, 120, seed=11)
    drawn = set(done.new.flatten().tolist())
    assert bool(lm.allowed[sorted(drawn)].all()) and len(drawn) > int(lm.allowed.sum()) * 0.6
    assert bool(lm.allowed[done.final].all())
    one = Chain(lm, start[0].tolist(), 11, 10.0)
    assert bool(lm.allowed[[e.new for e in one.advance(60)]].all())


# -- the record -------------------------------------------------------------------------------------------------------


def test_header() -> None:
    mine = Chain(TABLE, START, 5, 0.7, chain=3, start_text="x y z")
    head = mine.header
    assert (head.start, head.seed, head.chain, head.start_text, head.parent) == ((3, 0, 1), 5, 3, "x y z", None)
    assert head.model == TABLE.name and head.model_hash == TABLE.model_hash and "torch" in head.versions
    assert head.shape["rows"] == 1
    assert mine.record.events == [{"step": 0, "kind": "settings", "tau": 0.7, "schedule": "constant", "sweeps": 20.0}]


def test_rewinding_reads_the_record() -> None:
    mine = chain()
    states = [mine.tokens]
    for k in range(600):
        mine.advance(1) if k % 7 else mine.edit(k % 3, (0, 1, 3)[k % 5 % 3])
        states.append(mine.tokens)
    assert mine.steps == 600
    for k in (0, 1, 255, 256, 257, 512, 599, 600):
        assert mine.record.state_at(k).tolist() == states[k]


# -- looking ----------------------------------------------------------------------------------------------------------


def test_the_conditional_as_a_person_looks_at_it() -> None:
    mine = chain(tau=0.4)
    view = mine.conditional(1, top=2)
    logits = TABLE(torch.tensor([START]), torch.tensor([1]))[0]
    p, one = (torch.softmax(logits / tau, 0) for tau in (0.4, 1.0))
    order = torch.sort(logits, descending=True).indices.tolist()
    assert [c.token for c in view.top] == order[:2] and [c.rank for c in view.top] == [1, 2]
    assert [c.prob for c in view.top] == pytest.approx(p[order[:2]].tolist())
    assert [c.prob_one for c in view.top] == pytest.approx(one[order[:2]].tolist())
    assert view.current is not None and view.current.token == 0
    assert view.current.rank == order.index(0) + 1 and view.current.prob == pytest.approx(float(p[0]))
    assert view.other == pytest.approx(1 - sum(c.prob for c in view.top))
    assert view.entropy == pytest.approx(float(torch.special.entr(p).sum()))
    assert view.entropy_one == pytest.approx(float(torch.special.entr(one).sum())) and view.tau == 0.4
    assert [c.token for c in mine.conditional(1).top] == order[:3]  # never a token that cannot be drawn
    assert mine.steps == 0  # looking is not moving


def test_the_conditional_of_a_token_outside_the_vocabulary_has_no_current_one() -> None:
    assert Chain(TABLE, [2, 0, 1], 0, 1.0).conditional(0).current is None
    with pytest.raises(UserError, match="no position 4"):
        chain().conditional(3)


def test_the_conditional_at_tau_zero() -> None:
    view = chain(tau=0.0).conditional(0)
    assert view.top[0].prob == 1.0 and view.entropy == 0.0 and view.other == 0.0 and view.entropy_one > 0


def test_old_steps_are_seen_as_they_were() -> None:
    mine = chain(tau=0.3)
    now = mine.conditional(2), mine.look()[0]
    mine.advance(20)
    mine.set_tau(2.0)
    mine.advance(5)
    old = mine.conditional(2, step=0), mine.look(0)[0]
    assert old[0] == now[0] and old[0].tau == 0.3
    assert old[1].log_exit == now[1].log_exit and old[1].tau == 0.3
    assert mine.conditional(2).tau == 2.0


def test_a_step_that_does_not_exist_cannot_be_looked_at() -> None:
    mine = chain()
    mine.advance(2)
    for step_ in (3, 9, -1):
        with pytest.raises(UserError, match=f"no step {step_}"):
            mine.conditional(0, step=step_)
        with pytest.raises(UserError, match=f"no step {step_}"):
            mine.look(step_)
    assert mine.record.profiles == []


def test_whole_state_figures_are_kept_with_their_step() -> None:
    mine = chain(tau=0.6)
    mine.advance(7)
    figures, found = mine.look()
    space = StateSpace.full(TABLE, 3)
    here = int(space.encode(torch.tensor([mine.tokens]))[0])
    assert figures.holding == pytest.approx(transition_matrix(TABLE, space, 0.6)[here, here], abs=1e-12)
    assert mine.record.profiles == [{**figures.summary(7), "trap": found.kind}]
    mine.look(2)
    assert [p["step"] for p in mine.record.profiles] == [2, 7]


def test_a_chain_that_stays_near_one_sentence_for_twenty_sweeps_is_trapped() -> None:
    # One word of eight is drawn afresh at every visit, the rest stand still: within max(1, n / 8) = 1 of each other.
    logits = torch.zeros(8, 2**7, 2, dtype=torch.float64)
    logits[1:, :, 1] = 30.0
    mine = Chain(ConditionalTable(logits), [1] * 8, 0, 1.0)
    mine.advance(159)
    assert mine.look()[1].kind == "wandering"  # a tie at position 0, h about 0.94, and younger than the window
    mine.advance(1)
    found = mine.look()[1]
    assert (found.kind, found.reason) == ("approximate", "window")
    free = Chain(CurieWeiss(0.1), [1] * 8, 0, 1.0)
    free.advance(160)
    assert free.look()[1].kind == "wandering"


def test_the_ball_of_the_window_counts_free_positions_only() -> None:
    # 16 positions, 8 locked: the radius is max(1, 8 / 8) = 1. Two free words flip freely: distance 2, not confined.
    class TwoHot:
        vocab_size, allowed = 2, torch.ones(2, dtype=torch.bool)

        def __call__(self, states: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
            logits = torch.zeros(len(states), 2, dtype=torch.float64)
            logits[positions >= 2, 1] = 30.0
            return logits

    mine = Chain(TwoHot(), [1] * 16, 0, 1.0, locked=range(8, 16))
    mine.advance(20 * 8)
    assert mine.look()[1].kind == "wandering"


def test_a_perfect_trap() -> None:
    mine = Chain(CurieWeiss(1.0), [1] * 6, 0, 0.05)
    figures, found = mine.look()
    assert found.kind == "perfect" and figures.argmax.all()
    assert figures.margin.tolist() == pytest.approx([2 * 5 / 6] * 6)
    assert figures.exit_rate == pytest.approx(1 / (1 + math.exp(2 * 5 / 6 / 0.05)))


# -- refusals ---------------------------------------------------------------------------------------------------------


def test_impossible_starts() -> None:
    with pytest.raises(UserError, match="at least one word"):
        Chain(TABLE, [], 0, 1.0)
    for start in ([0, 4, 1], [-1, 0, 1]):
        with pytest.raises(UserError, match="does not have"):
            Chain(TABLE, start, 0, 1.0)
    for seed in (-1, 2**63):
        with pytest.raises(UserError, match="seed"):
            chain(seed)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_sentence_longer_than_the_model_reads_is_refused(family: str) -> None:
    lm = model(family)
    mine = Chain(lm, [lm.vocabulary.word_id("the", first=False)] * (lm.vocabulary.limit + 1), 0, 1.0)
    with pytest.raises(UserError, match=f"reads at most {lm.vocabulary.limit:,}"):
        mine.advance(1)
    assert mine.steps == 0


def test_one_token_alone() -> None:
    lm = named("bert")
    mine = Chain(lm, lm.vocabulary.encode("the").ids, 0, 1.0)
    entries = mine.advance(30)
    assert {e.position for e in entries} == {0} and len({e.entropy for e in entries}) == 1


@pytest.mark.parametrize("tau", [0.0, 1e-300, 1e6])
def test_extreme_temperatures_on_a_network(tau: float) -> None:
    lm = named("roberta")
    mine = Chain(lm, lm.vocabulary.encode("the cat sat").ids, 0, tau)
    for entry in mine.advance(20):
        assert math.isfinite(entry.log_prob) and math.isfinite(entry.entropy) and entry.log_prob <= 0
    if tau < 1:
        assert all(e.log_prob == 0.0 for e in mine.record.entries)
    else:
        assert all(e.entropy == pytest.approx(math.log(int(lm.allowed.sum())), abs=1e-6) for e in mine.record.entries)
