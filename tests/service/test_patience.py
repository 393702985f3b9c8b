"""Calls that have no more time: their rows stay in line, the same call finds them, and idle rows wait for the rest."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
import torch

from glauber_core.chain import Chain
from glauber_core.service import ConditionalCache, Late, SamplerService, left, patience
from glauber_core.turns import idle
from tests.service.fakes import Crowd, Watched, until, values

Serve = Callable[..., SamplerService]
ROW, OTHER, THIRD = [1, 2, 3], [4, 4, 4], [5, 5, 5]


def now(state: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.tensor([state]), torch.tensor([0])


def test_patience_nests_and_ends() -> None:
    assert left() is None
    with patience(time.monotonic() + 100):
        assert 99 < (left() or 0) <= 100
        with patience(time.monotonic() + 1000):
            assert (left() or 0) <= 100
        with patience(time.monotonic() - 1):
            assert left() == 0.0
        assert (left() or 0) > 99
    assert left() is None


@pytest.mark.parametrize("kept", [0, 10**6])
def test_a_late_call_finds_its_rows_the_next_time(kept: int, serve: Serve, model: Watched, crowd: Crowd) -> None:
    service = serve(rows=1, cache=ConditionalCache(kept))
    model.hold()
    crowd.ask(service.client("plug"), [9, 9, 9])
    model.entered()
    client = service.client("a")
    for _ in range(3):
        with patience(time.monotonic() + 0.01), pytest.raises(Late):
            client(*now(ROW))
        assert service.queued == 1  # it is in line once, however often it was asked for
    model.go()
    until(lambda: service.queued == 0 and service.evaluated == 2)
    with patience(time.monotonic() + 60):
        assert torch.equal(client(*now(ROW)), values(*now(ROW), 1))
    assert model.batches == [[[9, 9, 9]], [ROW]]


def test_only_a_few_late_calls_are_remembered(serve: Serve, model: Watched, crowd: Crowd) -> None:
    service = serve(rows=1)
    model.hold()
    crowd.ask(service.client("plug"), [9, 9, 9])
    model.entered()
    client = service.client("a")
    for k in range(6):
        with patience(time.monotonic()), pytest.raises(Late):
            client(*now([k + 1] * 3))
    assert service.queued <= 5
    client.leave()
    assert service.queued == 0
    model.go()


def test_idle_rows_wait_for_everybody_else(serve: Serve, model: Watched, crowd: Crowd) -> None:
    service = serve(rows=1)
    model.hold()
    crowd.ask(service.client("plug"), [9, 9, 9])
    model.entered()
    with idle(), patience(time.monotonic()), pytest.raises(Late):
        service.client("looks")(*now(ROW))
    plays = crowd.ask(service.client("plays"), OTHER)
    clicks = crowd.ask(service.client("clicks"), THIRD, click=True)
    until(lambda: service.queued == 3)
    model.go()
    plays.result(60), clicks.result(60)
    until(lambda: len(model.batches) == 4)
    assert model.batches == [[[9, 9, 9]], [THIRD], [OTHER], [ROW]]


def test_a_chain_that_was_interrupted_takes_the_same_path(serve: Serve, model: Watched) -> None:
    service = serve(rows=2)
    whole = Chain(service.client("whole"), ROW, 3, 1.0)
    whole.advance(6)
    whole.skip(3)
    broken = Chain(service.client("broken"), ROW, 3, 1.0)
    late = 0
    for work in [*[lambda: broken.advance(1)] * 6, *[lambda: broken.skip(1)] * 3]:
        while True:
            try:
                with patience(time.monotonic()):
                    work()
                break
            except Late:
                late += 1
                time.sleep(0.001)
    assert [tuple(map(repr, e)) for e in broken.record.entries] == [tuple(map(repr, e)) for e in whole.record.entries]
    assert late == 0  # the other chain's rows were all in the cache
    alone = Chain(serve(rows=2, cache=ConditionalCache(0)).client("alone"), ROW, 3, 1.0)
    for work in [*[lambda: alone.advance(1)] * 6, *[lambda: alone.skip(1)] * 3]:
        while True:
            try:
                with patience(time.monotonic()):
                    work()
                break
            except Late:
                late += 1
                time.sleep(0.001)
    assert late > 3
    assert [tuple(map(repr, e)) for e in alone.record.entries] == [tuple(map(repr, e)) for e in whole.record.entries]
