"""Sessions that close, fall silent or come back; a service that ends."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable

import pytest
import torch

from glauber_core.errors import Abandoned, Cancelled, UserError
from glauber_core.service import Samplers, SamplerService, Seat
from tests.service.fakes import Crowd, Watched, until, values

Serve = Callable[..., SamplerService]
PLUG, ONE, TWO = [9, 9, 9], [1, 2, 3], [4, 5, 6]


def plug(service: SamplerService, model: Watched, crowd: Crowd) -> object:
    model.hold()
    found = crowd.ask(service.client("plug"), PLUG)
    model.entered()
    return found


def test_close_while_waiting(serve: Serve, model: Watched, crowd: Crowd) -> None:
    service = serve(rows=2)
    plug(service, model, crowd)
    mine, other = service.client("mine"), service.client("other")
    waiting, stays = crowd.ask(mine, ONE, TWO), crowd.ask(other, TWO)
    until(lambda: service.queued == 3)
    mine.close()
    with pytest.raises(Cancelled):
        waiting.result(60)  # while the sampler is still at its first batch
    assert service.queued == 1 and mine.closed and not other.closed
    model.go()
    assert torch.equal(stays.result(60), values(torch.tensor([TWO]), torch.tensor([0]), 2))
    assert ONE not in sum(model.batches, [])
    with pytest.raises(Cancelled):
        mine(torch.tensor([TWO]), torch.tensor([0]))
    assert service.client("mine")(torch.tensor([TWO]), torch.tensor([0])).shape == (1, 40)  # a new session


def test_a_visitor_who_left_may_come_back(model: Watched, crowd: Crowd) -> None:
    samplers, second = Samplers(), Watched()
    mine, other = Seat(samplers, "mine"), Seat(samplers, "other")
    client, service = mine.at(model), samplers.of(model)
    assert mine.at(model) is client is not other.at(model) and samplers.of(second) is not service
    plug(service, model, crowd)
    waiting, stays = crowd.ask(client, ONE), crowd.ask(other.at(model), TWO)
    until(lambda: service.queued == 2)
    mine.beat()
    mine.leave()
    with pytest.raises(Cancelled):
        waiting.result(60)
    model.go()
    assert stays.result(60).shape == client(torch.tensor([ONE]), torch.tensor([0])).shape
    assert mine.at(second) is not client and len(mine._clients) == 1
    service.close()


def test_close_while_being_read(serve: Serve, model: Watched, crowd: Crowd) -> None:
    service = serve(rows=2)
    mine = service.client("mine")
    model.hold()
    waiting = crowd.ask(mine, ONE)
    model.entered()
    mine.close()
    with pytest.raises(Cancelled):
        waiting.result(60)
    model.go()
    assert service.client("next")(torch.tensor([TWO]), torch.tensor([0])).shape == (1, 40)


def test_a_silent_session_loses_its_place_and_may_come_back(serve: Serve, model: Watched, crowd: Crowd) -> None:
    now = [100.0]
    service = serve(rows=2, clock=lambda: now[0])
    plug(service, model, crowd)
    silent, alive = service.client("silent"), service.client("alive")
    lost, kept = crowd.ask(silent, ONE), crowd.ask(alive, TWO)
    until(lambda: service.queued == 2)
    now[0] += 9.0
    alive.beat()
    now[0] += 2.0  # the silent one has been so for 11 seconds
    model.go()
    with pytest.raises(Abandoned, match="Try again") as lost_error:
        lost.result(60)
    assert isinstance(lost_error.value, Cancelled) and isinstance(lost_error.value, UserError)
    assert torch.equal(kept.result(60), values(torch.tensor([TWO]), torch.tensor([0]), 2))
    assert ONE not in sum(model.batches, []) and not silent.closed
    again = silent(torch.tensor([ONE]), torch.tensor([0]))  # a call is a sign of life
    assert torch.equal(again, values(torch.tensor([ONE]), torch.tensor([0]), 2))


def test_nobody_is_silent_who_does_not_wait(serve: Serve) -> None:
    now = [0.0]
    service = serve(rows=2, clock=lambda: now[0])
    client = service.client("paused")
    client(torch.tensor([ONE]), torch.tensor([0]))
    now[0] += 1e6
    service.client("other")(torch.tensor([TWO]), torch.tensor([0]))
    assert client(torch.tensor([TWO]), torch.tensor([1])).shape == (1, 40)


def test_closing_the_service_ends_every_call_and_the_thread(serve: Serve, model: Watched, crowd: Crowd) -> None:
    service = serve(rows=2)
    plugged = plug(service, model, crowd)
    client = service.client("a")
    waiting = crowd.ask(client, ONE)
    until(lambda: service.queued == 1)
    thread = service._thread
    assert thread is not None and thread.daemon
    closing = crowd.do(service.close)
    for call in (waiting, plugged):
        with pytest.raises(Cancelled):
            call.result(60)  # type: ignore[attr-defined]
    model.go()
    closing.result(60)
    assert not thread.is_alive()
    service.close()  # again
    with pytest.raises(Cancelled):
        client(torch.tensor([ONE]), torch.tensor([0]))
    with pytest.raises(Cancelled):
        service.client("b")


def test_a_thread_with_nothing_to_do_ends_and_another_one_starts(serve: Serve) -> None:
    service = serve(rows=2, idle=0.01)
    client = service.client("a")
    for state in (ONE, TWO):
        client(torch.tensor([state]), torch.tensor([0]))
        until(lambda: service._thread is None)
    assert service.batches == 2


def test_what_nobody_uses_is_freed_without_a_close(model: Watched) -> None:
    before = set(threading.enumerate())
    service = SamplerService(model, 2, idle=0.01)
    service.client("a")(torch.tensor([ONE]), torch.tensor([0]))
    left = weakref.ref(service)
    del service
    until(lambda: gc.collect() is not None and left() is None)
    until(lambda: all(t.name != "sampler" for t in set(threading.enumerate()) - before))


def test_clients_of_one_name_are_one_session(serve: Serve) -> None:
    service = serve()
    first, second = service.client("a"), service.client("a")
    first.close()
    assert second.closed and not service.client("a").closed


def test_a_call_that_is_interrupted_leaves_the_line(
    serve: Serve, model: Watched, crowd: Crowd, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = serve(rows=2)
    plug(service, model, crowd)

    def interrupted(self: threading.Event, timeout: float | None = None) -> bool:
        raise KeyboardInterrupt

    client = service.client("a")
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(threading.Event, "wait", interrupted)
        client(torch.tensor([ONE]), torch.tensor([0]))
    assert service.queued == 0
    model.go()
    assert client(torch.tensor([TWO]), torch.tensor([0])).shape == (1, 40)
    assert ONE not in sum(model.batches, [])
