"""The mixing page's script, without a browser: two coupled chains, the diagram, the magnet, links and bad input."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
import torch
from streamlit.testing.v1 import AppTest

from glauber_core.figures import mixing as figures
from glauber_core.mixing.curie_weiss import magnetisation_chain, mixing_time
from glauber_core.mixing.meeting import run_coupled
from pages.ui.mixing_address import MixingAddress, default, link, parse
from pages.ui.mixing_session import CURVE, MixingSession, Pair, curve
from pages.ui.mixing_views import message
from tests.conftest import ROOT
from tests.pages import screen
from tests.pages.screen import address_bar

Open = Callable[..., AppTest]
LIMIT = 120.0


@pytest.fixture
def open_page() -> Open:
    def build(**params: str) -> AppTest:
        app = AppTest.from_file(str(ROOT / "pages/mixing.py"), default_timeout=60)
        app.session_state["routed"] = True
        for name, value in params.items():
            app.query_params[name] = value
        return app.run()

    return build


def session(app: AppTest) -> MixingSession:
    assert not app.exception, app.exception
    return app.session_state["mixing"]


def finish(app: AppTest) -> MixingSession:
    deadline = time.monotonic() + LIMIT
    while session(app).worker.running:
        assert time.monotonic() < deadline, "the chains did not meet"
        time.sleep(0.05)
    app.run()
    return session(app)


def run_fast(app: AppTest) -> MixingSession:
    session(app).speed = None
    app.button(key="m_run").click().run()
    return finish(app)


def test_two_sentences_are_there_and_meet_where_it_is_hot(open_page: Open) -> None:
    app = open_page(tau="3")
    s = session(app)
    assert s.pair is not None and s.pair.steps == 0 and s.pair.distance[0] > 6
    s = run_fast(app)
    assert s.pair is not None and s.pair.met == s.pair.steps > 0
    assert (s.pair.state.x == s.pair.state.y).all() and s.pair.distance[-1] == 0
    assert len(s.pair.distance) == s.pair.steps + 1
    assert app.button(key="m_run").disabled
    app.button(key="m_reset").click().run()
    again = session(app).pair
    assert again is not None and again.steps == 0 and not app.button(key="m_run").disabled


def test_the_pair_is_that_of_the_batch_runner(open_page: Open) -> None:
    app = open_page(tau="3", seed="11", n="8")
    s = session(app)
    assert s.pair is not None
    x, y, conditionals = s.pair.state.x, s.pair.state.y, s.serve(s.model)
    s = run_fast(app)
    found = run_coupled(conditionals, x, y, 3.0, 400, seed=11)
    assert s.pair is not None and found.met[0] and s.pair.met == int(found.steps[0])
    assert torch.equal(s.pair.state.x, found.final.x)


def test_what_changes_the_pair_begins_anew_and_the_view_does_not(open_page: Open) -> None:
    app = open_page(tau="3")
    run_fast(app)
    app.selectbox(key="m_second").set_value("food").run()
    s = session(app)
    assert s.pair is not None and s.pair.steps == 0 and address_bar(app)["second"] == "food"
    app.number_input(key="m_n").set_value(20).run()
    assert session(app).pair.state.x.shape == (1, 20)  # type: ignore[union-attr]
    run_fast(app)
    steps = session(app).pair.steps  # type: ignore[union-attr]
    session(app).set(view="physics")
    app.run()
    session(app).set(view="coupling")
    app.run()
    assert session(app).pair.steps == steps  # type: ignore[union-attr]


def test_pause_and_go_on(open_page: Open) -> None:
    app = open_page(tau="0.3")
    app.button(key="m_run").click().run()
    s = session(app)
    deadline = time.monotonic() + LIMIT
    while s.pair is None or s.pair.steps < 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    s.pause()
    s = finish(app)
    assert s.pair is not None and s.pair.met is None and app.button(key="m_run").label == "go on"
    before = s.pair.steps
    s.run()
    while s.pair is None or s.pair.steps == before:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    s.begin()
    assert s.pair is not None and s.pair.steps == 0
    time.sleep(0.3)
    assert session(app).pair.steps == 0  # type: ignore[union-attr]  # the old run ends without a trace


def test_the_magnet_view_holds_the_known_answer(open_page: Open) -> None:
    app = open_page(view="physics")
    table = app.dataframe[0].value.set_index("beta")
    assert table.loc[0.3, "exact t_mix (steps)"] == f"{mixing_time(magnetisation_chain(200, 0.3)):,}"
    assert table.loc[1.2, "ratio"] == "" and table.loc[1.2, "exact t_mix (steps)"] != ""


def test_the_known_figures_of_five_hundred_spins() -> None:
    _, rows = figures.curie_weiss(500, (0.3, 0.6), points=5)
    assert [row["exact t_mix (steps)"] for row in rows] == ["2,408", "3,770"]
    assert [row["ratio"] for row in rows] == ["1.085", "0.971"]


def test_messages_are_plain_data(open_page: Open) -> None:
    s = session(open_page())
    text = json.dumps(message(s), allow_nan=False)
    assert json.loads(text)["met"] is None and len(json.loads(text)["words"]) == 12


def test_a_long_curve_is_thinned_and_keeps_its_end() -> None:
    state: Any = type("State", (), {"steps": torch.tensor([9_999]), "met": torch.tensor([9_999])})()
    pair = Pair(state, [5] * 9_999 + [0])
    points = curve(pair, 5)
    assert len(points) == CURVE and points[0] == [0.0, 1.0] and points[-1] == [9_999 / 5, 0.0]


@pytest.mark.parametrize(
    ("params", "kept"),
    [
        ({"tau": "NaN"}, "tau"),
        ({"tau": "-1"}, "tau"),
        ({"seed": "x"}, "seed"),
        ({"first": "nonsense"}, "first"),
        ({"first": "sport", "second": "sport"}, "second"),
        ({"n": "1000"}, "n"),
        ({"n": "12.5"}, "n"),
        ({"view": "<script>"}, "view"),
        ({"model": "/etc"}, "model"),
    ],
)
def test_hostile_links_fall_back_with_a_sentence(params: dict[str, str], kept: str) -> None:
    found, notices = parse(params, default())
    assert len(notices) == 1 and getattr(found, kept) == getattr(default(), kept)


def test_links_round_trip() -> None:
    own = MixingAddress("owner/model", 3, 1.25, "food", "music", 20, "physics")
    assert parse(link(own), default()) == (own, [])


def test_a_bad_temperature_is_a_sentence(open_page: Open) -> None:
    app = open_page()
    session(app).set_tau(float("nan"))
    app.run()
    assert screen.said(app, "error") and session(app).address.tau == default().tau


def test_the_phase_view_shows_the_shipped_diagram(open_page: Open) -> None:
    app = open_page(view="phase")
    session(app)
    hints = " ".join(screen.said(app, "hint"))
    assert "Slow below, fast above" in hints and "C n log n" in hints and not screen.said(app, "notice")
