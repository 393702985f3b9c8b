"""What a visitor has: bad input leaves everything as it was, and says why."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, cast

import pytest

from glauber_core.chain import Chain
from glauber_core.errors import UserError
from glauber_core.models import MaskedLM
from glauber_core.models.registry import ModelRegistry
from glauber_core.shape import threads
from pages.ui.address import default
from pages.ui.live_session import MAX_TOKENS, LiveSession
from pages.ui.player import Player, Track
from tests.models.checkpoints import FAMILIES, model

TEXT = "the cat sat on the mat"


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    with threads(1):
        yield


def session(family: str = "bert", text: str = TEXT) -> LiveSession:
    lm = model(family)
    base = replace(default(text), model=lm.name)
    start = Chain(lm, lm.vocabulary.encode(text).ids, base.seed, base.tau)
    live = LiveSession(lm, base, Player([Track(start, 0, "A")]))
    assert live.restart(base)
    return live


def picture(live: LiveSession) -> tuple[Any, ...]:
    """Everything a visitor sees, apart from the message."""
    tracks = [
        (t.name, t.offset, t.chain.tokens, t.chain.steps, t.chain.tau, t.chain.locked) for t in live.player.tracks
    ]
    values = live.model.name, live.address, live.notes, live.selected, live.own_tau, live.schedule
    return copy.deepcopy((tracks, live.player.cursor, live.player.playing, *values))


def sentence(live: LiveSession) -> str:
    return live.model.vocabulary.text(live.player.tracks[0].chain.tokens)


class Registry:
    """Stands for the process's models: gives the futures it is told."""

    def __init__(self, futures: dict[str, Future[Any]]) -> None:
        self.futures = futures

    def request(self, name: str) -> Future[Any]:
        return self.futures[name]


def want(live: LiveSession, name: str, future: Future[Any]) -> None:
    live.want(name, cast(ModelRegistry, Registry({name: future})))


def ready(value: MaskedLM | None = None, error: Exception | None = None) -> Future[Any]:
    future: Future[Any] = Future()
    if error is not None:
        future.set_exception(error)
    elif value is not None:
        future.set_result(value)
    return future


# -- the sentence -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "  \n", "the " * (MAX_TOKENS + 1), "x" * 30_000, "\u200b"])
def test_a_sentence_that_cannot_be_used_leaves_everything_as_it_was(text: str) -> None:
    live = session()
    live.player.move(9)
    live.selected = ("A", 2)
    before = picture(live)
    assert not live.restart(replace(live.address, text=text))
    assert live.refused and picture(live) == before
    live.player.move(1)  # and the old chain goes on
    assert live.restart(replace(live.address, text="the dog")) and live.refused == ""


def test_bad_seeds_and_temperatures_too() -> None:
    live = session()
    before = picture(live)
    for bad in (
        replace(live.address, seed=-1),
        replace(live.address, tau=-1.0),
        replace(live.address, tau=float("nan")),
    ):
        assert not live.restart(bad) and live.refused and picture(live) == before


def test_a_new_sentence_begins_anew() -> None:
    live = session()
    live.player.move(5)
    live.compare(2.0, 3)
    live.selected = ("B", 1)
    assert live.restart(replace(live.address, text="the [MASK] 🤖", seed=9))
    assert [t.name for t in live.player.tracks] == ["A"] and live.player.cursor == 0
    assert live.selected is None and not live.own_tau and live.error == "" and len(live.notes) == 2
    assert live.player.tracks[0].chain.header.seed == 9 and live.address.text == "the [MASK] 🤖"
    assert live.player.tracks[0].chain.header.start_text == "the [MASK] 🤖"


def test_a_restart_is_a_new_picture_for_the_browser_and_keeps_the_speed() -> None:
    live = session()
    live.player.speed = 3.0
    epoch = live.player.epoch
    assert live.restart(live.address)
    assert live.player.epoch > epoch and live.player.speed == 3.0
    epoch = live.player.epoch
    live.reset()
    assert live.player.epoch > epoch and live.player.speed == 3.0


