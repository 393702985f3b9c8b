"""Who is served when, counted in batches: nobody waits long behind a flood, clicks go first, and queues have ends."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from glauber_core.errors import Busy, UserError
from glauber_core.service import SamplerService
from tests.service.fakes import Crowd, Watched, until, values

Serve = Callable[..., SamplerService]


def sentence(who: int, k: int, n: int = 4) -> list[int]:
    """Sentences of different visitors differ in their last word."""
    return [0, *([k] * (n - 2)), who]


def owners(batch: list[list[int]]) -> list[int]:
    """Whose rows a batch holds, dummies (which repeat the last row) not counted."""
    return [state[-1] for state in dict.fromkeys(map(tuple, batch))]


def plug(service: SamplerService, model: Watched, crowd: Crowd) -> None:
    """Keep the sampler at a batch, so that what comes next waits in line."""
    model.hold()
    crowd.ask(service.client("plug"), [9, 9, 9, 9, 9, 9])
    model.entered()


@pytest.mark.parametrize("rows", [1, 2, 4])
def test_a_single_request_waits_for_one_batch_of_a_flood_at_most(
    rows: int, serve: Serve, model: Watched, crowd: Crowd
) -> None:
    service = serve(rows=rows)
    model.hold()
    flood = crowd.ask(service.client("flood"), *[sentence(1, k) for k in range(20)])
    model.entered()  # the first batch of the flood is being read
    single = crowd.ask(service.client("single"), sentence(2, 0))
    until(lambda: service.queued == 21 - rows)
    model.go()
    assert torch.equal(single.result(60), values(torch.tensor([sentence(2, 0)]), torch.tensor([0]), rows))
    flood.result(60)
    assert 2 in owners(model.batches[1])


def test_sessions_that_wait_share_every_batch(serve: Serve, model: Watched, crowd: Crowd) -> None:
    service = serve(rows=4)
    plug(service, model, crowd)
    for who in (1, 2):
        crowd.ask(service.client(f"{who}"), *[sentence(who, k) for k in range(12)])
        until(lambda who=who: service.queued == 12 * who)  # type: ignore[misc]
    model.go()
    until(lambda: len(model.batches) == 7)
    assert [sorted(owners(batch)) for batch in model.batches[1:]] == [[1, 1, 2, 2]] * 6


def test_more_sessions_than_places_take_turns(serve: Serve, model: Watched, crowd: Crowd) -> None:
    service = serve(rows=2)
    plug(service, model, crowd)
    for who in (1, 2, 3):
        crowd.ask(service.client(f"{who}"), *[sentence(who, k) for k in range(4)])
        until(lambda who=who: service.queued == 4 * who)  # type: ignore[misc]
    model.go()
    until(lambda: len(model.batches) == 7)
    assert [owners(batch) for batch in model.batches[1:]] == [[1, 2], [3, 1], [2, 3]] * 2


def test_lengths_are_never_mixed_and_take_turns(serve: Serve, model: Watched, crowd: Crowd) -> None:
    service = serve(rows=2)
    plug(service, model, crowd)
    asked = []
    for who, n in ((1, 4), (2, 5)):
        asked.append(crowd.ask(service.client(f"{who}"), *[sentence(who, k, n) for k in range(4)]))
        until(lambda who=who: service.queued == 4 * who)  # type: ignore[misc]
    model.go()
    for who, (n, future) in enumerate(zip((4, 5), asked, strict=True), start=1):
        states = torch.tensor([sentence(who, k, n) for k in range(4)])
        assert torch.equal(future.result(60), values(states, torch.zeros(4, dtype=torch.int64), 2))
    assert [owners(batch) for batch in model.batches[1:]] == [[1, 1], [2, 2], [1, 1], [2, 2]]


def test_clicks_go_before_play(serve: Serve, model: Watched, crowd: Crowd) -> None:
    service = serve(rows=2)
    plug(service, model, crowd)
    crowd.ask(service.client("1"), *[sentence(1, k) for k in range(6)])
    until(lambda: service.queued == 6)
    crowd.ask(service.client("2"), sentence(2, 0))
    until(lambda: service.queued == 7)
    clicks = crowd.ask(service.client("3"), *[sentence(3, k) for k in range(3)], click=True)
    until(lambda: service.queued == 10)
    model.go()
    clicks.result(60)
    until(lambda: service.queued == 0)
    assert [owners(batch) for batch in model.batches[1:3]] == [[3, 3], [3, 1]]
    assert 2 in owners(model.batches[3])


def test_too_much_in_line_is_refused_and_nothing_is_lost(serve: Serve, model: Watched, crowd: Crowd) -> None:
    service = serve(rows=2, session_rows=4, total_rows=6)
    plug(service, model, crowd)
    one, two, three = (service.client(name) for name in "123")
    first = crowd.ask(one, *[sentence(1, k) for k in range(4)])
    until(lambda: service.queued == 4)
    with pytest.raises(Busy, match="The server is busy: your earlier requests"):
        crowd.ask(one, sentence(1, 9)).result(60)
    second = crowd.ask(two, *[sentence(2, k) for k in range(2)])
    until(lambda: service.queued == 6)
    with pytest.raises(UserError, match="The server is busy: too many people"):
        crowd.ask(three, sentence(3, 0)).result(60)
    model.go()
    for who, future, count in ((1, first, 4), (2, second, 2)):
        states = torch.tensor([sentence(who, k) for k in range(count)])
        assert torch.equal(future.result(60), values(states, torch.zeros(count, dtype=torch.int64), 2))
    assert crowd.ask(three, sentence(3, 0)).result(60).shape == (1, 40)


def test_a_call_of_more_rows_than_fit_in_line_is_read_in_pieces(serve: Serve) -> None:
    states = torch.tensor([sentence(1, k) for k in range(11)])
    found = serve(rows=2, session_rows=4, total_rows=4).client("a")(states, torch.full((11,), 2))
    assert torch.equal(found, values(states, torch.full((11,), 2), 2))


def test_sizes_are_checked(serve: Serve) -> None:
    for wrong in ({"rows": 0}, {"session_rows": 0}, {"session_rows": 9, "total_rows": 8}):
        with pytest.raises(UserError):
            serve(**wrong)
