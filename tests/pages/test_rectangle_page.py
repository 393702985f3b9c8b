"""The rectangle page's script, without a browser: its three views, links, and bad input."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from glauber_core.rectangle import rectangle
from glauber_core.rectangle.presets import PRESETS
from pages.ui.rectangle_session import RectangleSession
from tests.conftest import ROOT
from tests.pages import screen
from tests.pages.screen import address_bar

Open = Callable[..., AppTest]
LIMIT = 120.0


@pytest.fixture
def open_page() -> Open:
    def build(**params: str) -> AppTest:
        app = AppTest.from_file(str(ROOT / "pages/rectangle.py"), default_timeout=60)
        app.session_state["routed"] = True
        for name, value in params.items():
            app.query_params[name] = value
        return app.run()

    return build


def session(app: AppTest) -> RectangleSession:
    assert not app.exception, app.exception
    return app.session_state["rectangle"]


def said(app: AppTest, kind: str) -> str:
    return " ".join(screen.said(app, kind))


def finish(app: AppTest, there: Callable[[RectangleSession], object]) -> AppTest:
    """Run the script, as the page's timer does, until the job's outcome is there."""
    deadline = time.monotonic() + LIMIT
    while not there(session(app)) and not session(app).error:
        assert time.monotonic() < deadline, "the job did not end"
        time.sleep(0.1)
        app.run()
    return app.run()


def type_text(app: AppTest, text: str) -> AppTest:
    return app.text_area(key="r_text").set_value(text).run()


def test_a_strong_contradiction_is_there_at_once(open_page: Open) -> None:
    app = open_page()
    s = session(app)
    assert s.shown is not None and s.shown.delta > 0.5
    assert address_bar(app)["view"] == "one" and address_bar(app)["i"] == str(s.shown.i)
    assert f"{s.shown.delta:.7f}" in str(app.table[0].value)


def test_presets_show_strong_and_weak(open_page: Open) -> None:
    app = open_page()
    for number, preset in enumerate(PRESETS):
        app.selectbox(key="r_preset").select_index(number).run()
        s = session(app)
        assert s.shown is not None and app.text_area(key="r_text").value == preset.text
        assert (s.shown.delta > 0.5) if preset.name.startswith("strong") else (s.shown.delta < 0.2), preset.name
        assert s.model.vocabulary.surface(s.new[s.shown.i]).text == preset.first[1]


def test_replacements_from_the_list(open_page: Open) -> None:
    app = open_page()
    s = session(app)
    key = f"r_new_0_{s.serial}"
    app.selectbox(key=key).select_index(2).run()
    s = session(app)
    assert s.shown is not None
    i, j = s.shown.i, s.shown.j
    assert s.new[i] == s.tops[i][2][0]
    want = rectangle(s.model, s.tokens, i, j, s.new[i], s.new[j])
    assert s.shown.delta == pytest.approx(want.delta, abs=1e-12)
    s.replace(i, "unbelievablyness")  # what the browser sends for a typed word
    app.run()
    assert "only a single token" in said(app, "hint") and "stays" in said(app, "hint")
    assert session(app).shown == s.shown


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("   ", "no sentence"),
        ("the " * 65, "65 tokens; the limit here is 64"),
        ("x" * 30_000, "20,000"),
    ],
)
def test_texts_that_cannot_be_used(open_page: Open, typed: str, why: str) -> None:
    app = open_page()
    before = session(app).shown
    type_text(app, typed)
    assert why in said(app, "error") and session(app).shown == before
    assert app.text_area(key="r_text").value == typed  # nothing typed is lost


@pytest.mark.parametrize("typed", ["hello", "[MASK] [MASK]", "\U0001f600 \U0001f680"])
def test_too_few_words(open_page: Open, typed: str) -> None:
    app = type_text(open_page(), typed)
    assert session(app).shown is None and not said(app, "error")
    app.segmented_control(key="r_view").set_value("test").run()
    app.button(key="r_run").click().run()
    app = finish(app, lambda s: s.report)
    assert "needs two words" in said(app, "error")


def test_many_lines(open_page: Open) -> None:
    app = type_text(open_page(), "\n".join(f"we saw {k} small birds in the old garden ." for k in range(500)))
    assert len(session(app).sentences) == 200 and "500" in said(app, "note")
    app.selectbox(key="r_current").select_index(7).run()
    assert session(app).current == 7


@pytest.mark.parametrize("text", ["<b>bold</b> and <script>x</script>", "$x$ costs $5 **now** :smile:", "a\tb | c"])
def test_text_is_literal(open_page: Open, text: str) -> None:
    app = type_text(open_page(), text)
    assert not said(app, "error")
    shown = " ".join(str(m.value) for m in [*app.markdown, *app.caption])
    assert "<b>" not in shown and "$x$" not in shown and ":smile:" not in shown


def test_a_whole_sentence(open_page: Open) -> None:
    app = type_text(open_page(), "we ate bread .")
    app.segmented_control(key="r_view").set_value("test").run()
    app.number_input(key="r_rule_alternatives").set_value(1).run()
    app.button(key="r_run").click().run()
    app = finish(app, lambda s: s.report)
    report = session(app).report
    assert report is not None and len(report.measured) == 6 and report.complete
    assert "Median delta" in said(app, "note") and "noise floor" in said(app, "note")
    table = app.dataframe[0].value
    assert len(table) == 6 and table["delta (nats)"].max() == pytest.approx(report.measured.delta.max())


def test_models_side_by_side(open_page: Open) -> None:
    app = type_text(open_page(), "we ate bread .\nthe king lived in a castle .")
    app.segmented_control(key="r_view").set_value("compare").run()
    assert app.checkbox(key="r_starters").value is False  # two sentences of one's own are there
    app.number_input(key="r_rule_pairs").set_value(2).run()
    app.button(key="r_compare").click().run()
    app = finish(app, lambda s: s.rows)
    rows = {row.subject.name: row for row in session(app).rows}
    assert list(rows) == [
        "glauber-mini",
        "glauber-mini-causal",
        "glauber-tiny",
        "bigram Markov chain",
        "Curie-Weiss magnet",
        "random conditionals",
    ]
    assert rows["glauber-mini"].summary.above == 1.0 and rows["random conditionals"].summary.median > 0.1
    for name in ("glauber-mini-causal", "bigram Markov chain", "Curie-Weiss magnet"):
        assert rows[name].measured.delta.max() < 1e-10 and rows[name].summary.above == 0.0
    assert "0.64 and 0.80" in said(app, "note")


def test_no_model_can_be_compared_without_being_there(open_page: Open) -> None:
    app = open_page(view="compare")
    app.multiselect(key="r_models").set_value([]).run()
    assert app.button(key="r_compare").disabled


def test_a_link_reproduces_the_test(open_page: Open) -> None:
    params = {"text": "the cat sat on the mat .", "view": "one", "i": "1", "j": "5", "a": "3899", "b": "2723"}
    app = open_page(**params, replacements="top-k", k="3", seed="5")
    s = session(app)
    assert s.shown == rectangle(s.model, s.tokens, 1, 5, 3899, 2723)
    assert (s.address.rule.replacements, s.address.rule.k, s.address.rule.seed) == ("top-k", 3, 5)
    assert {k: v for k, v in address_bar(app).items() if k in params} == params


def test_notices_stay_until_the_visitor_acts(open_page: Open) -> None:
    app = open_page(view="x")
    for _ in range(2):  # the page runs by itself, when the noise floor is there for example
        app.run()
        assert "view is unknown" in said(app, "notice")
    app.segmented_control(key="r_view").set_value("test").run()
    assert not said(app, "notice")


@pytest.mark.parametrize(
    "rule", [{"positions": "random", "pairs": "9999"}, {"positions": "distance", "distance": "1000"}, {"k": "1001"}]
)
def test_numbers_that_no_field_takes_fall_back(open_page: Open, rule: dict[str, str]) -> None:
    app = open_page(view="test", **rule)
    assert "out of range" in said(app, "notice")
    assert not set(address_bar(app)) & {"pairs", "distance", "k"}


def test_a_link_with_everything_to_a_whole_test(open_page: Open) -> None:
    text = "we ate bread .\nthe king lived in a castle ."
    rule = {
        "replacements": "top-k",
        "positions": "distance",
        "distance": "2",
        "k": "5",
        "alternatives": "3",
        "seed": "9",
    }
    first = open_page(text=text, view="test", **rule)
    second = open_page(**address_bar(first))
    reports = []
    for app in (first, second):
        assert app.text_area(key="r_text").value == text
        app.button(key="r_run").click().run()
        reports.append(session(finish(app, lambda s: s.report)).report)
    assert reports[0] is not None and reports[1] is not None and reports[0].rule == reports[1].rule
    assert len(reports[0].measured) == 9 * (2 + 5)
    assert (reports[0].measured.ratios == reports[1].measured.ratios).all()


def test_hostile_links_fall_back_with_notices(open_page: Open) -> None:
    app = open_page(view="x", i="-1", a="9", alternatives="0", seed="NaN", model="../../etc", evil="1")
    notices = said(app, "notice")
    for word in ("view", "rectangle", "alternatives", "seed", "model"):
        assert word in notices
    assert "evil" not in address_bar(app) and address_bar(app)["model"] == "glauber-mini"
    assert session(app).shown is not None


def test_a_rectangle_that_does_not_fit_is_explained(open_page: Open) -> None:
    app = open_page(text="the cat sat .", i="1", j="99", a="3899", b="2723")
    assert "does not fit" in said(app, "error") and session(app).shown is not None
