"""Tests of whole sentences: the rule, the job, the pictures, the files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from glauber_core.errors import UserError
from glauber_core.figures import rectangle as figures
from glauber_core.models import MaskedLM
from glauber_core.rectangle import Row, pair_medians, worst
from glauber_core.rectangle.export import header, to_csv, to_json
from glauber_core.rectangle.report import Report, run_test
from pages.ui import rectangle_words as words
from pages.ui.address import MAX_SEED
from pages.ui.background import Background, Progress
from pages.ui.rectangle_address import MOST, with_field
from pages.ui.rectangle_session import RectangleSession
from pages.ui.resources import precision
from pages.ui.style import say

WORST = 12
BARE = {"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d", "zoom2d", "pan2d", "autoScale2d"]}


class Tested(NamedTuple):
    """What a test of sentences brings back."""

    model: MaskedLM
    report: Report


class Compared(NamedTuple):
    """What a comparison of models brings back: the rows, and by which rule and on which sentences."""

    rows: list[Row]
    about: str


def rule(session: RectangleSession, off: bool) -> Any:
    """Which rectangles are drawn; every control changes the session's rule at once. Returns a column for a button."""
    present = session.address.rule
    state = st.session_state

    def change(name: str) -> Callable[[], None]:
        def apply() -> None:
            try:
                changed = with_field(session.address.rule, name, state[f"r_rule_{name}"])
            except UserError as error:
                session.error = str(error)
                return
            session.acts()
            session.address = replace(session.address, rule=changed)

        return apply

    def choice(column: Any, name: str, label: str, names: dict[str, str], tip: str) -> None:
        state[f"r_rule_{name}"] = getattr(present, name)
        column.selectbox(
            label,
            list(names),
            key=f"r_rule_{name}",
            format_func=names.__getitem__,
            on_change=change(name),
            disabled=off,
            help=tip,
        )

    def amount(column: Any, name: str, label: str, tip: str) -> None:
        state[f"r_rule_{name}"] = getattr(present, name)
        column.number_input(
            label,
            0 if name == "seed" else 1,
            MOST.get(name, MAX_SEED),
            step=1,
            key=f"r_rule_{name}",
            on_change=change(name),
            disabled=off,
            help=tip,
        )

    columns = st.columns([2.6, 1.6, 1.4, 1.4, 1.3, 1.8], vertical_alignment="bottom")
    choice(
        columns[0],
        "replacements",
        "replacements",
        words.REPLACEMENTS,
        "How the new words are drawn. Delta depends on it, so it is stated beside every result.",
    )
    choice(columns[1], "positions", "pairs of words", words.POSITIONS, "Which two words of a sentence are changed.")
    amount(
        columns[2],
        "alternatives",
        "alternatives",
        "New words drawn for each position; a pair of positions gives this number squared of rectangles.",
    )
    if present.positions == "random":
        amount(columns[3], "pairs", "pairs a sentence", "Drawn without repetition; all where there are fewer.")
    elif present.positions == "distance":
        amount(columns[3], "distance", "distance", "Tokens from one word to the other; neighbours are at 1.")
    elif present.replacements == "top-k":
        amount(columns[3], "k", "k", "New words are drawn from so many of the likeliest.")
    if present.replacements == "top-k" and present.positions in ("random", "distance"):
        amount(columns[4], "k", "k", "New words are drawn from so many of the likeliest.")
    else:
        amount(columns[4], "seed", "seed", "The same seed and rule draw the same rectangles.")
    return columns[5]


def job(session: RectangleSession, worker: Background) -> None:
    """Progress and cancel of the visitor's job; takes what it found."""

    @st.fragment(run_every=0.4 if worker.running else None)
    def show() -> None:
        with session.lock:
            if not worker.running:
                found, error = worker.take()
                if error:
                    session.error = error
                if isinstance(found, Tested):
                    session.report_model, session.report = found
                elif isinstance(found, Compared):
                    session.rows, session.rows_about = found
                if error or found is not None:
                    st.rerun(scope="app")
                return
            with st.container(horizontal=True, vertical_alignment="center"):
                left = worker.seconds * (1 - worker.share) / worker.share if worker.share > 0.02 else None
                rest = "" if left is None else f", about {left:.0f} s to go"
                text = "stopping ..." if worker.stopping else f"{worker.name}: {100 * worker.share:.0f} %{rest}"
                st.progress(worker.share, text)
                st.button("cancel", key="r_cancel", on_click=worker.cancel, disabled=worker.stopping)

    show()


def test_view(session: RectangleSession, worker: Background) -> None:
    """Test of the sentences in use."""
    place = rule(session, worker.running)
    count = len(session.sentences)
    place.button(
        "test this sentence" if count == 1 else f"test {count} sentences",
        key="r_run",
        type="primary",
        on_click=_start_test,
        args=(session, worker),
        disabled=worker.running,
        width="stretch",
    )
    job(session, worker)
    report = session.report
    if report is None:
        if not worker.running:
            say("hint", "Every pair of words that the rule names is changed in both orders; the result appears here.")
        return
    _results(session, report)


def _start_test(session: RectangleSession, worker: Background) -> None:
    model, sentences, chosen = session.model, [s.ids for s in session.sentences], session.address.rule
    twins = precision()

    def work(progress: Progress) -> Tested:
        return Tested(model, run_test(model, sentences, chosen, lambda: twins.twin(model), progress))

    session.acts()
    worker.start("testing", work)


