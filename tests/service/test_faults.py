"""A fault of one session is its own; a GPU that is full is asked for less; a fault of the service hangs nobody."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from glauber_core.errors import UserError
from glauber_core.service import SamplerService
from glauber_core.service.line import Line
from tests.service.fakes import BAD, Crowd, V, Watched, until, values

Serve = Callable[..., SamplerService]
GOOD, WORSE = [1, 2, 3], [BAD, 2, 3]


def test_a_batch_that_fails_is_read_again_session_by_session(serve: Serve, model: Watched, crowd: Crowd) -> None:
    service = serve(rows=2)
    model.hold()
    crowd.ask(service.client("plug"), [9, 9, 9])
    model.entered()
    bad = crowd.ask(service.client("bad"), WORSE, [4, 4, 4], [5, 5, 5], at=1)
    until(lambda: service.queued == 3)
    good = crowd.ask(service.client("good"), GOOD, at=1)
    until(lambda: service.queued == 4)
    model.go()
    with pytest.raises(RuntimeError, match="bad token"):
        bad.result(60)
    assert torch.equal(good.result(60), values(torch.tensor([GOOD]), torch.tensor([1]), 2))
    assert model.batches[1] == [WORSE, GOOD] and service.queued == 0  # they did share a batch
    after = service.client("bad")(torch.tensor([GOOD, [4, 4, 4]]), torch.tensor([0, 0]))
    assert torch.equal(after, values(torch.tensor([GOOD, [4, 4, 4]]), torch.tensor([0, 0]), 2))


def test_a_bad_call_leaves_the_session_s_other_calls_alone(serve: Serve, model: Watched, crowd: Crowd) -> None:
    service = serve(rows=2)
    model.hold()
    crowd.ask(service.client("plug"), [9, 9, 9])
    model.entered()
    client = service.client("a")
    bad, good = crowd.ask(client, WORSE, at=1), crowd.ask(client, GOOD, at=1)
    until(lambda: service.queued == 2)
    model.go()
    with pytest.raises(RuntimeError, match="bad token"):
        bad.result(60)
    assert torch.equal(good.result(60), values(torch.tensor([GOOD]), torch.tensor([1]), 2))


def test_one_row_asked_for_by_two_sessions_fails_for_both(serve: Serve, model: Watched, crowd: Crowd) -> None:
    service = serve(rows=2)
    model.hold()
    crowd.ask(service.client("plug"), [9, 9, 9])
    model.entered()
    calls = [crowd.ask(service.client(name), WORSE, at=1) for name in "ab"]
    until(lambda: service.queued == 2)
    model.go()
    for call in calls:
        with pytest.raises(RuntimeError, match="bad token"):
            call.result(60)


@pytest.mark.parametrize(
    ("state", "position"), [([1, V, 2], 0), ([1, -1, 2], 0), ([1, 2, 3], 3), ([1, 2, 3], -1), ([], 0)]
)
def test_what_the_model_does_not_have_never_reaches_it(
    serve: Serve, model: Watched, state: list[int], position: int
) -> None:
    client = serve().client("a")
    with pytest.raises(UserError):
        client(torch.tensor([state], dtype=torch.int64), torch.tensor([position]))
    assert model.batches == []


def test_rows_and_positions_that_do_not_agree(serve: Serve, model: Watched) -> None:
    service = serve()
    for states, positions in ((torch.zeros(3), torch.zeros(3)), (torch.zeros(2, 3), torch.zeros(3))):
        with pytest.raises(UserError):
            SamplerService._checked.__wrapped__(service, states.long(), positions.long())  # type: ignore[attr-defined]
    assert model.batches == []


def test_no_rows_at_all(serve: Serve, model: Watched) -> None:
    found = serve().client("a")(torch.zeros(0, 3, dtype=torch.int64), torch.zeros(0, dtype=torch.int64))
    assert found.shape == (0, V) and model.batches == []


def test_a_full_gpu_is_asked_for_half_and_half_again(serve: Serve, model: Watched) -> None:
    service = serve(rows=8)
    model.room = 2
    states = torch.tensor([[k, k, k] for k in range(5)])
    client = service.client("a")
    found = client(states, torch.zeros(5, dtype=torch.int64))
    assert torch.equal(found, values(states, torch.zeros(5, dtype=torch.int64), 2))
    assert [len(batch) for batch in model.batches] == [8, 4, 2, 2, 2] and service.halvings == 1
    assert len(service.cache) == 0  # these are not the values of the canonical shape
    model.room = 8
    again = client(states, torch.zeros(5, dtype=torch.int64))
    assert torch.equal(again, values(states, torch.zeros(5, dtype=torch.int64), 8)) and len(service.cache) == 5


def test_a_gpu_without_room_for_one_row(serve: Serve, model: Watched) -> None:
    client = serve(rows=4).client("a")
    model.room = 0
    with pytest.raises(UserError, match="not enough memory"):
        client(torch.tensor([GOOD]), torch.tensor([0]))
    model.room = 4
    assert client(torch.tensor([GOOD]), torch.tensor([0])).shape == (1, V)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_fault_of_the_service_itself_hangs_nobody(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    service = serve()
    client = service.client("a")
    with monkeypatch.context() as patch:

        def broken(*args: object) -> None:
            raise ZeroDivisionError

        patch.setattr(Line, "next", broken)
        with pytest.raises(ZeroDivisionError):
            client(torch.tensor([GOOD]), torch.tensor([0]))
    assert client(torch.tensor([GOOD]), torch.tensor([0])).shape == (1, V)  # a new thread
