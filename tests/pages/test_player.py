"""The playhead: one clock for all chains, computing forward and replaying back."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from glauber_core.chain import Chain
from glauber_core.errors import UserError
from glauber_core.exact import CurieWeiss
from glauber_core.service import ConditionalCache, SamplerService, patience
from glauber_core.types import Conditionals
from pages.ui import player as module
from pages.ui.player import MAX_CHAINS, Player, Track

SPINS = CurieWeiss(0.6)
N = 5


def chain(seed: int = 1, tau: float = 1.0, model: Conditionals = SPINS, **kwargs: Any) -> Chain:
    return Chain(model, [0, 1, 0, 1, 1], seed, tau, **kwargs)


def alone(**kwargs: Any) -> Player:
    return Player([Track(chain(**kwargs), 0, "A")])


def tokens_on_screen(player: Player, track: Track) -> list[int]:
    return track.chain.record.state_at(track.local(player.cursor)).tolist()


# -- the clock --------------------------------------------------------------------------------------------------------


def test_a_new_player_shows_step_zero() -> None:
    player = alone()
    assert (player.cursor, player.head, player.live, player.playing) == (0, 0, True, False)
    assert player.block.starts == [0] and player.block.frames == [[]] and player.seq == 0


def test_moving_computes_and_hands_over_the_frames() -> None:
    player, wanted = alone(), chain()
    assert player.move(7) == 7
    entries = wanted.advance(7)
    assert player.block.starts == [0] and player.block.frames == [list(enumerate(entries, start=1))]
    assert (player.cursor, player.head, player.seq) == (7, 7, 1)
    assert player.move(3) == 3 and player.block.starts == [7] and player.seq == 2
    assert [k for k, _ in player.block.frames[0]] == [8, 9, 10]
    assert player.move(0) == 0 and player.block.frames == [[]] and player.cursor == 10


def test_frames_lead_from_the_snapshot_to_the_cursor() -> None:
    player = Player([Track(chain(1), 0, "A"), Track(chain(2, 3.0), 0, "B")])
    for steps in (1, 4, 9):
        player.move(steps)
        for track, frames in zip(player.tracks, player.block.frames, strict=True):
            state = track.chain.record.state_at(player.block.starts[player.tracks.index(track)])
            for _, entry in frames:
                assert state[entry.position] == entry.old
                state[entry.position] = entry.new
            assert state.tolist() == tokens_on_screen(player, track)


def test_seeking_back_and_playing_on_replays_what_was_recorded() -> None:
    player = alone()
    player.move(40)
    entries, epoch = list(player.tracks[0].chain.record.entries), player.epoch
    player.play()
    player.seek(12)
    assert (player.cursor, player.playing, player.live) == (12, False, False)
    assert player.epoch == epoch + 1 and player.block.frames == [[]] and player.block.starts == [12]
    player.move(10)
    assert [e for _, e in player.block.frames[0]] == entries[12:22] and player.head == 40
    player.move(30)  # past the end: replay, then compute
    assert player.cursor == player.head == 52 and player.live
    assert [e for _, e in player.block.frames[0]][:18] == entries[22:]
    assert player.tracks[0].chain.record.entries[:40] == entries
    undisturbed = chain()
    assert player.tracks[0].chain.record.entries == undisturbed.advance(52)


@pytest.mark.parametrize("step, wanted", [(-5, 0), (0, 0), (10, 10), (11, 10), (10**9, 10)])
def test_seeking_stays_within_the_record(step: int, wanted: int) -> None:
    player = alone()
    player.move(10)
    player.seek(step)
    assert player.cursor == wanted


def test_figures_are_taken_once_a_sweep_and_on_request() -> None:
    player = alone()
    player.move(N - 1)
    assert player.tracks[0].seen is None
    player.move(1)
    assert player.tracks[0].seen is not None and player.tracks[0].seen[0] == N
    player.move(N)
    assert [p["step"] for p in player.tracks[0].chain.record.profiles] == [N, 2 * N]
    player.seek(3)
    player.look()
    assert player.tracks[0].seen[0] == 3
    assert [p["step"] for p in player.tracks[0].chain.record.profiles] == [3, N, 2 * N]


def test_looking_twice_costs_nothing_and_a_new_tau_is_looked_at_anew() -> None:
    player = alone()
    player.look()
    first = player.tracks[0].seen
    player.look()
    assert player.tracks[0].seen is first
    player.tracks[0].chain.set_tau(0.1)
    player.look()
    assert player.tracks[0].seen is not first and player.tracks[0].seen is not None
    assert player.tracks[0].seen[1].tau == 0.1


# -- several chains ---------------------------------------------------------------------------------------------------


def test_compared_chains_share_the_clock_and_replay_from_where_they_begin() -> None:
    player = alone()
    player.move(20)
    track = player.add(chain(seed=2), 0)
    assert track.name == "B" and player.cursor == 0
    player.move(8)
    assert [t.chain.steps for t in player.tracks] == [20, 8]  # A replays, B computes
    player.move(20)
    assert [t.chain.steps for t in player.tracks] == [28, 28] and player.head == 28
    assert player.tracks[0].chain.record.entries == chain().advance(28)
    assert player.tracks[1].chain.record.entries == chain(seed=2).advance(28)


def test_a_branch_begins_at_its_offset() -> None:
    player = alone()
    player.move(30)
    first = player.tracks[0]
    side = player.add(first.chain.branch(12, 1), 12)
    assert (player.cursor, side.local(player.cursor), player.head) == (12, 0, 30)
    assert tokens_on_screen(player, side) == tokens_on_screen(player, first)
    player.move(5)
    assert side.chain.steps == 5 and [k for k, _ in player.block.frames[1]] == [1, 2, 3, 4, 5]
    assert [k for k, _ in player.block.frames[0]] == [13, 14, 15, 16, 17]
    player.seek(4)  # before the branch: it shows its start
    assert side.local(player.cursor) == 0
    player.move(10)
    assert side.local(player.cursor) == 2 and side.chain.steps == 5


def test_at_most_four_and_names_are_reused() -> None:
    player = alone()
    for seed in (2, 3, 4):
        player.add(chain(seed), 0)
    assert [t.name for t in player.tracks] == ["A", "B", "C", "D"]
    with pytest.raises(UserError, match=f"At most {MAX_CHAINS}"):
        player.add(chain(9), 0)
    player.remove("C")
    assert player.add(chain(5), 0).name == "C"
    player.remove("A")  # the first one stays
    player.remove("nobody")
    assert sorted(t.name for t in player.tracks) == ["A", "B", "C", "D"] and len(player.block.frames) == 4


def test_removing_the_longest_chain_brings_the_cursor_back() -> None:
    player = alone()
    player.move(10)
    side = player.add(chain(seed=2), 0)
    player.move(10)
    player.tracks[0].chain.advance(0)
    side.chain.resample(0)
    player.by_hand(side)
    assert player.cursor == 11
    player.remove("B")
    assert player.cursor == player.head == 10 and player.live


def test_work_by_hand_is_shown_at_once_and_the_others_catch_up() -> None:
    player = Player([Track(chain(1), 0, "A"), Track(chain(2), 0, "B")])
    player.move(6)
    epoch = player.epoch
    player.tracks[0].chain.resample(2)
    player.by_hand(player.tracks[0])
    assert player.cursor == 7 and player.epoch == epoch + 1 and player.block.frames == [[], []]
    assert player.tracks[0].seen is not None and player.tracks[0].seen[0] == 7
    player.move(1)
    assert [t.chain.steps for t in player.tracks] == [8, 8]
    assert player.tracks[1].chain.record.entries == chain(2).advance(8)


def test_frames_of_a_chain_that_lags_lead_from_its_snapshot_too() -> None:
    player = Player([Track(chain(1), 0, "A"), Track(chain(2, 3.0), 0, "B")])
    player.move(6)
    player.tracks[0].chain.resample(2)
    player.by_hand(player.tracks[0])  # A is a step ahead of B now
    player.move(1)
    track, frames = player.tracks[1], player.block.frames[1]
    snapshot = player.block.starts[1]
    assert [k for k, _ in frames] == list(range(snapshot + 1, track.chain.steps + 1))


# -- errors -----------------------------------------------------------------------------------------------------------


def test_all_words_locked_stops_with_a_sentence() -> None:
    player = alone()
    player.move(3)
    player.tracks[0].chain.set_locked(range(N))
    with pytest.raises(UserError, match="Every word is locked"):
        player.move(5)
    assert player.cursor == 3 and player.block.frames == [[]]


def test_steps_before_an_error_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_ENTRIES", 10)
    player = alone()
    player.move(8)
    with pytest.raises(UserError, match="has reached 10 steps; export it"):
        player.move(5)
    assert player.cursor == player.head == 10 and [k for k, _ in player.block.frames[0]] == [9, 10]
    player.seek(0)
    assert player.move(10) == 10  # replaying is still possible
    with pytest.raises(UserError):
        player.move(1)


# -- time -------------------------------------------------------------------------------------------------------------


def test_a_beat_does_as_many_steps_as_time_has_passed_for() -> None:
    player = alone()
    player.speed = 8.0
    player.play()
    player.tick(0.5, now=100.0)
    assert player.cursor == 4
    player.tick(0.5, now=100.5)
    assert player.cursor == 8
    player.tick(0.5, now=101.5)  # a late beat makes up for it
    assert player.cursor == 16
    player.tick(0.5, now=200.0)  # but a long sleep does not: at most four beats
    assert player.cursor == 32
    assert player.rate is not None


@pytest.fixture
def no_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that stands still while steps are computed: how busy the machine is decides nothing."""
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: 0.0))


