"""Streamlit may run two threads of one session at a time: what the visitor has stays consistent."""

from __future__ import annotations

import itertools
import json
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, cast

import pytest
import torch

from glauber_core.chain import Chain
from glauber_core.models import MaskedLM
from glauber_core.record import RunRecord
from glauber_core.shape import threads
from pages.ui import live_session as module
from pages.ui.address import default
from pages.ui.live_session import LiveSession
from pages.ui.player import Player, Track
from tests.models.checkpoints import model

TEXT, WORDS = "the cat sat on the mat", 6
ROUNDS = 40


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(module, "AT_ONCE", 60.0)  # a busy machine decides nothing
    with threads(1):
        yield


class Slow:
    """A model that lets the other threads in at every call: logits of a fixed table, after a moment's sleep."""

    def __init__(self) -> None:
        lm = model("bert")
        self.name, self.model_hash, self.vocabulary = "slow", "", lm.vocabulary
        self.vocab_size, self.allowed = lm.vocab_size, lm.allowed
        self._table = torch.randn(WORDS, lm.vocab_size, generator=torch.Generator().manual_seed(1)).double()
        self._table[:, ~lm.allowed] = -torch.inf

    def __call__(self, states: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        time.sleep(0.0005)
        return self._table[positions]


def session() -> LiveSession:
    lm = cast(MaskedLM, Slow())
    base = replace(default(TEXT), model=lm.name)
    live = LiveSession(lm, base, Player([Track(Chain(lm, lm.vocabulary.encode(TEXT).ids, 1, 1.0), 0, "A")]))
    assert live.restart(base)
    live.compare(3.0, 5)
    live.player.speed = 1000.0
    live.pick("A", 2)
    return live


def check_block(live: LiveSession) -> None:
    """What a drawing of the page relies on: each chain's frames lead, step by step, to the one on the screen."""
    player = live.player
    for track, frames in zip(player.tracks, player.block.frames, strict=True):
        shown = track.local(player.cursor)
        assert [k for k, _ in frames] == list(range(shown - len(frames) + 1, shown + 1))
        state = track.chain.record.state_at(shown - len(frames))
        for _, entry in frames:
            assert state[entry.position] == entry.old
            state[entry.position] = entry.new
        assert state.tolist() == track.chain.record.state_at(shown).tolist()


def check_records(live: LiveSession) -> None:
    """Every record replays, step by step, to the tokens its chain has, and is one that can be read back."""
    for track in live.player.tracks:
        chain, state = track.chain, list(track.chain.header.start)
        for entry in chain.record.entries:
            assert state[entry.position] == entry.old
            state[entry.position] = entry.new
        assert state == chain.tokens == chain.record.state_at(chain.steps).tolist()
        assert RunRecord.from_dict(json.loads(chain.record.to_json())).entries is not None
        own = [e for e in chain.record.entries if e.kind == "step"]
        alone = Chain(chain.conditionals, chain.header.start, chain.header.seed, chain.tau, chain=chain.header.chain)
        # The law of a word does not depend on the others here, so that the chain's own draws are those it has alone.
        assert [(e.position, e.new) for e in own] == [(e.position, e.new) for e in alone.advance(len(own))]


def hammer(live: LiveSession) -> list[BaseException]:
    """Clicks and beats of several threads at once; what went wrong in them."""
    wrong: list[BaseException] = []
    together = threading.Barrier(5)
    by_hand = itertools.cycle([("resample", ""), ("put", "water"), ("put", "[MASK]"), ("put", "the"), ("lock", "")])

    def tick(draw: random.Random) -> None:
        live.run(True)
        live.tick(0.02)

    def move(draw: random.Random) -> None:
        live.move(draw.randint(1, 4))

    def seek(draw: random.Random) -> None:
        live.seek(draw.randint(0, live.player.head))
        live.move(draw.randint(1, 3))

    def act(draw: random.Random) -> None:
        with live.lock:  # at the present step, where it can be done
            live.move(live.player.head - live.player.cursor)
            what, word = next(by_hand)
            live.act(what, word)
            if what == "lock":
                live.act("resample")
                live.act("lock")  # open again: no step has been drawn meanwhile
        live.act("resample")

    def see(draw: random.Random) -> None:
        with live.lock:
            check_block(live)

    def work(seed: int, what: Callable[[random.Random], None]) -> None:
        draw = random.Random(seed)
        try:
            together.wait(10)
            for _ in range(ROUNDS):
                what(draw)
        except BaseException as error:
            wrong.append(error)

    workers = [threading.Thread(target=work, args=pair) for pair in enumerate((tick, move, seek, act, see))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert not any(worker.is_alive() for worker in workers)
    return wrong


def test_two_threads_of_one_session_leave_it_consistent() -> None:
    live = session()
    assert hammer(live) == []
    live.run(False)
    live.move(live.player.head - live.player.cursor + 3)
    assert live.error == "" and live.player.cursor == live.player.head and live.player.live
    assert min(track.chain.steps for track in live.player.tracks) > ROUNDS
    kinds = {e.kind for e in live.player.tracks[0].chain.record.entries}
    assert kinds == {"step", "resample", "edit"}
    check_block(live)
    check_records(live)


@pytest.mark.parametrize("unguarded", ["tick", "move", "act", "all"])
def test_without_the_lock_they_do_not(unguarded: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail: a session of which one method holds nobody up is torn apart."""
    live = session()
    if unguarded == "all":
        live.lock = nullcontext()
    else:
        monkeypatch.setattr(LiveSession, unguarded, getattr(LiveSession, unguarded).__wrapped__)
    wrong: list[Any] = hammer(live)
    with pytest.raises(AssertionError):
        assert wrong == []
        check_records(live)


def test_a_method_may_call_another_while_it_holds_the_lock() -> None:
    live = session()
    with live.lock:  # as the page does while it draws
        live.move(2)
        live.seek(1)
    assert live.player.cursor == 1
