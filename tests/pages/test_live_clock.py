"""What clicks and beats do: the same click twice, too many steps at once, places that are none."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from glauber_core.shape import threads
from pages.ui import live_session as module
from tests.pages.test_live_session import picture, session


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    with threads(1):
        yield


def test_a_click_that_arrives_twice_does_no_harm() -> None:
    live = session()
    for on in (True, False, True):
        live.run(on)
        live.run(on)
        assert live.player.playing is on
    live.run(False)
    live.run(False)
    before = picture(live)
    assert live.tick(0.5) and picture(live) == before and not live.player.playing


def test_starting_and_stopping_clears_the_message_and_a_failed_beat_stops_the_clock() -> None:
    live = session()
    live.compare(-1.0, 1)
    assert live.error
    live.run(True)
    assert live.error == ""
    live.player.speed = 1000.0
    live.player.tracks[0].chain.set_locked(range(live.player.tracks[0].chain.n))
    assert not live.tick(0.5)
    assert "Every word is locked" in live.error and not live.player.playing and live.player.cursor == 0


def test_many_steps_at_once_go_on_by_the_clock_where_they_can_be_paused(monkeypatch: pytest.MonkeyPatch) -> None:
    live = session()
    monkeypatch.setattr("pages.ui.player.LONGEST", 60.0)
    monkeypatch.setattr(module, "AT_ONCE", 60.0)
    live.move(12)
    assert live.player.cursor == 12 and not live.player.playing
    monkeypatch.setattr(module, "AT_ONCE", 0.0)  # time is up after the first step
    live.move(30)
    assert live.player.cursor == 13 and live.player.playing
    live.run(False)
    assert live.tick(60.0) and live.player.cursor == 13
    live.move(30)
    assert live.player.playing
    assert not live.tick(60.0)  # a beat of a minute: all that is left
    assert live.player.cursor == live.player.head == 43 and not live.player.playing and live.error == ""
    undisturbed = session()
    undisturbed.player.move(43)
    assert live.player.tracks[0].chain.record.entries == undisturbed.player.tracks[0].chain.record.entries


@pytest.mark.parametrize("step", [None, "3", [3], {}, float("nan"), float("inf"), -1, -0.5, 1e9, 10**400])
def test_a_place_that_is_no_step_is_ignored(step: object) -> None:
    live = session()
    live.player.move(9)
    before = picture(live)
    live.seek(step)
    assert picture(live) == before
    live.seek(4.9)
    assert live.player.cursor == 4


@pytest.mark.parametrize("name, position", [(None, 1), ("A", "1"), (3, 3), ("A", None), ("A", 1.0)])
def test_a_pick_that_names_no_word_is_ignored(name: object, position: object) -> None:
    live = session()
    live.pick("A", 2)
    live.pick(name, position)
    assert live.selected == ("A", 2)
    live.pick("A", 2)  # the same once more: let go
    assert live.selected is None