@pytest.mark.parametrize("speed, steps", [(0.5, 5), (1, 10), (3, 30), (12, 120), (15, 150)])
@pytest.mark.parametrize("late", [0, 0.125, 0.375])
def test_a_speed_is_exact_over_time(no_deadline: None, speed: float, steps: int, late: float) -> None:
    player = alone()
    player.speed = speed
    player.play()
    for beat in range(20):
        delay = late if beat % 3 == 2 else 0  # some beats come late; the next ones are shorter
        player.tick(0.5, now=100.0 + 0.5 * beat + delay)
        assert abs(player.cursor - speed * 0.5 * (beat + 1 + delay / 0.5)) < 1
    assert player.cursor == player.tracks[0].chain.steps == steps


def test_a_slow_speed_waits_for_its_first_step_and_owes_nothing_after_a_pause(no_deadline: None) -> None:
    player = alone()
    player.speed = 1.0
    for now in (100.0, 200.0, 300.0):  # half a step each time
        player.play()
        player.tick(0.5, now=now)
        player.pause()
    assert player.cursor == 0
    player.play()
    player.tick(0.5, now=400.0)
    player.play()  # while it runs: changes nothing
    player.tick(0.5, now=400.5)
    assert player.cursor == 1


def test_a_pause_is_not_made_up_for() -> None:
    player = alone()
    player.speed = 8.0
    player.play()
    player.tick(0.5, now=100.0)
    player.pause()
    assert not player.playing
    player.play()
    player.tick(0.5, now=500.0)
    assert player.cursor == 8