def _results(session: RectangleSession, report: Report) -> None:
    model = session.report_model or session.model
    vocabulary = model.vocabulary
    cut = "" if report.complete else " Cancelled: only the sentences that were complete."
    with st.container(key="r_summary"):
        say("note", f"{words.figures(report.summary, report.floor)}{cut}")
    stale = _stale(session, report)
    say("hint", f"Model {model.name}; {report.rule}; nats at temperature 1. {stale}")
    index = 0 if stale else session.current
    ids = report.sentences[index]
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown("**Which pairs contradict each other** (median delta; click one to see it)")
        medians = pair_medians(report.measured, index, len(ids))
        if np.isfinite(medians).any():
            grid = figures.heat_map(medians, [vocabulary.surface(t).text for t in ids])
            plot(grid, "r_heat", 480, on_select=lambda: _from_heat_map(session, report, index))
        else:
            say("hint", "This sentence offers no pair under this rule.")
    with right:
        st.markdown("**How large delta is**")
        plot(figures.histogram(report.measured.delta, report.floor.value, report.summary), "r_histogram", 225)
        if len(report.distances) > 1:
            st.markdown("**Near and far words** (median and quartiles)")
            plot(figures.distance_curve(report.distances), "r_distance", 225)
    _worst(session, report, vocabulary.text)
    _files(report, model)


def plot(figure: go.Figure, key: str, height: int, on_select: Callable[[], None] | None = None) -> None:
    config = BARE | {"toImageButtonOptions": {"format": "svg", "filename": key.removeprefix("r_")}}
    figure.update_layout(height=height)
    if on_select is None:
        st.plotly_chart(figure, key=key, config=config)
    else:
        st.plotly_chart(figure, key=key, config=config, on_select=on_select, selection_mode="points")


def _from_heat_map(session: RectangleSession, report: Report, index: int) -> None:
    points = st.session_state["r_heat"].selection.points
    place = points[0].get("customdata") if points else None
    if not isinstance(place, (list, tuple)) or len(place) < 2:
        return
    i, j = sorted(int(p) for p in place[:2])
    r = report.measured.rectangles
    low, high = np.minimum(r.i, r.j), np.maximum(r.i, r.j)
    mine = np.nonzero((r.sentence == index) & (low == i) & (high == j))[0]
    if len(mine):
        _open(session, report, int(mine[np.argmax(report.measured.delta[mine])]))


def _open(session: RectangleSession, report: Report, row: int) -> None:
    r = report.measured.rectangles
    if stale := _stale(session, report):
        session.acts()
        session.error = stale
        return
    session.show(int(r.sentence[row]), (int(r.i[row]), int(r.j[row]), int(r.a_new[row]), int(r.b_new[row])))
    st.session_state["r_view"] = "one"


def _stale(session: RectangleSession, report: Report) -> str:
    """Why a result's rectangles are not ones of the page's sentences; empty if they are."""
    if session.report_model is not None and session.report_model is not session.model:
        return "This result is of another model: choose that model again, or test anew."
    if report.sentences != tuple(s.ids for s in session.sentences):
        return "This result is of the text before: test anew."
    return ""


def _worst(session: RectangleSession, report: Report, text: Callable[[list[int]], str]) -> None:
    rows = worst(report.measured, WORST)
    r, delta = report.measured.rectangles, report.measured.delta
    st.markdown("**The strongest contradictions**, one a pair of words; choose one to see it")

    def word(token: int) -> str:
        return text([token])

    table = [
        {
            "delta (nats)": float(delta[k]),
            "relative": float(report.measured.relative[k]),
            "word 1": f"{int(r.i[k]) + 1} {word(int(r.a[k]))}",
            "becomes": word(int(r.a_new[k])),
            "word 2": f"{int(r.j[k]) + 1} {word(int(r.b[k]))}",
            "becomes ": word(int(r.b_new[k])),
            "sentence": text(list(report.sentences[int(r.sentence[k])])),
        }
        for k in rows
    ]

    def choose() -> None:
        chosen = st.session_state["r_worst"].selection.rows
        if chosen and 0 <= chosen[0] < len(rows):
            _open(session, report, int(rows[chosen[0]]))

    st.dataframe(
        table,
        hide_index=True,
        on_select=choose,
        selection_mode="single-row",
        key="r_worst",
        height=38 * min(len(table) + 1, 7),
        column_config={
            name: {"type_config": {"type": "number", "format": "%.3f"}} for name in ("delta (nats)", "relative")
        },
    )


def _files(report: Report, model: MaskedLM) -> None:
    def text(token: int) -> str:
        return model.vocabulary.surface(token).text

    def document() -> str:
        head = header(model.name, model.model_hash, report.rule, report.complete)
        return to_json(report.measured, text, report.sentences, head, report.floor, report.summary)

    def page() -> str:
        return figures.histogram(report.measured.delta, report.floor.value, report.summary).to_html()

    with st.container(horizontal=True):
        download("export CSV", lambda: to_csv(report.measured, text), "rectangles.csv", "text/csv")
        download("export JSON", document, "rectangles.json", "application/json")
        download("histogram as HTML", page, "rectangles.html", "text/html")
    st.caption("The camera over a picture saves it as SVG.")


def download(label: str, write: Callable[[], str], name: str, kind: str) -> None:
    """A file that is made when it is asked for."""
    st.download_button(label, write, name, kind, on_click="ignore", key=f"r_{label}")
