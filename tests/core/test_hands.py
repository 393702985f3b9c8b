"""A chain with hands on: resampling, editing and locking, changes of temperature, branches."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from glauber_core.errors import UserError
from glauber_core.kernels import log_conditional
from glauber_core.temperature import Schedule
from tests.core.chains import START, TABLE, chain, path

# -- hands on ---------------------------------------------------------------------------------------------------------


def test_a_resampling_by_hand_leaves_the_later_draws_untouched() -> None:
    played, touched = chain(tau=1e6), chain(tau=1e6)  # so hot that the tokens drawn do not depend on the others
    before, after = played.advance(20), played.advance(20)
    touched.advance(20)
    for position in (0, 2, 2):
        entry = touched.resample(position)
        assert entry.kind == "resample" and entry.position == position and entry.tau == 1e6
    later = touched.advance(20)
    assert [(e.position, e.new) for e in later] == [(e.position, e.new) for e in after]
    assert path(before) == path(touched.record.entries[:20])


def test_resamplings_by_hand_are_reproducible_and_differ_from_each_other() -> None:
    def by_hand(seed: int) -> list[int]:
        mine = chain(seed, tau=1e6)
        return [mine.resample(1).new for _ in range(40)]

    assert by_hand(1) == by_hand(1) and by_hand(1) != by_hand(2) and len(set(by_hand(1))) == 3
    played = chain(1, tau=1e6).advance(40)
    assert [e.new for e in played] != by_hand(1)  # not the chain's own draws either


def test_a_resampling_follows_the_conditional() -> None:
    mine = chain(3, tau=0.9)
    logits = TABLE(torch.tensor([START]), torch.tensor([1]))
    law = log_conditional(logits, torch.tensor([0.9], dtype=torch.float64)).exp()[0].numpy()
    counts = np.zeros(4)
    for _ in range(800):
        counts[mine.resample(1).new] += 1
    assert abs(counts / 800 - law).max() < 4.5 * math.sqrt(0.25 / 800) and counts[2] == 0


def test_edits() -> None:
    mine = chain()
    mine.advance(5)
    token = next(t for t in (0, 1, 3) if t != mine.tokens[1])
    entry = mine.edit(1, token)
    assert (entry.kind, entry.position, entry.new) == ("edit", 1, token) and math.isnan(entry.log_prob)
    assert mine.tokens[1] == token and mine.steps == 6 and mine.record.entries[-1] is entry
    assert math.isnan(entry.entropy) and math.isnan(entry.margin) and entry.tau == 1.0


def test_impossible_edits_leave_everything_as_it_was() -> None:
    mine = chain(locked=[2])
    mine.advance(3)
    before = mine.tokens, mine.steps
    for position, token, reason in (
        *((0, 2, "cannot be placed"), (0, -1, "cannot be placed"), (0, 4, "cannot be placed")),
        *((2, 0, "is locked"), (3, 0, "no position 4"), (-1, 0, "no position 0")),
    ):
        with pytest.raises(UserError, match=reason):
            mine.edit(position, token)
    for position, reason in ((2, "is locked"), (3, "no position"), (-1, "no position")):
        with pytest.raises(UserError, match=reason):
            mine.resample(position)
    assert (mine.tokens, mine.steps) == before


def test_locked_words_never_change() -> None:
    mine = chain(tau=5.0, locked=[0])
    mine.advance(50)
    mine.set_locked([1, 2])
    assert mine.free.tolist() == [0] and mine.sweep_length == 1
    mine.advance(50)
    assert {e.position for e in mine.record.entries[:50]} == {1, 2}
    assert {e.position for e in mine.record.entries[50:]} == {0}
    locks = [e for e in mine.record.events if e["kind"] == "locks"]
    assert locks == [
        {"step": 0, "kind": "locks", "positions": [0]},
        {"step": 50, "kind": "locks", "positions": [1, 2]},
    ]
    mine.set_locked([2, 1, 1])  # the same set: nothing to note
    assert len([e for e in mine.record.events if e["kind"] == "locks"]) == 2


def test_all_locked() -> None:
    mine = chain()
    mine.set_locked(range(3))
    with pytest.raises(UserError, match="Every word is locked"):
        mine.advance(1)
    assert mine.steps == 0 and mine.sweep_length == 1
    figures, found = mine.look()
    assert found.kind == "unknown" and math.isnan(figures.log_exit)
    mine.set_locked([])
    assert len(mine.advance(2)) == 2
    for bad in ([3], [-1], [0, 99]):
        with pytest.raises(UserError, match="no position"):
            mine.set_locked(bad)
    assert mine.locked == frozenset()


def test_locks_are_checked_at_the_start_too() -> None:
    for bad in ([3], [-1], [0, 99]):
        with pytest.raises(UserError, match="no position"):
            chain(locked=bad)


# -- temperature ------------------------------------------------------------------------------------------------------


def test_a_change_of_tau_acts_on_the_next_step_and_on_nothing_before() -> None:
    mine, other = chain(), chain()
    mine.advance(10)
    mine.set_tau(0.0)
    entries = mine.advance(10)
    assert [e.tau for e in mine.record.entries] == [1.0] * 10 + [0.0] * 10
    assert path(mine.record.entries[:10]) == path(other.advance(10))
    assert [e.position for e in entries] == [e.position for e in other.advance(10)]  # the same draws
    assert all(e.log_prob == 0.0 and e.margin >= 0 for e in entries)  # tau = 0: the argmax
    assert mine.record.events[-1] == {
        "step": 10,
        "kind": "settings",
        "tau": 0.0,
        "schedule": "constant",
        "sweeps": 20.0,
    }
    mine.set_tau(0.0)
    assert len(mine.record.events) == 2  # unchanged: nothing to note


def test_bad_temperatures_change_nothing() -> None:
    mine = chain()
    for bad in (-1.0, math.nan, math.inf):
        with pytest.raises(UserError):
            mine.set_tau(bad)
        with pytest.raises(UserError):
            chain(tau=bad)
    assert mine.tau == 1.0 and len(mine.record.events) == 1


def test_schedules_run_in_sweeps_from_the_step_they_begin_at() -> None:
    mine = chain(tau=0.5)
    mine.advance(4)
    mine.set_schedule(Schedule("heat_then_cool", 4))
    assert [e.tau for e in mine.advance(15)] == [3.0] * 6 + [0.5] * 9  # two of four sweeps of three words
    mine.set_schedule(Schedule("anneal", 2))
    taus = [e.tau for e in mine.advance(8)]
    assert taus == [Schedule("anneal", 2).tau(0.5, k / 3) for k in range(8)] and taus[-2:] == [0.5, 0.5]
    assert taus == sorted(taus, reverse=True)
    assert [e["schedule"] for e in mine.record.events] == ["constant", "heat_then_cool", "anneal"]


def test_work_by_hand_does_not_use_up_the_schedule() -> None:
    mine = chain(tau=0.5, schedule=Schedule("heat_then_cool", 4))
    for _ in range(10):
        mine.resample(0)
    assert [e.tau for e in mine.advance(7)] == [3.0] * 6 + [0.5]


def test_locking_words_does_not_move_the_schedule() -> None:
    mine = chain(tau=0.5, schedule=Schedule("anneal", 4))
    mine.advance(6)  # two of four sweeps of three words
    before = mine.tau_now
    mine.set_locked([0])
    assert mine.tau_now == before
    mine.advance(2)  # a sweep of the two that are left
    assert mine.tau_now == Schedule("anneal", 4).tau(0.5, 3.0)
    assert mine.record.sweep_times().tolist() == pytest.approx([0, 1 / 3, 2 / 3, 1, 4 / 3, 5 / 3, 2, 2.5, 3])


# -- branches ---------------------------------------------------------------------------------------------------------


def test_a_branch_begins_at_the_step_and_goes_its_own_way() -> None:
    mine = chain(tau=0.9, locked=[1])
    mine.advance(300)
    side = mine.branch(270, chain=4)
    assert side.tokens == mine.record.state_at(270).tolist()
    assert side.header.parent == {"seed": 5, "chain": 0, "step": 270}
    assert (side.header.seed, side.header.chain, side.tau, side.locked) == (5, 4, 0.9, frozenset([1]))
    before = path(mine.record.entries)
    side.advance(30)
    assert path(mine.record.entries) == before and side.steps == 30
    assert path(side.record.entries) != path(mine.record.entries[270:])
    assert path(mine.branch(270, chain=4).advance(30)) == path(side.record.entries)  # and reproducibly so


def test_impossible_branches() -> None:
    mine = chain()
    mine.advance(5)
    for step_, reason in ((6, "no step 6"), (-1, "no step -1")):
        with pytest.raises(UserError, match=reason):
            mine.branch(step_, chain=1)
    with pytest.raises(UserError, match="stream of its own"):
        mine.branch(3, chain=0)
