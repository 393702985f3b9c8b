"""What a visitor of the rectangle page has: bad input leaves everything as it was, and says why."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, cast

import pytest

from glauber_core.errors import UserError
from glauber_core.models.registry import ModelRegistry
from glauber_core.rectangle import Rule, rectangle
from glauber_core.shape import threads
from pages.ui.rectangle_address import MANY, ONE_SENTENCE, RectangleAddress, default
from pages.ui.rectangle_session import MAX_TOKENS, RectangleSession
from tests.models.checkpoints import FAMILIES, model

TEXT = "the cat sat on the mat"


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    with threads(1):
        yield


def address(text: str = TEXT) -> RectangleAddress:
    return default(text)


def session(family: str = "bert", text: str = TEXT) -> RectangleSession:
    lm = model(family)
    found = RectangleSession(lm, replace(address(text), model=lm.name))
    assert found.load(found.address)
    return found


def picture(s: RectangleSession) -> Any:
    """Everything a visitor sees, apart from the messages."""
    return copy.deepcopy((s.sentences, s.current, s.picked, s.new, s.shown, s.address, s.model.name))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_rectangle_is_there_at_once(family: str) -> None:
    s = session(family)
    assert s.shown is not None and len(s.picked) == 2
    i, j = sorted(s.picked)
    want = rectangle(s.model, s.tokens, i, j, s.new[i], s.new[j])
    assert s.shown == want and s.shown.delta > 0
    assert s.address.corner == (i, j, s.new[i], s.new[j])
    for position, listed in s.tops.items():
        assert s.tokens[position] not in dict(listed)
        chances = [p for _, p in listed]
        assert chances == sorted(chances, reverse=True) and 0 < chances[0] < 1


def test_a_click_takes_the_place_of_the_older_choice() -> None:
    s = session()
    s.picked = []
    s.pick(1)
    assert s.picked == [1] and s.shown is None and s.address.corner is None
    s.pick(4)
    assert s.picked == [1, 4] and s.shown is not None
    s.pick(2)
    assert s.picked == [4, 2] and (s.shown.i, s.shown.j) == (2, 4)
    s.pick(4)
    assert s.picked == [2] and s.shown is None


@pytest.mark.parametrize("position", [-1, 6, 99, True, 1.0, "1", None, [1]])
def test_forged_clicks_change_nothing(position: object) -> None:
    s = session()
    before = picture(s)
    s.pick(position)
    assert picture(s) == before


def test_replacements_by_id_and_by_word() -> None:
    s = session()
    i, j = sorted(s.picked)
    token = s.tops[i][1][0]
    s.replace(i, token)
    assert s.new[i] == token and not s.hints
    word = s.model.vocabulary.surface(s.tops[j][2][0]).text
    s.replace(j, f" {word} ")
    assert s.new[j] == s.model.vocabulary.word_id(word, False) and not s.hints
    assert s.shown == rectangle(s.model, s.tokens, i, j, s.new[i], s.new[j])


@pytest.mark.parametrize("family", FAMILIES)
def test_bad_replacements_are_explained_and_change_nothing(family: str) -> None:
    s = session(family)
    i = min(s.picked)
    present = s.model.vocabulary.surface(s.tokens[i]).text
    before = picture(s)
    for word in ("", "   ", present, "zzzqqqxx yyy", "x" * 500, "[MASK]", 10**9, -1, None, True):
        s.hints.clear()
        s.replace(i, word)
        assert picture(s) == before
        assert list(s.hints) == [i] and "stays" in s.hints[i], word
    s.hints.clear()
    s.replace(max(set(s.eligible) - set(s.picked)), s.new[i])  # a word that is not picked
    assert picture(s) == before and not s.hints


def test_a_word_of_several_pieces_is_named() -> None:
    s = session("bert", TEXT)
    i = min(s.picked)
    pieces = "catsat"
    with pytest.raises(UserError) as refused:
        s.model.vocabulary.word_id(pieces, False)
    s.replace(i, pieces)
    assert s.hints[i].startswith(str(refused.value))


def test_a_typed_word_takes_its_leading_space() -> None:
    s = session("roberta")
    assert s.model.vocabulary.style == "bytes"
    s.picked, s.new, s.tops = [], {}, {}
    s.pick(1)
    s.pick(3)
    s.replace(3, "mat")
    spaced = s.model.vocabulary.word_id("mat", False)
    assert s.new[3] == spaced and not s.model.vocabulary.surface(spaced).glued


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no sentence"),
        (" \n \t\n", "no sentence"),
        ("the " * (MAX_TOKENS + 1), str(MAX_TOKENS + 1)),
        ("\n".join(["the " * 100] * 3), "No line can be used"),
    ],
)
def test_a_text_that_cannot_be_used_changes_nothing(text: str, why: str) -> None:
    s = session()
    before = picture(s)
    assert not s.load(replace(s.address, text=text))
    assert why in s.refused and picture(s) == before
    assert s.load(s.address) and s.refused == ""


def test_one_word_gives_no_rectangle_and_no_fault() -> None:
    s = session("bert", "cat")
    assert s.shown is None and s.eligible == [0]
    s.replace(0, s.tops[0][1][0])
    assert "two words" in s.hints[0] and s.shown is None
    s.pick(0)
    s.pick(0)
    assert s.shown is None


def test_blanks_are_context() -> None:
    s = session("bert", "the [MASK] sat on the mat")
    assert 1 not in s.eligible and s.shown is not None
    before = picture(s)
    s.pick(1)
    assert picture(s) == before
    s.load(replace(s.address, text="[MASK] [MASK]", corner=None))
    assert s.eligible == [] and s.shown is None


def test_many_lines_are_cut_and_some_left_out() -> None:
    s = session()
    lines = [TEXT] * 500
    lines[2] = "the " * 100
    assert s.load(replace(s.address, text="\n".join(lines)))
    assert (
        len(s.sentences) == len(s.texts) == 199 and s.address.text.count("\n") == 499
    )  # nothing of what was typed is lost
    told = " ".join(s.notes)
    assert (
        "500" in told
        and "200" in told
        and "1 line left out. “the the the the the the the ...”: That is 100 tokens" in told
    )
    s.select(5)
    assert s.current == 5 and s.address.corner is None
    for index in (-1, 199, 10**9):
        s.select(index)
        assert s.current == 5


def test_texts_stay_as_typed_beside_what_the_model_reads() -> None:
    s = session("bert", "The CAT sat\n\n" + "the " * 100 + "\nal-ain\n")
    assert s.texts == ("The CAT sat", "al-ain")
    assert [s.model.vocabulary.text(e.ids) for e in s.sentences] == ["the cat sat", "al - ain"]


def test_of_many_lines_left_out_some_are_named() -> None:
    s = session()
    assert s.load(replace(s.address, text="\n".join([TEXT, *(f"{letter} " * 90 for letter in "abcde")])))
    told = " ".join(s.notes)
    assert told.startswith("5 lines left out. “a a a") and "“c c" in told and "“d d" not in told
    assert told.endswith("And so on.")


def test_a_rectangle_of_a_result_is_shown_on_the_first_view() -> None:
    s = session("bert", f"the cat sat\n{TEXT}")
    s.turn("test")
    s.error, s.notices = "an old one", ["a notice"]
    token = s.model.vocabulary.word_id("cat", False)
    s.show(1, (0, 5, token, token))
    assert s.current == 1 and s.address.view == "one" and s.address.corner is None  # links are to the first sentence
    assert s.shown is not None and (s.shown.i, s.shown.j) == (0, 5) and not s.error and not s.notices


def test_what_was_said_goes_with_the_next_act() -> None:
    s = session("bert", f"{TEXT}\nthe cat sat")
    word = min(s.picked)
    acts = (lambda: s.pick(0), lambda: s.replace(word, s.tops[word][1][0]), lambda: s.select(1), s.acts)
    for act in acts:
        s.error, s.notices = "It failed.", ["The link's seed is odd."]
        s.turn("one")  # the page itself, not the visitor
        assert s.error and s.notices
        s.picked = sorted({word, *s.picked})[:2]
        act()
        assert not s.error and not s.notices


def test_the_rule_follows_until_it_is_chosen() -> None:
    s = session()
    assert s.address.rule == ONE_SENTENCE
    s.turn("compare")
    assert s.address.rule == MANY
    s.turn("test")
    assert s.address.rule == ONE_SENTENCE
    s.load(replace(s.address, text=f"{TEXT}\n{TEXT}"))
    assert s.address.rule == MANY
    own = Rule("uniform", seed=3)
    s.address = replace(s.address, rule=own)
    s.turn("compare")
    s.load(replace(s.address, text=TEXT))
    assert s.address.rule == own


def test_a_link_s_rectangle_is_shown_or_explained() -> None:
    s = session()
    token = s.tops[min(s.picked)][3][0]
    assert s.load(replace(s.address, corner=(0, 5, token, token)))
    assert s.shown is not None and (s.shown.i, s.shown.j) == (0, 5) and not s.error
    for corner in ((0, 0, token, token), (0, 6, token, token), (0, 1, s.tokens[0], token), (0, 1, 10**8, 5)):
        assert s.load(replace(s.address, corner=corner))
        assert "does not fit" in s.error and s.shown is not None


class Registry:
    """Gives the futures it is told."""

    def __init__(self, future: Future[Any]) -> None:
        self.future = future

    def request(self, name: str) -> Future[Any]:
        return self.future


def test_a_model_that_arrives_keeps_the_text_and_one_that_fails_changes_nothing() -> None:
    s = session()
    future: Future[Any] = Future()
    s.want("other", cast(ModelRegistry, Registry(future)))
    before = picture(s)
    s.arrived()
    assert s.pending is not None and picture(s) == before
    future.set_result(model("roberta"))
    s.arrived()
    assert s.pending is None and s.model is model("roberta") and s.address.text == TEXT and s.shown is not None
    for error in (UserError("No such model."), RuntimeError("x")):
        failed: Future[Any] = Future()
        failed.set_exception(error)
        before = picture(s)
        s.want("broken", cast(ModelRegistry, Registry(failed)))
        s.arrived()
        assert picture(s) == before and "Still using" in s.error


@pytest.mark.parametrize("edited", [False, True])
def test_a_link_s_rectangle_waits_for_its_model(edited: bool) -> None:
    s, other = session(), model("roberta")
    token = other.vocabulary.word_id("mat", False)
    future: Future[Any] = Future()
    wanted = replace(s.address, model="other", corner=(1, 3, token, token))
    s.want("other", cast(ModelRegistry, Registry(future)), wanted)
    if edited:
        assert s.load(replace(s.address, text="the cat drank", corner=None))
    future.set_result(other)
    s.arrived()
    assert s.shown is not None and not s.error
    assert (s.address.corner == wanted.corner) != edited
