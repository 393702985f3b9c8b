"""The landscape page's script, without a browser: settings, links, a run, its results, and bad input."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from glauber_core.starters import TOPICS
from pages.ui import landscape_address
from pages.ui.landscape_address import default, link, parse
from pages.ui.landscape_frames import OVERLAP, Wire
from pages.ui.landscape_session import LandscapeSession, stay_power
from tests.conftest import ROOT
from tests.pages import screen
from tests.pages.screen import address_bar

Open = Callable[..., AppTest]
LIMIT = 120.0
COLD = {"tau": "0", "horizon": "1000", "starts": "health.sport"}  # frozen after a few changes: quick, and in basins


@pytest.fixture
def open_page() -> Open:
    def build(**params: str) -> AppTest:
        app = AppTest.from_file(str(ROOT / "pages/landscape.py"), default_timeout=60)
        app.session_state["routed"] = True
        for name, value in params.items():
            app.query_params[name] = value
        return app.run()

    return build


def session(app: AppTest) -> LandscapeSession:
    assert not app.exception, app.exception
    return app.session_state["landscape"]


def said(app: AppTest, kind: str) -> str:
    return " ".join(screen.said(app, kind))


def finish(app: AppTest) -> AppTest:
    """Wait for the job and draw what it brought."""
    deadline = time.monotonic() + LIMIT
    while session(app).worker.running:
        assert time.monotonic() < deadline, "the job did not end"
        time.sleep(0.1)
    return app.run()


@pytest.fixture
def ran(open_page: Open) -> AppTest:
    app = open_page(**COLD)
    app.button(key="l_run").click().run()
    return finish(app)


def test_a_fresh_page_invites(open_page: Open) -> None:
    app = open_page()
    s = session(app)
    assert s.scene is None and s.expedition is None and not s.worker.running
    assert app.button(key="l_run").label == "run" and not app.button(key="l_run").disabled
    assert address_bar(app) == link(default())


def test_a_run_ends_at_its_horizon_with_basins_and_tables(ran: AppTest) -> None:
    s = session(ran)
    assert s.scene is not None and s.scene.analysis is not None
    assert s.scene.picture.elapsed == (1000, 1000) and s.scene.picture.absorbed == (True, True)
    labels = s.scene.analysis.labels
    ends = [int(v.state[-1]) for v in s.scene.picture.visits]
    assert (labels[ends] >= 0).all() and labels[ends[0]] != labels[ends[1]]
    assert [t.label for t in ran.tabs] == ["ribbon", "basins", "traps", "topics", "files"]
    table = ran.dataframe[0].value
    assert table["basin"].tolist() == [b.number for b in s.scene.analysis.basins]
    assert set(table["in the middle"]) <= set(s.scene.picture.texts)
    assert ran.button(key="l_run").disabled  # it is there; more steps, or a new run
    ran.selectbox(key="l_horizon").set_value(10_000).run()
    assert not ran.button(key="l_run").disabled and session(ran).scene is not None
    ran.button(key="l_reset").click().run()
    assert session(ran).scene is None and ran.button(key="l_run").label == "run"


def test_the_same_link_gives_the_same_picture(open_page: Open) -> None:
    found = []
    for _ in range(2):
        app = open_page(**COLD | {"tau": "0.4", "seed": "11"})
        app.button(key="l_run").click().run()
        s = session(finish(app))
        assert s.scene is not None and s.scene.analysis is not None
        order = np.argsort(s.scene.picture.texts)
        found.append(
            (
                [s.scene.picture.texts[k] for k in order],
                s.scene.plane.xy[order].round(5).tolist(),
                s.scene.analysis.labels[order].tolist(),
            )
        )
    assert found[0][:2] == found[1][:2]
    a, b = found[0][2], found[1][2]
    assert [x >= 0 for x in a] == [x >= 0 for x in b] and len(set(a)) == len(set(b))


def test_traps_are_found_and_escaped_from(ran: AppTest) -> None:
    ran.number_input(key="l_least").set_value(5.0).run()
    ran.button(key="l_scan").click().run()
    finish(ran)
    s = session(ran)
    assert s.found is not None and [k.trap.kind for _, k in s.found.kept] == ["perfect", "perfect"]
    assert all(k.trap.left is None for _, k in s.found.kept)
    assert ran.dataframe[1].value["observed steps a stay"].str.startswith("more than").all()
    s.pick(int(s.scene.picture.visits[0].state[-1]) if s.scene else -1, s.epoch)
    ran.run()
    s.try_escape(*s.shown, [0.7, 1.0], 2, 10**6)  # type: ignore[misc]  # the button's own takes half a minute
    finish(ran)
    assert session(ran).escapes is not None and len(session(ran).escapes.found) == 2  # type: ignore[union-attr]
    assert not session(ran).error


def test_a_clicked_point_is_read_and_opened(ran: AppTest) -> None:
    s = session(ran)
    assert s.scene is not None
    s.pick(0, s.epoch)
    ran.run()
    assert s.scene.picture.texts[0] in said(ran, "note")
    for state, epoch in ((-1, s.epoch), (10**6, s.epoch), (0, s.epoch + 1), ("0", s.epoch), (True, s.epoch)):
        s.pick(state, epoch)
        assert s.selected == 0
    url = next(e.proto.url for e in ran.get("link_button"))
    assert url.startswith("./?") and "text=" in url and "tau=0" in url


def test_topics_name_their_background(ran: AppTest) -> None:
    ran.selectbox(key="l_topic").select_index(TOPICS.index("health")).run()
    text = said(ran, "hint")
    assert "of their time in health" in text and "training text" in text and "needs 3 chains" in text


def test_settings_that_change_the_chains_begin_anew(ran: AppTest) -> None:
    ran.number_input(key="l_seed").set_value(8).run()
    assert session(ran).scene is None and address_bar(ran)["seed"] == "8"
    session(ran).set(color="topic")
    ran.run()
    assert address_bar(ran)["color"] == "topic"


def test_an_own_sentence_joins_and_a_bad_one_changes_nothing(open_page: Open) -> None:
    app = open_page()
    app.text_input(key="l_own").set_value("the cat sat on the <b>mat</b> $5 $6 .").run()
    s = session(app)
    assert s.address.starts[-1] == "own" and s.address.text.startswith("the cat")
    starts = s.address.starts
    app.text_input(key="l_own").set_value("a " * 100).run()
    assert "Meanwhile the sentence before" in said(app, "error")
    app.text_input(key="l_own").set_value("  ").run()
    assert "at least one word" in said(app, "error")
    assert session(app).address.starts == starts and session(app).address.text.startswith("the cat")


def test_pause_keeps_everything_and_go_on_goes_on(open_page: Open) -> None:
    app = open_page(tau="3", horizon="1000000", starts="food")
    app.button(key="l_run").click().run()
    s = session(app)
    deadline = time.monotonic() + LIMIT
    while s.scene is None or s.scene.picture.elapsed[0] < 5:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert s.running
    s.pause()
    finish(app)
    first = s.scene.picture
    assert first.elapsed[0] < 1_000_000 and app.button(key="l_run").label == "go on"
    s.run()
    while s.scene.picture.elapsed[0] == first.elapsed[0]:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    s.pause()
    finish(app)
    again = session(app).scene
    assert again is not None and again.picture.texts[: len(first.texts)] == first.texts


def test_umap_falls_back_with_a_notice_where_there_is_little(open_page: Open) -> None:
    app = open_page(**COLD | {"starts": "own", "text": "the population density was 25 people per square mile ."})
    app.button(key="l_run").click().run()
    s = session(finish(app))
    assert s.scene is not None and len(s.scene.picture.texts) < 15
    epoch = s.epoch
    s.set_axes("UMAP")
    finish(app)
    assert s.epoch == epoch + 1 and "UMAP needs at least" in said(app, "notice")
    s.set_axes("PCA")
    assert s.umap is None and s.epoch == epoch + 2


def test_axes_before_a_run_are_refused_in_a_sentence(open_page: Open) -> None:
    app = open_page()
    session(app).set_axes("UMAP")
    app.run()
    assert "Run the chains" in said(app, "error")


# ---- links ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "kept"),
    [
        ({"tau": "NaN"}, "tau"),
        ({"tau": "1e9"}, "tau"),
        ({"seed": "-1"}, "seed"),
        ({"starts": "health.nonsense"}, "starts"),
        ({"starts": ".".join(["food"] * 9)}, "starts"),
        ({"starts": "x" * 5000}, "starts"),
        ({"horizon": "123"}, "horizon"),
        ({"horizon": "1e6"}, "horizon"),
        ({"color": "<b>"}, "color"),
        ({"model": "../../etc"}, "model"),
    ],
)
def test_hostile_links_fall_back_with_a_sentence(params: dict[str, str], kept: str) -> None:
    found, notices = parse(params, default())
    assert len(notices) == 1 and getattr(found, kept) == getattr(default(), kept)


def test_links_round_trip() -> None:
    own = landscape_address.LandscapeAddress("owner/model", 9, 0.35, ("own", "food", "food"), "a b .", 100_000, "stay")
    assert parse(link(own), default()) == (own, [])
    assert "text" not in link(default())


# ---- the wire ---------------------------------------------------------------------------------------------------


class Browser:
    """What frontend/landscape.js does with messages."""

    def __init__(self) -> None:
        self.epoch: int | None = None
        self.states: list[Any] = []
        self.chains: list[list[Any]] = []
        self.labelled: int | None = None
        self.gap = False

    def take(self, message: dict[str, Any]) -> None:
        json.dumps(message, allow_nan=False)
        if message["epoch"] != self.epoch:
            self.epoch, self.states, self.chains, self.labelled = message["epoch"], [], [], None
        block = message.get("states", {"from": 0, "rows": []})
        self.gap = block["from"] > len(self.states)
        if not self.gap:
            self.states[block["from"] :] = block["rows"]
        chains = message.get("chains", [])
        self.chains += [[] for _ in range(len(chains) - len(self.chains))]
        for have, chain in zip(self.chains, chains, strict=True):
            if chain["from"] > len(have):
                self.gap = True
            else:
                have[chain["from"] :] = chain["visits"]
        if "labels" in message:
            self.labelled = message["labelled"]
        elif message.get("labelled") != self.labelled:
            self.gap = True


def test_the_browser_ends_with_the_whole_picture(ran: AppTest) -> None:
    s = session(ran)
    assert s.scene is not None
    wire, browser = Wire(), Browser()
    for _ in range(OVERLAP + 3):
        browser.take(wire.message(s))
        assert not browser.gap
    assert len(browser.states) == len(s.scene.picture.texts)
    assert [row[2] for row in browser.states] == s.scene.picture.texts
    for have, visits in zip(browser.chains, s.scene.picture.visits, strict=True):
        assert [row[0] for row in have] == visits.state.tolist()
    last = wire.message(s)
    assert len(last["states"]["rows"]) == 0 and "labels" not in last  # nothing is new


def test_a_browser_that_was_away_asks_and_gets_everything(ran: AppTest) -> None:
    s = session(ran)
    wire, late = Wire(), Browser()
    for _ in range(OVERLAP + 1):
        wire.message(s)
    late.take(wire.message(s))
    assert late.gap
    wire.resync()
    late.take(wire.message(s))
    assert not late.gap and s.scene is not None and len(late.states) == len(s.scene.picture.texts)


def test_lengths_of_stay_are_powers_of_ten() -> None:
    found = stay_power(np.array([1.0, 100.0, 5.0, 5.0]), np.array([np.nan, np.nan, np.log(1e-3), -np.inf]))
    assert found == [0.0, 2.0, 3.0, 12.0]


def test_a_full_record_ends_the_run_with_a_sentence_and_all_results(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("glauber_core.landscape.expedition.MAX_ENTRIES", 30)
    app = open_page(tau="3", horizon="1000000", starts="food")
    app.button(key="l_run").click().run()
    finish(app)
    s = session(app)
    assert "recorded steps" in said(app, "error") and s.scene is not None and s.scene.analysis is not None
    assert s.scene.analysis.picture is s.scene.picture and len(app.tabs) == 5