def test_reset_keeps_sentence_seed_locks_and_settings() -> None:
    live = session()
    live.selected = ("A", 1)
    live.act("lock")
    live.set_schedule("anneal")
    live.set_tau(2.0)
    first = live.player.tracks[0].chain
    live.player.move(12)
    again = first.record.entries
    live.compare(3.0, 4)
    live.reset()
    chain = live.player.tracks[0].chain
    assert len(live.player.tracks) == 1 and chain is not first and chain.steps == 0 and live.player.cursor == 0
    assert (chain.locked, chain.tau, chain.schedule.kind, live.own_tau) == (frozenset([1]), 2.0, "anneal", {})
    live.player.move(12)
    assert chain.record.entries == again


@pytest.mark.parametrize("family", FAMILIES)
def test_a_sentence_at_the_cap_works(family: str) -> None:
    live = session(family)
    assert live.restart(replace(live.address, text="the" + " the" * (MAX_TOKENS - 1)))
    assert live.player.tracks[0].chain.n == MAX_TOKENS
    live.player.move(2)


# -- the model --------------------------------------------------------------------------------------------------------


def test_the_model_in_use_stays_until_the_other_is_there() -> None:
    live, future = session(), ready()
    want(live, "new", future)
    before = picture(live)
    assert not live.arrived() and live.pending is not None and picture(live) == before
    live.player.move(3)
    future.set_result(model("roberta"))
    assert live.arrived() and live.pending is None
    assert live.model is model("roberta") and live.address.model == model("roberta").name
    assert live.error == "" and sentence(live) == TEXT and live.player.tracks[0].chain.conditionals is live.model
    assert live.arrived()


def test_a_model_that_cannot_be_had_leaves_the_old_one() -> None:
    live = session()
    live.player.move(4)
    before = picture(live)
    want(live, "new", ready(error=UserError("The hub cannot be reached.")))
    assert live.arrived() and live.pending is None and picture(live) == before
    assert live.error == f"The hub cannot be reached. Still using {live.model.name}."


@pytest.mark.parametrize("error", [RuntimeError("anything"), KeyError("weights"), OSError(5, "input/output error")])
def test_an_unforeseen_failure_of_a_model_leaves_the_old_one(error: Exception) -> None:
    live = session()
    live.player.move(4)
    before = picture(live)
    want(live, "owner/new", ready(error=error))
    assert live.arrived() and live.pending is None and picture(live) == before
    assert live.error == f"owner/new cannot be loaded ({type(error).__name__}). Still using {live.model.name}."


def test_a_model_that_cannot_take_the_sentence_leaves_the_old_one() -> None:
    live = session("roberta", "\u200b")  # a character that the uncased model does not see at all
    live.player.move(2)
    before = picture(live)
    want(live, "new", ready(model("bert")))
    assert live.arrived() and picture(live) == before
    assert "cannot take this sentence" in live.error and f"Still using {live.model.name}." in live.error


# -- temperature ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tau", [-1, float("nan"), float("inf"), 1000.5, 1e308, "hot", None, [1]])
def test_a_bad_temperature_changes_nothing_but_the_sliders_position(tau: object) -> None:
    live = session()
    before, rev = picture(live), live.rev
    live.set_tau(tau)
    assert live.error and picture(live) == before and live.rev == rev + 1


def test_the_slider_moves_the_chains_without_a_temperature_of_their_own() -> None:
    live = session()
    live.compare(2.5, 7)
    live.compare(None, 8)
    live.set_tau(0.1)
    assert [t.chain.tau for t in live.player.tracks] == [0.1, 2.5, 0.1] and live.address.tau == 0.1
    live.player.move(2)
    assert [t.chain.record.entries[-1].tau for t in live.player.tracks] == [0.1, 2.5, 0.1]


def test_a_schedule_begins_in_every_chain() -> None:
    live = session()
    live.compare(2.5, 7)
    live.set_schedule("heat_then_cool")
    assert [t.chain.tau_now for t in live.player.tracks] == [3.0, 5.0]
    with pytest.raises(UserError):
        live.set_schedule("boil")
    assert live.schedule.kind == "heat_then_cool"


# -- comparing --------------------------------------------------------------------------------------------------------


