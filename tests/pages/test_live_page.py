"""The live page's script, without a browser: every control, and every kind of bad input."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import huggingface_hub
import pytest
from huggingface_hub.errors import LocalEntryNotFoundError
from streamlit.testing.v1 import AppTest

from glauber_core.errors import Busy
from pages.ui.live_session import LiveSession
from tests.conftest import ROOT
from tests.pages.screen import address_bar, said

Open = Callable[..., AppTest]


@pytest.fixture
def open_page() -> Open:
    def build(**params: str) -> AppTest:
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
        for name, value in params.items():
            app.query_params[name] = value
        return app.run()

    return build


def session(app: AppTest) -> LiveSession:
    assert not app.exception, app.exception
    return app.session_state["live"]


def sentence(app: AppTest) -> str:
    live = session(app)
    return live.model.vocabulary.text(live.player.tracks[0].chain.tokens)


def errors(app: AppTest) -> str:
    return " ".join(said(app, "error"))


def test_a_sentence_is_there_and_play_works_at_once(open_page: Open) -> None:
    app = open_page()
    assert sentence(app).startswith("the doctor told the patient")
    assert session(app).player.tracks[0].seen is not None
    app.button(key="play").click().run()
    live = session(app)
    assert live.player.playing
    deadline = time.monotonic() + 60
    while live.player.head == 0:  # on a busy machine a beat may end without a step
        assert time.monotonic() < deadline
        app.run()
    app.button(key="play").click().run()
    assert not live.player.playing


def test_step_sweep_reset(open_page: Open) -> None:
    app = open_page()
    app.button(key="step").click().run()
    app.button(key="sweep").click().run()
    live = session(app)
    assert live.player.head == 1 + live.player.tracks[0].chain.sweep_length
    app.button(key="reset").click().run()
    assert live.player.head == 0
    assert sentence(app).startswith("the doctor told the patient")


def test_same_seed_same_path_other_seed_other_path(open_page: Open) -> None:
    paths = []
    for seed in (11, 11, 12):
        app = open_page()
        app.number_input(key="seed").set_value(seed).run()
        app.button(key="sweep").click().run()
        paths.append(session(app).player.tracks[0].chain.record.entries)
    assert paths[0] == paths[1] != paths[2]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("", "no word to work with"),
        ("   ", "no word to work with"),
        ("word " * 10_000, "paste at most"),
        ("word " * 300, "the limit here is 64"),
    ],
)
def test_bad_sentences_leave_the_chain_as_it_was(open_page: Open, typed: str, said: str) -> None:
    app = open_page()
    app.button(key="sweep").click().run()
    before = sentence(app)
    app.text_input(key="text").set_value(typed).run()
    assert said in errors(app)
    assert sentence(app) == before
    assert session(app).player.head > 0
    assert app.text_input(key="text").value == typed  # what was typed is not lost


@pytest.mark.parametrize(
    ("typed", "seen"),
    [
        ("$119.6 billion and $5", "$ 119 . 6 billion and $ 5"),
        ("**x** _y_", "* * x * * _ y _"),
        ("<img src=x onerror=alert(1)>", "< im ##g"),
        ("al-ain", "al - ain"),
        ("[SEP] x </s>", "[ sep ] x < / s >"),
        ("a [MASK] b <mask>", "a [MASK] b [MASK]"),
        ("##s of june", "# # s of june"),
        ("hello", "hello"),
    ],
)
def test_odd_sentences_are_taken_as_the_model_sees_them(open_page: Open, typed: str, seen: str) -> None:
    app = open_page()
    app.text_input(key="text").set_value(typed).run()
    live = session(app)
    assert not errors(app)
    shown = [live.model.vocabulary.surface(i) for i in live.player.tracks[0].chain.tokens]
    spelt = " ".join(f"##{s.text}" if s.glued else s.text for s in shown)
    assert spelt.startswith(seen)
    app.button(key="sweep").click().run()
    assert not errors(app) and not app.exception


def test_emoji_and_chinese_on_an_uncased_model(open_page: Open) -> None:
    app = open_page()
    app.text_input(key="text").set_value("i love \U0001f600 and 中 文 !").run()
    assert "unknown to this model" in " ".join(said(app, "note"))
    assert "[UNK]" in sentence(app)


def test_links_are_read_with_suspicion_and_cleaned(open_page: Open) -> None:
    app = open_page(tau="NaN", seed="-3", model="../../etc", color="<b>", text=" ", other="x")
    live = session(app)
    assert (live.address.tau, live.address.seed, live.address.color) == (0.7, 7, "age")
    assert live.model.name == "glauber-mini"
    assert len(said(app, "notice")) == 5
    assert address_bar(app) == {
        "model": "glauber-mini",
        "text": live.address.text,
        "seed": "7",
        "tau": "0.7",
        "color": "age",
    }


def test_a_link_reopens_the_same_page(open_page: Open) -> None:
    first = open_page(tau="1.3", seed="41", text="the band played its oldest songs .", color="entropy")
    live = session(first)
    assert (live.address.tau, live.address.seed, live.address.color) == (1.3, 41, "entropy")
    assert sentence(first) == "the band played its oldest songs ."
    assert first.number_input(key="seed").value == 41
    first.button(key="sweep").click().run()
    second = open_page(**address_bar(first))
    second.button(key="sweep").click().run()
    assert session(second).player.tracks[0].chain.record.entries == live.player.tracks[0].chain.record.entries


def test_hands_on_lock_resample_put_and_branch(open_page: Open) -> None:
    app = open_page()
    live = session(app)
    live.selected = ("A", 1)
    app.run()
    app.text_input(key="word").set_value("nurse").run()
    assert sentence(app).startswith("the nurse told")
    app.button(key="do_lock").click().run()
    assert app.button(key="do_resample").disabled
    app.button(key="sweep").click().run()
    app.button(key="sweep").click().run()
    assert sentence(app).split()[1] == "nurse"
    app.text_input(key="text").set_value("zzz qqq").run()
    live.selected = ("A", 0)
    app.run()
    app.text_input(key="word").set_value("incomprehensibilities").run()
    assert "only a single token can go there" in " ".join(said(app, "hint"))
    assert app.text_input(key="word").value == "incomprehensibilities"
    app.button(key="branch").click().run()
    assert [t.name for t in live.player.tracks] == ["A", "B"]
    assert live.player.tracks[1].chain.header.parent is not None


def test_compare_up_to_four_chains(open_page: Open) -> None:
    app = open_page()
    for _ in range(3):
        app.button(key="add_tau").click().run()
    assert app.button(key="add_tau").disabled
    app.button(key="sweep").click().run()
    live = session(app)
    taus = [t.chain.record.entries[0].tau for t in live.player.tracks]
    assert len(set(taus)) == 4
    assert len({t.chain.header.start for t in live.player.tracks}) == 1
    app.button(key="rm_C").click().run()
    assert [t.name for t in live.player.tracks] == ["A", "B", "D"]


def test_a_model_that_cannot_be_had_leaves_the_one_in_use(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(*args: object, **kwargs: object) -> str:
        raise LocalEntryNotFoundError("no network, nothing cached")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", unreachable)
    app = open_page()
    live = session(app)
    app.selectbox(key="model_pick").set_value("FacebookAI/roberta-base").run()
    assert live.pending is None or live.pending[1].exception(timeout=60) is not None
    app.run()
    assert "hub cannot be reached" in errors(app) and "Still using glauber-mini" in errors(app)
    assert app.selectbox(key="model_pick").value == "glauber-mini"


def test_step_log_and_exports(open_page: Open) -> None:
    app = open_page()
    app.button(key="sweep").click().run()
    chain = session(app).player.tracks[0].chain
    data = json.loads(chain.record.to_json())
    assert len(data["steps"]) == chain.steps
    assert data["header"]["model_hash"] == session(app).model.model_hash


def test_skipping_waits_counts_simulated_steps(open_page: Open) -> None:
    app = open_page(tau="0.3", skip="1")
    for _ in range(4):
        app.button(key="step").click().run()
    chain = session(app).player.tracks[0].chain
    assert [e.kind for e in chain.record.entries] == ["skip"] * 4
    assert all(e.old != e.new for e in chain.record.entries)
    log = app.dataframe[0].value
    assert log["entry"].tolist() == [4, 3, 2, 1]
    assert log["steps so far"].tolist()[0] == f"{chain.record.elapsed:,}"
    assert sum(int(n.replace(",", "")) for n in log["steps it took"]) == chain.record.elapsed
    app.toggle(key="skip").set_value(False).run()
    app.button(key="step").click().run()
    assert chain.record.entries[-1].kind == "step" and address_bar(app).get("skip") is None


def test_the_cache_says_what_it_kept(open_page: Open) -> None:
    app = open_page()
    app.button(key="step").click().run()
    assert any("had been read before" in c.value for c in app.caption)


def test_a_busy_server_is_a_sentence_and_nothing_is_lost(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_page(seed="99", text="a busy server is no reason to lose a sentence .")
    app.button(key="sweep").click().run()
    live = session(app)
    before = list(live.player.tracks[0].chain.record.entries)

    def full(*args: object) -> None:
        raise Busy("The server is busy: too many people are asking at once. Try again in a moment.")

    with monkeypatch.context() as patch:
        patch.setattr("glauber_core.service.sampler.ConditionalCache.get", lambda *args, **kwargs: None)
        patch.setattr("glauber_core.service.line.Line.add", full)
        live.player.tracks[0].seen = None
        app.run()
        assert "server is busy" in errors(app)
        app.button(key="step").click().run()
        assert "server is busy" in errors(app)
        live.pick("A", 2)
        app.run()
        assert live.player.tracks[0].chain.record.entries == before
    assert session(app).selected == ("A", 2)
    app.button(key="step").click().run()
    assert "server is busy" not in errors(app) and session(app).player.head == len(before) + 1
