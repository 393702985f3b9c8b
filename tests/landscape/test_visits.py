"""Visits read from records: every state, its time, and the thinning of long hot runs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from glauber_core.landscape.visits import Follower, StateBook, stride, time_of_states
from tests.core.chains import START, chain


def by_hand(run: object) -> list[tuple[tuple[int, ...], int]]:
    """(state, steps held) of every visit, by walking through all simulated states."""
    record = run.record  # type: ignore[attr-defined]
    clock, found = record.clock(), []
    for k in range(len(record) + 1):
        state = tuple(int(t) for t in record.state_at(k))
        end = clock[k + 1] if k < len(record) else record.elapsed
        if found and found[-1][0] == state and record.entries[k - 1].old == record.entries[k - 1].new:
            found[-1] = (state, found[-1][1] + end - clock[k])
        else:
            found.append((state, end - clock[k]))
    return found


@pytest.mark.parametrize("how", ["steps", "skips", "both"])
def test_visits_are_the_states_and_their_times(how: str) -> None:
    run, book = chain(seed=3, tau=0.6), StateBook()
    if how != "skips":
        run.advance(60)
    if how != "steps":
        run.skip(25)
        run.skip(10**6, horizon=7)
    follower = Follower(run.record, book)
    follower.catch_up()
    seen = follower.visits()
    # The last steps of a visit belong to it, the changing one included: it is counted up to the next entry.
    assert [book.states[s] for s in seen.state] == [s for s, _ in by_hand(run)]
    assert seen.dwell.sum() == run.record.elapsed
    assert seen.entered[0] == 0 and list(seen.entered) == sorted(seen.entered)
    assert [tuple(run.record.state_at(int(e))) for e in seen.entry] == [book.states[s] for s in seen.state]


def test_looking_often_changes_nothing() -> None:
    once, often = chain(seed=4), chain(seed=4)
    first, second = Follower(once.record, StateBook(), 10), Follower(often.record, StateBook(), 10)
    once.advance(400)
    first.catch_up()
    for _ in range(40):
        often.advance(10)
        second.catch_up()
    a, b = first.visits(), second.visits()
    assert a.state.tolist() == b.state.tolist() and a.entered == b.entered
    np.testing.assert_array_equal(a.dwell, b.dwell)


def test_a_hot_run_is_thinned_and_its_time_kept() -> None:
    run, book = chain(seed=5, tau=5.0), StateBook()
    follower = Follower(run.record, book, dense=10)
    run.advance(2_000)
    changes = sum(e.old != e.new for e in run.record.entries)
    follower.catch_up()
    seen = follower.visits()
    wanted = [0] + [c for c in range(1, changes + 1) if c % stride(c, 10) == 0]
    assert changes > 500 and len(seen.state) == len(wanted) < 100
    assert seen.dwell.sum() == run.record.elapsed
    assert follower.stride == stride(changes, 10) > 8


def test_stride_doubles() -> None:
    assert [stride(c, 5) for c in (0, 4, 5, 9, 10, 19, 20, 39, 40)] == [1, 1, 1, 1, 2, 2, 4, 4, 8]


def test_the_exit_rate_is_kept_where_it_was_read() -> None:
    run, book = chain(seed=6, tau=0.5), StateBook()
    run.skip(20)
    follower = Follower(run.record, book)
    follower.catch_up()
    seen = follower.visits()
    assert seen.log_exit[:-1].tolist() == [e.log_exit for e in run.record.entries]
    assert math.isnan(seen.log_exit[-1])
    run.skip(10**6, horizon=1)
    if run.record.events[-1]["kind"] == "held":
        assert follower.visits().log_exit[-1] == run.record.events[-1]["log_exit"]


def test_time_of_states_adds_up() -> None:
    run, book = chain(seed=7), StateBook()
    run.advance(300)
    follower = Follower(run.record, book)
    follower.catch_up()
    total = time_of_states([follower.visits()] * 2, len(book), [3, 6])
    assert total.sum() == pytest.approx(300 / 3 + 300 / 6)
    assert book.add(START) == 0  # known, so no new number