def test_the_clock_stops_by_itself_where_it_was_told_to() -> None:
    player = alone()
    player.play()
    player.until = 9
    player.tick(0.5, now=100.0)
    assert player.cursor == 9 and not player.playing and player.until is None


class Slow:
    """Conditionals that take their time, on a clock of their own."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.vocab_size, self.allowed, self.now = seconds, 2, SPINS.allowed, 100.0

    def __call__(self, states: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        self.now += self.seconds
        return SPINS(states, positions)


def test_a_slow_model_is_not_waited_for_and_its_rate_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Slow(0.05)
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: slow.now))
    player = alone(model=slow)
    player.speed = 1000.0
    player.play()
    player.tick(0.2)
    assert player.cursor == 3  # 0.6 of the beat is 0.12 seconds: the third step is the last one begun in it
    assert player.rate == pytest.approx(3 / 0.2)
    for beat in range(1, 4):
        slow.now = 100.0 + 0.2 * beat
        player.tick(0.2)
        assert player.rate is not None and player.rate < 20
    assert player.cursor == player.tracks[0].chain.steps == 3 + 2 + 3 + 2  # once a sweep, a call looks at the whole


def test_as_fast_as_it_computes_ends_with_the_beat(monkeypatch: pytest.MonkeyPatch) -> None:
    quick = Slow(0.001)
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: quick.now))
    player = alone(model=quick)
    player.speed = None
    player.play()
    player.tick(0.1)
    # 0.6 of the beat; of it a look at the whole sentence, once a sweep, is one call more
    assert player.cursor == player.tracks[0].chain.steps and quick.now == pytest.approx(100.06, abs=0.0021)
    assert 45 <= player.cursor <= 60


def test_a_sweep_by_the_clock_ends_with_every_chain_at_its_end() -> None:
    """Where time is short a beat may end between two chains of a step: the clock goes on until all have done it."""
    service = SamplerService(SPINS, rows=2, cache=ConditionalCache(0))
    chains = [chain(seed, model=service.client("me")) for seed in (1, 2, 3, 4)]
    player = Player([Track(c, 0, name) for c, name in zip(chains, "ABCD", strict=True)])
    deadline = time.monotonic() + 60
    for sweep in (1, 2, 3):
        player.play()
        player.until = 6 * sweep
        while player.playing:
            assert time.monotonic() < deadline
            with patience(time.monotonic() + 0.0005):
                player.tick(0.5)
        assert [c.steps for c in chains] == [6 * sweep] * 4 and player.cursor == 6 * sweep
    service.close()
