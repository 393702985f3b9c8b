"""Beats: seldom where many play, and not changed all the time."""

from __future__ import annotations

from pages.ui.beat import BEATS, EACH, GONE, KEPT, Beats


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_more_play_the_less_often() -> None:
    beats = Beats(Clock())
    found = [beats.of(f"{k}") for k in range(5 * EACH)]
    assert found == [b for b in BEATS for _ in range(EACH)] + [BEATS[-1]] * (2 * EACH)


def test_a_beat_stays_a_while_and_then_follows() -> None:
    clock = Clock()
    beats = Beats(clock)
    assert beats.of("first") == BEATS[0]
    for k in range(EACH):
        beats.of(f"{k}")
    assert beats.of("first") == BEATS[0]
    clock.now = KEPT
    assert beats.of("first") == BEATS[1]


def test_who_is_gone_does_not_count() -> None:
    clock = Clock()
    beats = Beats(clock)
    for k in range(3 * EACH):
        beats.of(f"{k}")
    clock.now = GONE + 1
    assert beats.of("new") == BEATS[0]
