"""The rectangle page's results say which text, model and rule they are of; foreign models; text is never Markdown."""

from __future__ import annotations

import re
import threading
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from glauber_core.models import MaskedLM
from glauber_core.rectangle import rectangle
from pages.ui import rectangle_compare, rectangle_tests
from tests.models.checkpoints import copy_of, folder
from tests.pages.test_rectangle_page import Open, finish, open_page, said, session, type_text

__all__ = ["open_page"]  # the fixture
NAME = "**bold** $x$ <b>"


def take_model(app: AppTest, path: Path) -> AppTest:
    """What typing a folder into the field does, until the model is there."""
    s = session(app)
    s.want(str(path), rectangle_compare.models())
    assert s.pending is not None
    s.pending.future.exception(60)
    return app.run()


def markdown(app: AppTest) -> str:
    """Whatever the page hands to Streamlit's Markdown: texts, captions, labels."""
    texts = [str(element.value) for element in [*app.markdown, *app.caption, *app.title]]
    fields = [*app.selectbox, *app.multiselect, *app.number_input, *app.button, *app.text_area, *app.checkbox]
    return " ".join([*texts, *(str(field.label) for field in fields)])


def of_all_words(app: AppTest) -> AppTest:
    app.segmented_control(key="r_view").set_value("test").run()
    app.number_input(key="r_rule_alternatives").set_value(1).run()
    app.button(key="r_run").click().run()
    return finish(app, lambda s: s.report)


def test_a_result_of_the_text_before_says_so_and_leads_nowhere(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = threading.Event()
    usual = rectangle_tests.run_test

    def slow(*arguments: Any) -> Any:
        go.wait(60)
        return usual(*arguments)

    monkeypatch.setattr(rectangle_tests, "run_test", slow)
    app = type_text(open_page(), "we ate bread .\nthe king lived in a castle .")
    app.segmented_control(key="r_view").set_value("test").run()
    app.number_input(key="r_rule_pairs").set_value(1).run()
    app.button(key="r_run").click().run()
    assert session(app).report is None and app.button(key="r_run").disabled
    type_text(app, "she moved to new york .")
    go.set()
    app = finish(app, lambda s: s.report)
    s = session(app)
    assert s.report is not None and len(s.report.sentences) == 2 and len(s.sentences) == 1
    assert "of the text before" in said(app, "hint")
    before = s.shown
    rectangle_tests._open(s, s.report, 0)
    assert "of the text before" in s.error and s.shown == before and s.address.view == "test"


def test_a_comparison_keeps_the_rule_it_was_made_with(open_page: Open) -> None:
    app = type_text(open_page(), "we ate bread .\nthe king lived in a castle .")
    app.segmented_control(key="r_view").set_value("compare").run()
    app.multiselect(key="r_models").set_value(["glauber-mini-causal"]).run()
    app.number_input(key="r_rule_pairs").set_value(2).run()
    app.button(key="r_compare").click().run()
    app = finish(app, lambda s: s.rows)
    assert session(app).rows_about.startswith("2 sentences; natural replacements, 2 random pairs")
    app.number_input(key="r_rule_pairs").set_value(9).run()
    shown = " ".join(str(caption.value) for caption in app.caption)
    assert "Tested on 2 sentences; natural replacements, 2 random pairs" in shown and "9 random" not in shown
    assert [row.subject.kind for row in session(app).rows] == ["by construction", "control", "control"]


def test_other_models_read_the_text_as_it_was_typed(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[tuple[str, tuple[str, ...]]] = []
    comparing = import_module("glauber_core.rectangle.compare")  # the package's own name of it is a function
    usual = comparing.subject

    def listening(model: Any, texts: Any, *rest: Any) -> Any:
        heard.append((model.name, tuple(texts)))
        return usual(model, texts, *rest)

    monkeypatch.setattr(comparing, "subject", listening)
    texts = ("The CAT sat on al-ain", "to drink water")
    app = type_text(open_page(), "\n".join(texts))
    app.segmented_control(key="r_view").set_value("compare").run()
    app.session_state["r_models"] = ["glauber-mini", str(folder("roberta")), str(folder("gpt2"))]
    app.number_input(key="r_rule_pairs").set_value(1).run()
    app.button(key="r_compare").click().run()
    app = finish(app, lambda s: s.rows)
    assert not session(app).error and [said for _, said in heard] == [texts] * 3
    kinds = [row.subject.kind for row in session(app).rows]
    assert kinds == ["masked", "masked", "by construction", "control", "control", "control"]


def test_a_comparison_with_a_model_that_is_not_there(open_page: Open) -> None:
    app = open_page(view="compare")
    app.session_state["r_models"] = ["glauber-mini", "no/such/model <b>"]
    app.run()
    app.button(key="r_compare").click().run()
    app = finish(app, lambda s: s.rows)
    assert "<b>" in said(app, "error") and not session(app).rows


def test_a_roberta_of_one_s_own_takes_words_with_their_space(open_page: Open) -> None:
    app = take_model(type_text(open_page(), "the cat sat on the mat"), folder("roberta"))
    s = session(app)
    assert s.model.name == str(folder("roberta")) and app.text_area(key="r_text").value == "the cat sat on the mat"
    i, j = sorted(s.picked)
    s.replace(j, "water")
    app.run()
    spaced = s.model.vocabulary.word_id("water", False)
    assert s.new[j] == spaced and not s.model.vocabulary.surface(spaced).glued
    assert s.shown == rectangle(s.model, s.tokens, i, j, s.new[i], spaced)
    app = of_all_words(app)
    assert not said(app, "error") and session(app).report_model is s.model


def test_a_floor_that_cannot_be_measured_is_no_wait_without_end(
    open_page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[Any] = []
    monkeypatch.setattr("pages.ui.rectangle_views.rectangle", lambda data, key: shown.append(data))
    app = take_model(type_text(open_page(), "the cat sat on the mat"), copy_of("bert", tmp_path / "gone"))
    model: MaskedLM = session(app).model
    pages = rectangle_compare.precision()
    monkeypatch.setattr(pages, "_open", lambda name, device: (_ for _ in ()).throw(RuntimeError("no files")))
    monkeypatch.setattr(pages, "_twin", None)
    monkeypatch.setattr(pages, "_floors", {})
    assert pages.request(model).exception(60) is not None
    app.run()
    assert not app.exception
    assert shown[-1]["verdict"]["text"] == "noise floor not known" and "could not be measured" in shown[-1]["meaning"]


def test_a_model_s_name_and_a_token_are_never_markdown(open_page: Open, tmp_path: Path) -> None:
    app = take_model(type_text(open_page(), "* $ the cat"), copy_of("bert", tmp_path / NAME))
    s = session(app)
    assert s.model.name.endswith(NAME)
    s.picked = []
    s.pick(0)
    s.pick(1)
    app = of_all_words(app.run())
    assert NAME in said(app, "hint")
    for part in ("**bold**", "$x$", "<b>", "\u201c*\u201d", "\u201c$\u201d"):
        assert part not in markdown(app)
    app.segmented_control(key="r_view").set_value("one").run()
    assert "\u201c" not in markdown(app) and not re.search(r"\$x\$", markdown(app))
