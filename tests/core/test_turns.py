"""The fair lock: one holder, order of arrival, clicks first."""

from __future__ import annotations

import threading
import time

import pytest

from glauber_core.turns import Turns, urgent


def waiting(turns: Turns) -> int:
    return sum(map(len, turns._queues))


def queue_up(turns: Turns, names: list[tuple[str, bool]]) -> list[str]:
    """Threads that ask one after the other while the lock is held; the order in which they were served."""
    served: list[str] = []

    def work(name: str, at_once: bool) -> None:
        if at_once:
            with urgent(), turns:
                served.append(name)
        else:
            with turns:
                served.append(name)

    workers = [threading.Thread(target=work, args=pair) for pair in names]
    with turns:
        for count, worker in enumerate(workers, start=1):
            worker.start()
            deadline = time.monotonic() + 10
            while waiting(turns) < count and time.monotonic() < deadline:
                time.sleep(0.001)
        assert waiting(turns) == len(names) and served == []
    for worker in workers:
        worker.join(10)
    return served


def test_first_come_first_served() -> None:
    names = [(f"{k}", False) for k in range(8)]
    assert queue_up(Turns(), names) == [name for name, _ in names]


def test_clicks_go_before_play_and_keep_their_order() -> None:
    asked = [("play 1", False), ("click 1", True), ("play 2", False), ("click 2", True)]
    assert queue_up(Turns(), asked) == ["click 1", "click 2", "play 1", "play 2"]


def test_one_holder_at_a_time_and_nobody_starves() -> None:
    turns, inside, most, rounds = Turns(), [0], [0], [0] * 8

    def work(me: int) -> None:
        for _ in range(200):
            with turns:
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                rounds[me] += 1
                inside[0] -= 1

    workers = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(30)
    assert rounds == [200] * 8 and most[0] == 1


def test_an_error_inside_gives_the_lock_back() -> None:
    turns = Turns()
    with pytest.raises(ValueError), turns:
        raise ValueError
    assert queue_up(turns, [("next", False)]) == ["next"]


def test_urgent_ends_with_its_block_and_may_be_nested() -> None:
    turns = Turns()
    with urgent(), urgent():
        pass
    done: list[str] = []

    def outer() -> None:
        with urgent():
            with urgent():
                pass
            with turns:
                done.append("still urgent")

    def later() -> None:
        with turns:
            done.append("play")

    first, second = threading.Thread(target=later), threading.Thread(target=outer)
    with turns:
        first.start()
        while waiting(turns) < 1:
            time.sleep(0.001)
        second.start()
        while waiting(turns) < 2:
            time.sleep(0.001)
    first.join(10)
    second.join(10)
    assert done == ["still urgent", "play"]
