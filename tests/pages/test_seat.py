"""Visitors of the live page are served by one sampler, and leave it when their tab is closed."""

from __future__ import annotations

import threading
from typing import Any

from streamlit.runtime.caching import clear_session_resource_cache
from streamlit.testing.v1 import AppTest

from glauber_core.chain import Chain
from glauber_core.errors import Cancelled
from glauber_core.service import Client, Seat
from pages.ui.live_session import LiveSession
from pages.ui.resources import samplers
from tests.conftest import ROOT
from tests.models.checkpoints import builtin
from tests.pages.screen import visitor_with
from tests.service.fakes import LIMIT_S, Crowd, until


def visit() -> tuple[AppTest, LiveSession]:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    assert not app.exception
    return app, app.session_state["live"]


def client_of(live: LiveSession) -> Client:
    conditionals = live.player.tracks[0].chain.conditionals
    assert isinstance(conditionals, Client)
    return conditionals


def test_two_visitors_share_a_sampler_and_nothing_else() -> None:
    (_, one), (_, two) = visit(), visit()
    assert client_of(one)._service is client_of(two)._service
    two.serve = Seat(samplers(), "two").at  # AppTest gives all its visitors one session
    two.reset()
    assert client_of(one)._service is client_of(two)._service
    assert client_of(one)._session is not client_of(two)._session
    paths: list[Any] = [None, None]

    def play(k: int, live: LiveSession) -> None:
        live.move(5)
        paths[k] = [repr(e) for e in live.player.tracks[0].chain.record.entries]

    players = [threading.Thread(target=play, args=pair) for pair in enumerate((one, two))]
    for player in players:
        player.start()
    for player in players:
        player.join()
    first = one.player.tracks[0].chain
    alone = Chain(client_of(one), first.header.start, first.header.seed, first.tau)
    assert paths[0] == paths[1] == [repr(e) for e in alone.advance(5)]  # one seed, one path
    assert first.header.shape["rows"] == client_of(one).shape.rows and first.header.model_hash == one.model.model_hash


def test_branches_and_restarts_keep_the_seat() -> None:
    app, live = visit()
    client = client_of(live)
    live.move(2)
    live.branch()
    assert live.player.tracks[1].chain.conditionals is client
    live.reset()
    assert client_of(live) is client
    app.run()
    assert not app.exception and client_of(app.session_state["live"]) is client


def test_a_closed_tab_leaves_the_line() -> None:
    app, visitor, seat = visitor_with("seat")
    assert isinstance(seat, Seat)
    lm, crowd = builtin(), Crowd()
    client = seat.at(lm)
    with lm._turns:  # the sampler cannot go on
        waiting = crowd.ask(client, [2000, 2001], [2001, 2002], [2002, 2003])
        until(lambda: client._service.queued == 1)
        clear_session_resource_cache(visitor)
        error = waiting.exception(LIMIT_S)
    assert isinstance(error, Cancelled) and client._service.queued == 0
    crowd.end()
