"""``Chain.skip``: changes without the steps between them, in one record with everything else a chain can do."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import torch

from glauber_core.chain import Chain
from glauber_core.errors import UserError
from glauber_core.exact import ConditionalTable, StateSpace, distribution_after, transition_matrix
from glauber_core.profile import profile
from glauber_core.record import RunRecord
from glauber_core.rejection_free import run_rejection_free
from glauber_core.temperature import Schedule
from glauber_core.waiting import FOREVER
from tests.core.chains import START, TABLE, chain, path
from tests.law import assert_law
from tests.models.checkpoints import model

TRAP = [3, 0, 1]


def trapped(rate: float, seed: int = 5, tau: float = 1.0, **kwargs: object) -> Chain:
    return Chain(TABLE.with_trap(TRAP, rate), TRAP, seed, tau, **kwargs)  # type: ignore[arg-type]


def test_skips_are_the_rejection_free_run_of_the_same_key() -> None:
    mine = chain(seed=9, tau=0.6, chain=4)
    done = mine.skip(30)
    (other,) = run_rejection_free(TABLE, torch.tensor([START]), 0.6, changes=30, seed=9, chains=[4]).paths
    assert done.end == "changes" and done.steps == sum(other.dwell) == mine.record.elapsed
    assert [e.dwell for e in done.entries] == list(other.dwell)
    assert [e.log_exit for e in done.entries] == other.log_exit.tolist()
    assert [e.new for e in done.entries] == other.new.tolist() and all(e.kind == "skip" for e in done.entries)
    assert [e.position for e in done.entries] == other.position.tolist()


def test_a_skip_says_how_long_the_state_before_was_held_and_its_exit_rate() -> None:
    mine = chain(tau=0.5)
    for _ in range(20):
        figures = profile(TABLE, torch.tensor(mine.tokens), 0.5, torch.arange(3))
        (entry,) = mine.skip().entries
        assert entry.log_exit == pytest.approx(figures.log_exit, abs=1e-12)
        assert entry.old != entry.new and entry.dwell >= 1 and mine.tokens[entry.position] == entry.new
        assert math.isfinite(entry.log_prob) and math.isfinite(entry.entropy) and math.isfinite(entry.margin)
    assert mine.record.clock()[-1] == sum(e.dwell for e in mine.record.entries)


def test_steps_skips_and_hands_share_one_record() -> None:
    mine, plain = chain(tau=0.8), chain(tau=0.8)
    states = [mine.tokens]
    for k in range(300):
        match k % 4:
            case 0:
                mine.advance(1)
            case 1:
                mine.skip()
            case 2:
                mine.resample(k // 4 % 3)
            case _:
                mine.edit(0, k // 4 % 2)
        states.append(mine.tokens)
    assert mine.steps == 300 and mine.record.elapsed >= 300
    assert [mine.record.state_at(k).tolist() for k in range(301)] == states
    again = RunRecord.from_dict(json.loads(mine.record.to_json()))
    assert again.clock() == mine.record.clock() and again.state_at(300).tolist() == mine.tokens
    # the plain steps still use the plain draws, one after another
    stepped = [e.position for e in mine.record.entries if e.kind == "step"]
    assert stepped == [e.position for e in plain.advance(75)]


def test_a_horizon_is_met_exactly_and_what_was_cut_is_drawn_anew() -> None:
    mine = trapped(1e-6)
    for k in range(1, 5):
        done = mine.skip(10**9, horizon=50)
        assert (done.entries, done.steps, done.end) == ([], 50, "horizon") and mine.record.elapsed == 50 * k
    held = [e for e in mine.record.events if e["kind"] == "held"]
    assert len(held) == 4 and {(e["step"], e["steps"], e["tau"]) for e in held} == {(0, 50, 1.0)}
    assert held[0]["log_exit"] == pytest.approx(math.log(1e-6))
    for _ in range(200):
        mine.skip(10**9, horizon=17)
    assert mine.record.elapsed == 200 + 200 * 17
    assert mine.skip(3, horizon=0).end == "horizon" and mine.skip(0) == ([], 0, "changes")


def test_law_of_a_chain_that_is_cut_advanced_and_skipped() -> None:
    """In pieces of 4 steps, 4 plain steps between them: after 12 steps the law is the row of P^12 (false fail 1e-4)."""
    space = StateSpace.full(TABLE, 3)
    table = TABLE.with_trap([0, 0, 1], 0.05)
    found = []
    for seed in range(2_500):
        mine = Chain(table, [0, 0, 1], seed, 1.0)
        mine.skip(99, horizon=4)
        mine.advance(4)
        mine.skip(99, horizon=4)
        assert mine.record.elapsed == 12
        found.append(mine.tokens)
    here = int(space.encode(torch.tensor([[0, 0, 1]]))[0])
    assert_law(space.encode(torch.tensor(found)), distribution_after(transition_matrix(table, space, 1.0), here, 12))


def test_absorbed() -> None:
    mine = chain(tau=0.0)
    done = mine.skip(1_000)
    assert done.end == "absorbed" and len(done.entries) < 1_000 and all(e.log_prob == 0.0 for e in done.entries)
    now, entries = mine.record.elapsed, mine.steps
    assert mine.skip(5) == ([], 0, "absorbed") and mine.record.elapsed == now  # no time: it would never end
    assert mine.skip(5, horizon=10**12) == ([], 10**12, "absorbed") and mine.record.elapsed == now + 10**12
    assert mine.record.events[-1] == {
        "step": entries, "kind": "held", "steps": 10**12, "log_exit": -math.inf, "tau": 0.0
    }  # fmt: skip
    mine.set_tau(1.0)
    assert mine.skip(1).end == "changes"
    again = RunRecord.from_dict(json.loads(mine.record.to_json()))
    assert again.clock() == mine.record.clock() and again.events == mine.record.events


@pytest.mark.parametrize("rate", [1e-18, 1e-300])
def test_a_deep_trap_is_left_at_once(rate: float) -> None:
    mine = trapped(rate)
    (entry,) = mine.skip().entries
    assert entry.log_exit == pytest.approx(math.log(rate)) and 1e-4 < entry.dwell * rate < 50
    assert type(entry.dwell) is int and mine.record.elapsed == entry.dwell
    mine.advance(3)
    assert mine.record.elapsed == entry.dwell + 3
    assert np.isfinite(mine.record.simulated_sweeps()).all() and math.isfinite(mine.tau_now)
    mine.look()


def test_a_trap_deeper_than_the_clock_holds_to_its_end() -> None:
    mine = trapped(1e-300, tau=0.25)  # 1e-1200 and less at a quarter of the temperature
    done = mine.skip()
    assert (done.entries, done.steps, done.end) == ([], FOREVER, "horizon")
    assert mine.record.events[-1]["log_exit"] == pytest.approx(4 * math.log(1e-300), rel=0.01)
    assert mine.skip() == ([], 0, "horizon")
    mine.advance(1)
    assert RunRecord.from_dict(json.loads(mine.record.to_json())).elapsed == FOREVER + 1


def test_locks_are_respected() -> None:
    mine = chain(tau=3.0, locked=[1])
    assert {e.position for e in mine.skip(60).entries} == {0, 2}
    figures = profile(TABLE, torch.tensor(mine.tokens), 3.0, mine.free)
    assert mine.skip().entries[0].log_exit == pytest.approx(figures.log_exit)
    mine.set_locked([0, 1, 2])
    with pytest.raises(UserError, match="Every word is locked"):
        mine.skip()


def test_a_token_outside_the_vocabulary_changes_like_any_other() -> None:
    mine = Chain(TABLE, [2, 2, 2], 0, 1.0)
    (entry,) = mine.skip().entries
    assert entry.log_exit == 0.0 and entry.dwell == 1 and entry.old == 2  # every pick is a change
    mine.skip(50)
    assert 2 not in mine.tokens


def test_rewinding_and_branching_go_by_entries() -> None:
    mine = chain(tau=0.7)
    mine.skip(40)
    mine.advance(5)
    side = mine.branch(20, chain=3)
    assert side.tokens == mine.record.state_at(20).tolist() and side.record.elapsed == 0
    assert path(side.skip(10).entries) == path(mine.branch(20, chain=3).skip(10).entries)
    assert mine.conditional(1, step=20).tau == 0.7 and mine.look(20)[0].tau == 0.7


def test_staying_counts_in_simulated_time() -> None:
    """A wait of twenty sweeps is a trap by the window, however few entries it has."""
    logits = torch.zeros(8, 2**7, 2, dtype=torch.float64)
    logits[1:, :, 1] = 3.0
    logits[0, :, 1] = -1e-9  # not the argmax: no perfect trap
    mine = Chain(ConditionalTable(logits), [1] * 8, 0, 0.3)
    assert mine.look()[1].kind == "wandering"
    mine.skip(10**9, horizon=160)
    assert mine.steps < 150 and mine.look()[1].reason == "window"


def test_a_schedule_moves_on_by_simulated_steps() -> None:
    heat = chain(tau=0.5, schedule=Schedule("heat_then_cool", 4))  # two of four sweeps of three words are hot
    done = heat.skip(10**6, horizon=40)
    times = heat.record.clock()
    assert done.steps == 40 and [e.tau for e in done.entries] == [3.0 if t <= 6 else 0.5 for t in times[1:]]
    assert {e.tau for e in done.entries} == {3.0, 0.5}
    cool = chain(tau=0.5, schedule=Schedule("anneal", 2))
    plain = chain(tau=0.5, schedule=Schedule("anneal", 2)).advance(6)
    done = cool.skip(10**6, horizon=60)  # six plain steps, then skips
    assert path(done.entries[:6]) == path(plain) and {e.kind for e in done.entries[6:]} == {"skip"}
    assert done.steps == 60 == cool.record.elapsed


def test_refusals() -> None:
    mine = chain()
    for bad in ({"changes": -1}, {"horizon": -1}):
        with pytest.raises(UserError, match="cannot be negative"):
            mine.skip(**bad)
    assert mine.steps == 0 == mine.record.elapsed


def test_on_a_network() -> None:
    lm = model("bert")
    ids = lm.vocabulary.encode("the [MASK] sat").ids
    mine = Chain(lm, ids, 3, 0.5)
    entries = mine.skip(12).entries
    assert path(Chain(lm, ids, 3, 0.5).skip(12).entries) == path(entries)
    assert bool(lm.allowed[[e.new for e in entries]].all())