def test_compared_chains_begin_at_the_same_start() -> None:
    live = session()
    live.player.move(10)
    live.compare(3.0, 7)
    live.compare(None, 99)
    tracks = live.player.tracks
    assert [t.name for t in tracks] == ["A", "B", "C"] and live.player.cursor == 0
    assert len({t.chain.header.start for t in tracks}) == 1
    assert [t.chain.tau for t in tracks] == [0.7, 3.0, 0.7]
    assert [t.chain.header.seed for t in tracks] == [7, 7, 99]


@pytest.mark.parametrize("tau, seed", [(-1.0, 1), (float("nan"), 1), (1.0, -1), (1.0, 1.5), (1.0, None), (1.0, 2**63)])
def test_a_comparison_that_cannot_be_made(tau: float, seed: object) -> None:
    live = session()
    before = picture(live)
    live.compare(tau, seed)
    assert live.error and picture(live) == before


def test_the_fifth_chain_is_refused_and_a_removed_one_leaves_nothing_behind() -> None:
    live = session()
    for seed in (1, 2, 3):
        live.compare(2.0, seed)
    assert live.error == ""
    before = picture(live)
    live.compare(2.0, 4)
    assert "At most 4" in live.error and picture(live) == before
    live.selected = ("C", 0)
    live.remove("C")
    assert [t.name for t in live.player.tracks] == ["A", "B", "D"]
    assert set(live.own_tau) == {"B", "D"} and live.selected is None and live.target is None


# -- hands on ---------------------------------------------------------------------------------------------------------


def test_resample_put_and_lock() -> None:
    live = session()
    live.player.move(6)
    live.selected = ("A", 2)
    chain = live.player.tracks[0].chain
    live.act("resample")
    assert chain.record.entries[-1].kind == "resample" and chain.record.entries[-1].position == 2
    live.act("put", "water")
    assert live.model.vocabulary.surface(chain.tokens[2]).text == "water" and chain.steps == 8
    live.act("put", live.model.vocabulary.word_id("doctor", False))
    assert live.model.vocabulary.surface(chain.tokens[2]).text == "doctor"
    assert live.player.cursor == 9 and live.error == ""
    live.act("lock")
    assert chain.locked == {2}
    live.act("resample")
    assert "locked" in live.hint and chain.steps == 9
    live.act("lock")
    assert chain.locked == frozenset() and live.hint == ""


@pytest.mark.parametrize(
    "word", ["", "  ", "the cat", "waterdoctor", "🤖", "[MASK]", "x" * 5000, "<b>", 0, 13, -1, 10**9]
)
def test_a_word_that_cannot_be_put_changes_nothing(word: str | int) -> None:
    live = session()
    live.player.move(4)
    live.selected = ("A", 1)
    before = picture(live)
    live.act("put", word)
    assert live.hint and picture(live) == before


def test_the_past_cannot_be_changed_but_branched_from() -> None:
    live = session()
    live.player.move(20)
    live.selected = ("A", 3)
    live.player.seek(8)
    before = picture(live)
    for what, word in (("resample", ""), ("put", "water")):
        live.act(what, word)
        assert "earlier sentence" in live.hint and picture(live) == before
    live.branch()
    assert live.hint == ""
    side = live.player.tracks[1]
    assert (side.name, side.offset, live.player.cursor) == ("B", 8, 8)
    assert side.chain.tokens == live.player.tracks[0].chain.record.state_at(8).tolist()
    live.branch()
    assert live.player.tracks[2].chain.header.chain not in {0, side.chain.header.chain}
    live.branch()
    live.branch()
    assert "At most 4" in live.hint and len(live.player.tracks) == 4


def test_a_branch_keeps_the_temperature_of_the_chain_it_left() -> None:
    live = session()
    live.compare(2.5, 7)
    live.player.move(5)
    live.selected = ("B", 0)
    live.branch()
    live.selected = ("A", 0)
    live.branch()
    live.set_tau(0.3)  # the slider
    live.set_tau(live.address.tau)  # and what every run of the page does with its unchanged value
    assert [t.chain.tau for t in live.player.tracks] == [0.3, 2.5, 2.5, 0.3]


def test_nothing_selected_nothing_done() -> None:
    live = session()
    before = picture(live)
    for selected in (None, ("Z", 0), ("A", 99), ("A", -1)):
        live.selected = selected
        assert live.target is None
        live.act("resample")
        live.act("put", "water")
        live.act("lock")
    live.selected = None
    assert picture(live) == before and live.error == ""
