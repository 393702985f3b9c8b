"""The playhead that skips waiting: one change a frame, one clock for all chains, an end where nothing moves."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from glauber_core.chain import Chain
from glauber_core.errors import UserError
from glauber_core.record import Entry
from glauber_core.temperature import Schedule
from glauber_core.waiting import FOREVER
from pages.ui import player as module
from pages.ui.player import Player, Track
from pages.ui.words import ABSORBED, OUTLASTED
from tests.core.chains import START, TABLE, chain

TRAP = [3, 0, 1]


def trapped(rate: float, seed: int = 5, tau: float = 1.0, **kwargs: Any) -> Chain:
    return Chain(TABLE.with_trap(TRAP, rate), TRAP, seed, tau, **kwargs)


def skipping(*chains: Chain) -> Player:
    return Player([Track(c, 0, name) for c, name in zip(chains, "ABCD", strict=False)], skip=True)


def changes(chain: Chain, count: int) -> list[Entry]:
    """What the chain's own skips give."""
    return [entry for _ in range(count) for entry in chain.skip().entries]


@pytest.fixture(autouse=True)
def no_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that stands still while changes are computed: how busy the machine is decides nothing."""
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: 0.0))


def test_a_frame_is_a_change() -> None:
    player = skipping(trapped(1e-6))
    assert player.move(5, skip=True) == 5
    entries = changes(trapped(1e-6), 5)
    assert player.block.frames == [list(enumerate(entries, start=1))] and player.cursor == player.head == 5
    assert player.tracks[0].chain.record.elapsed == sum(e.dwell for e in entries) > 1000
    assert player.tracks[0].seen is not None and player.tracks[0].seen[0] == 5
    assert [p["step"] for p in player.tracks[0].chain.record.profiles] == [1, 2, 3, 4, 5]


def test_compared_chains_skip_side_by_side() -> None:
    player = skipping(trapped(1e-6, 1), trapped(1e-3, 2), chain(seed=3))
    player.move(20, skip=True)
    for track, alone in zip(player.tracks, (trapped(1e-6, 1), trapped(1e-3, 2), chain(seed=3)), strict=True):
        assert track.chain.record.entries == changes(alone, 20)


def test_playing_and_stepping_mix_in_one_record_and_what_is_recorded_stays() -> None:
    player = skipping(chain(seed=4, tau=0.6))
    player.play()
    mine, alone = player.tracks[0].chain, chain(seed=4, tau=0.6)
    wanted: list[Entry] = []
    for k, on in enumerate((True, False, True, False)):
        before = list(mine.record.entries)
        player.set_skip(on)
        player.pace = player.speed = 8.0
        assert mine.record.entries == before
        player.tick(0.5, now=100.0 + 0.5 * k)
        wanted += changes(alone, 4) if on else alone.advance(4)
        assert mine.record.entries == wanted
    player.seek(0)
    player.set_skip(True)
    player.move(16, skip=True)  # replayed, steps without a change too: nothing is drawn anew
    assert mine.record.entries == wanted and [e for _, e in player.block.frames[0]] == wanted


def test_the_pace_is_changes_a_second_and_the_speed_is_kept() -> None:
    player = skipping(chain())
    player.speed, player.pace = 100.0, 4.0
    player.play()
    player.tick(0.5, now=100.0)
    player.tick(0.5, now=100.5)
    assert player.cursor == 4 and {e.kind for e in player.tracks[0].chain.record.entries} == {"skip"}
    player.set_skip(False)
    player.tick(0.5, now=101.0)
    assert player.cursor == 54


def test_what_is_left_of_a_sweep_is_steps() -> None:
    player = skipping(chain())
    player.play()
    player.until = 7
    player.tick(0.5, now=100.0)
    assert not player.playing and [e.kind for e in player.tracks[0].chain.record.entries] == ["step"] * 7


class Slow:
    """Conditionals of which a skip and the look at what it led to take a time, on a clock of their own."""

    vocab_size, allowed = TABLE.vocab_size, TABLE.allowed

    def __init__(self, seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.seconds = 100.0, seconds
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: self.now))

    def __call__(self, states: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        self.now += self.seconds / 2
        return TABLE(states, positions)


@pytest.mark.parametrize("seconds, done", [(0.05, 3), (10.0, 1)])
def test_a_beat_ends_in_time(monkeypatch: pytest.MonkeyPatch, seconds: float, done: int) -> None:
    slow = Slow(seconds, monkeypatch)
    player = skipping(Chain(slow, START, 1, 1.0))
    player.pace = None
    player.play()
    player.tick(0.2)  # 0.6 of it is 0.12 seconds
    assert player.cursor == done


def test_it_ends_between_two_chains_if_need_be_and_the_others_come_next(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Slow(1.0, monkeypatch)
    player = skipping(*(Chain(slow, START, seed, 1.0) for seed in (1, 2, 3)))
    player.play()
    seen = []
    for _ in range(7):
        player.tick(0.5)  # time for one chain's change
        assert player.live  # nothing is ahead of the screen
        seen.append([t.chain.steps for t in player.tracks])
        moved = [k for frames in player.block.frames for k, _ in frames]
        assert moved == [player.cursor]
    assert seen == [[1, 0, 0], [1, 1, 0], [1, 1, 1], [2, 1, 1], [2, 2, 1], [2, 2, 2], [3, 2, 2]]
    player.pause()
    assert player.move(1, slow.now, skip=True) == 1  # a click is done for every chain
    assert [t.chain.steps for t in player.tracks] == [3, 3, 3]
    assert player.move(1, slow.now, skip=True) == 1
    for track, seed in zip(player.tracks, (1, 2, 3), strict=True):
        assert track.chain.record.entries == changes(chain(seed=seed), 4)


# -- where nothing moves ----------------------------------------------------------------------------------------------


def test_absorbed_at_temperature_zero_stops_the_clock_with_a_sentence() -> None:
    player = skipping(chain(tau=0.0))
    player.pace = None
    player.play()
    for beat in range(3):
        player.tick(0.5, now=100.0 + beat)
    mine = player.tracks[0].chain
    assert not player.playing and player.stuck and player.tracks[0].stuck == ABSORBED
    assert player.cursor == player.head == mine.steps and mine.skip(1).end == "absorbed"
    mine.conditionals = None  # type: ignore[assignment]
    player.move(5, skip=True)  # known already: the model is not even asked
    assert player.block.frames == [[]]
    mine.conditionals = TABLE
    mine.set_tau(1.0)
    assert not player.stuck and player.move(2, skip=True) == 2


def test_a_wait_beyond_the_end_of_the_clock_stops_it_too() -> None:
    player = skipping(trapped(1e-6, tau=0.001))
    player.play()
    player.pace = None
    player.tick(0.5, now=100.0)
    mine = player.tracks[0].chain
    assert not player.playing and player.tracks[0].stuck == OUTLASTED
    assert mine.steps == 0 and mine.record.elapsed == FOREVER
    mine.set_tau(1.0)
    player.move(1, skip=True)
    assert player.tracks[0].stuck == OUTLASTED  # the clock is at its end, whatever the temperature
    side = player.add(mine.branch(0, 1), 0)
    assert player.move(3, skip=True) == 3 and side.chain.steps == 3 and not player.stuck


def test_the_others_go_on_without_a_chain_that_is_absorbed_and_it_catches_up_by_and_by() -> None:
    player = skipping(chain(seed=1), Chain(TABLE, START, 2, 0.0))
    player.move(30, skip=True)
    first, second = player.tracks
    fell = second.chain.steps
    assert first.chain.steps == player.cursor == 30 and fell < 30 and second.stuck and not player.stuck
    for track, frames, start in zip(player.tracks, player.block.frames, player.block.starts, strict=True):
        assert [k for k, _ in frames] == list(range(start + 1, track.chain.steps + 1))
    second.chain.set_tau(1.0)
    player.move(1, skip=True)
    assert (first.chain.steps, second.chain.steps) == (31, fell + 2)
    player.move(60)
    assert first.chain.steps == second.chain.steps == 91


def test_while_the_schedule_moves_the_temperature_a_frame_is_a_step() -> None:
    player = skipping(chain(tau=0.5, schedule=Schedule("anneal", sweeps=2.0)))
    player.move(10, skip=True)
    kinds = [e.kind for e in player.tracks[0].chain.record.entries]
    assert kinds == ["step"] * 6 + ["skip"] * 4
    heated = skipping(chain(tau=0.5, schedule=Schedule("heat_then_cool", sweeps=4.0)))
    heated.move(10, skip=True)
    taus = [e.tau for e in heated.tracks[0].chain.record.entries]
    assert taus[0] == 3.0 and taus[-1] == 0.5 and heated.cursor == 10


def test_errors_are_those_of_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_ENTRIES", 4)
    player = skipping(chain())
    with pytest.raises(UserError, match="has reached 4 steps; export it"):
        player.move(9, skip=True)
    assert player.cursor == player.head == 4
    player = skipping(chain())
    player.tracks[0].chain.set_locked(range(3))
    with pytest.raises(UserError, match="Every word is locked"):
        player.move(1, skip=True)


def test_entries_are_no_measure_of_time_once_waiting_was_skipped() -> None:
    player = Player([Track(trapped(1e-6), 0, "A")])
    player.move(3)
    assert not player.clocked
    player.set_skip(True)
    assert player.clocked
    player.move(1, skip=True)
    player.set_skip(False)
    assert player.clocked
