"""What the browser is given: plain JSON, every text literal, no number that is not one."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from glauber_core.chain import Chain
from glauber_core.record import RunRecord
from glauber_core.shape import threads
from pages.ui import frames
from pages.ui.player import Player, Track
from tests.models.checkpoints import FAMILIES, model

NASTY = "$5 **x** <img onerror=1> al-ain ##s [MASK]"


def player(family: str, text: str = NASTY, seed: int = 1, tau: float = 1.0) -> Player:
    lm = model(family)
    return Player([Track(Chain(lm, lm.vocabulary.encode(text).ids, seed, tau), 0, "A")])


def strict(data: dict[str, Any]) -> dict[str, Any]:
    """Through JSON as a browser reads it: no NaN, no Infinity, no foreign number types."""
    text = json.dumps(data, allow_nan=False)
    text.encode("utf-8")
    return json.loads(text)


def stage(p: Player, family: str, selected: tuple[str, int] | None = None) -> dict[str, Any]:
    return strict(frames.stage(p, model(family).vocabulary, "age", 80, selected))


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    with threads(1):
        yield


@pytest.mark.parametrize("tau", [0.0, 0.7, 1e6])
@pytest.mark.parametrize("family", FAMILIES)
def test_everything_is_plain_json(family: str, tau: float) -> None:
    p, words = player(family, tau=tau), model(family).vocabulary
    chain = p.tracks[0].chain
    stage(p, family)
    p.look()
    stage(p, family, ("A", 0))
    p.move(chain.n + 3)
    chain.edit(0, int(words.allowed.nonzero()[0, 0]))
    p.by_hand(p.tracks[0])
    stage(p, family)
    strict(frames.timelines(p))
    view = chain.conditional(1)
    strict(frames.conditional(words, view, 1, chain.tokens[1], "note"))


@pytest.mark.parametrize("family", FAMILIES)
def test_the_strip_is_the_state_before_the_frames(family: str) -> None:
    p, words = player(family), model(family).vocabulary
    p.move(5)
    p.move(7)
    shown = stage(p, family)
    chain, track = shown["chains"][0], p.tracks[0]
    state = track.chain.record.state_at(5).tolist()
    assert chain["step"] == 5 and [t["t"] for t in chain["tokens"]][1:] == [words.surface(i).text for i in state[1:]]
    assert [(f["s"], f["i"], f["t"], f["c"]) for f in chain["frames"] if f["i"] > 0] == [
        (k, e.position, words.surface(e.new).text, e.new != e.old)
        for k, e in enumerate(track.chain.record.entries[5:12], start=6)
        if e.position > 0
    ]
    assert [f["tau"] for f in chain["frames"]] == [1.0] * 7
    assert (shown["seq"], shown["playing"], shown["color"], shown["frame_ms"]) == (2, False, "age", 80)
    assert shown["n_free"] == track.chain.n and chain["selected"] is None


def test_text_is_literal() -> None:
    for family in FAMILIES:
        texts = [t["t"] for t in stage(player(family), family)["chains"][0]["tokens"]]
        whole = "".join(texts)
        for part in ("$", "5", "**", "<", "img", ">"):
            assert part in whole, (family, part)
        assert "&lt;" not in whole and "\\" not in whole


def test_pieces_at_the_start_of_the_sentence_are_not_glued() -> None:
    words = model("bert").vocabulary
    piece = words.word_id("##s", first=False)
    assert frames.token(words, piece, first=True) == {"t": "##s", "glue": False, "oov": False}
    assert frames.token(words, piece, first=False) == {"t": "s", "glue": True, "oov": False}
    bare = model("roberta").vocabulary.word_id("the", first=True)
    assert frames.token(model("roberta").vocabulary, bare, first=True) == {"t": "the", "glue": False, "oov": False}
    assert frames.token(model("roberta").vocabulary, bare, first=False)["glue"]
    assert frames.token(words, words.mask_id, first=False) == {"t": "[MASK]", "glue": False, "oov": True}


def test_a_piece_drawn_at_the_start_is_not_glued_in_its_frame() -> None:
    p = player("bert", "the cat")
    p.tracks[0].chain.edit(0, model("bert").vocabulary.word_id("##s", first=True))
    p.seek(0)
    p.move(1)
    assert stage(p, "bert")["chains"][0]["frames"][0]["t"] == "##s"


def test_figures_that_are_not_numbers_become_none() -> None:
    p = player("bert", "the [MASK] cat")
    p.look()
    chain = stage(p, "bert")["chains"][0]
    assert chain["probability"][1] is None and chain["margin"][1] is None  # the mask lies outside the vocabulary
    assert chain["probability"][0] is not None and chain["entropy"][1] is not None
    assert chain["tokens"][1]["oov"] and not chain["tokens"][0]["oov"]
    assert "outside the sampled vocabulary" in chain["badge"]["tip"]
    p.tracks[0].chain.edit(0, model("bert").vocabulary.word_id("mat", first=True))
    p.seek(0)
    p.move(1)
    frame = stage(p, "bert")["chains"][0]["frames"][0]
    assert (frame["p"], frame["h"], frame["m"]) == (None, None, None) and frame["t"] == "mat"


def test_colours_use_the_latest_known_figures() -> None:
    p = player("bert", "the cat sat")
    p.look()
    p.move(1)
    p.move(1)
    chain, first = stage(p, "bert")["chains"][0], p.tracks[0].chain.record.entries[0]
    assert chain["probability"][first.position] == pytest.approx(math.exp(first.log_prob))
    assert chain["entropy"][first.position] == first.entropy and chain["margin"][first.position] == first.margin
    other = (first.position + 1) % 3
    assert p.tracks[0].seen is not None
    assert chain["margin"][other] == p.tracks[0].seen[1].margin[other]


def test_age_counts_from_the_last_change() -> None:
    p = player("bert", "the cat sat")
    p.move(30)
    p.seek(17)
    age, record = stage(p, "bert")["chains"][0]["age"], p.tracks[0].chain.record
    assert age == [None if c is None else 17 - c for c in record.last_changes(17)]


def test_titles_badges_and_counters() -> None:
    p = player("bert", "the cat sat")
    assert stage(p, "bert")["chains"][0]["badge"]["text"] == "not yet known"
    p.move(7)
    changes = sum(e.old != e.new for e in p.tracks[0].chain.record.entries)
    shown = stage(p, "bert")["chains"][0]
    assert shown["counters"].endswith(f"{changes} changes") and shown["title"] == "chain A, seed 1"
    assert shown["badge"]["kind"] in ("perfect", "approximate", "wandering") and shown["badge"]["step"] == 6
    p.add(p.tracks[0].chain.branch(3, 1), 3)
    assert [c["title"] for c in stage(p, "bert", ("B", 2))["chains"]] == [
        "chain A, seed 1",
        "chain B, branched at step 3",
    ]
    assert [c["selected"] for c in stage(p, "bert", ("B", 2))["chains"]] == [None, 2]


def test_locked_words_are_marked() -> None:
    p = player("bert", "the cat sat")
    p.tracks[0].chain.set_locked([1])
    shown = stage(p, "bert")
    assert [t["locked"] for t in shown["chains"][0]["tokens"]] == [False, True, False] and shown["n_free"] == 2


def test_the_conditional() -> None:
    p, words = player("bert", "the cat sat"), model("bert").vocabulary
    chain = p.tracks[0].chain
    view = chain.conditional(1, top=5)
    data = strict(frames.conditional(words, view, 1, chain.tokens[1], "a $note$"))
    assert [r["t"] for r in data["rows"]] == [words.surface(c.token).text for c in view.top]
    assert [r["rank"] for r in data["rows"]] == [1, 2, 3, 4, 5] and data["note"] == "a $note$"
    marked = [r for r in data["rows"] if r["current"]]
    assert marked or data["current"]["t"] == "cat"
    assert sum(r["p"] for r in data["rows"]) + data["other"] == pytest.approx(1)
    assert "\u201ccat\u201d" in data["title"]
    gone = strict(frames.conditional(words, chain.conditional(1), 1, words.mask_id, ""))
    assert not any(r["current"] for r in gone["rows"])


def test_timelines() -> None:
    p = player("bert", "the cat sat", tau=0.5)
    p.move(30)
    p.look()
    data = strict(frames.timelines(p))
    chain, record = data["chains"][0], p.tracks[0].chain.record
    assert [x for x, _, _ in chain["holding"]] == [k for k in range(1, 11)] and (data["cursor"], data["xmax"]) == (
        10,
        10,
    )
    assert [h for _, h, _ in chain["holding"]] == [prof["holding"] for prof in record.profiles]
    assert all(dwell == pytest.approx(1 / (1 - h), rel=1e-6) for _, h, dwell in chain["holding"])
    moved = [e.old != e.new for e in record.entries]
    assert [c for _, c in chain["changes"]] == [sum(moved[k : k + 3]) for k in range(0, 30, 3)]
    p.tracks[0].chain.set_tau(2.0)
    p.move(3)
    assert {t for _, t in frames.timelines(p)["chains"][0]["tau"]} == {0.5, 2.0}
    p.seek(6)
    assert len(frames.timelines(p)["chains"][0]["holding"]) == 2


def test_timelines_of_an_absorbed_chain_and_of_a_start_without_figures() -> None:
    p = player("bert", "the cat sat", tau=0.0)
    p.move(60)
    p.look()
    last = strict(frames.timelines(p))["chains"][0]["holding"][-1]
    assert last[1] == 1.0 and last[2] >= 1e300
    masks = player("bert", "[MASK] [MASK]")
    masks.look()
    strict(frames.timelines(masks))


@pytest.mark.parametrize("tau", [0.0, 0.7])
def test_timelines_of_a_stored_record_are_those_of_the_run(tau: float) -> None:
    p = player("bert", "the cat sat", tau=tau)
    p.move(60)
    p.look()
    before = strict(frames.timelines(p))
    chain = p.tracks[0].chain
    chain.record.profiles = RunRecord.from_dict(json.loads(chain.record.to_json())).profiles
    assert strict(frames.timelines(p)) == before


def test_long_timelines_are_thinned_and_keep_their_ends() -> None:
    points = [[float(k), 0.0] for k in range(5000)]
    thin = frames._thin(points)
    assert len(thin) <= frames.MAX_POINTS and thin[0] == points[0] and thin[-1] == points[-1]
    assert frames._thin(points[:50]) == points[:50]
