"""Several models under the same rule, beside controls whose answer is known."""

from __future__ import annotations

import csv
import io
from typing import Any

import streamlit as st

from glauber_core.figures import rectangle as figures
from glauber_core.models import open_model
from glauber_core.models.source import SUGGESTED, built_in
from glauber_core.rectangle import Row, compare, line_up
from glauber_core.starters import STARTERS
from pages.ui import rectangle_words as words
from pages.ui.background import Background, Progress
from pages.ui.rectangle_session import RectangleSession
from pages.ui.rectangle_tests import Compared, download, job, plot, rule
from pages.ui.resources import models, precision
from pages.ui.style import say

OFFLINE = tuple(built_in())


def compare_view(session: RectangleSession, worker: Background) -> None:
    """The same rule on several models and controls."""
    state = st.session_state
    place = rule(session, worker.running)
    names = list(dict.fromkeys([*OFFLINE, session.model.name, *SUGGESTED, "openai-community/gpt2"]))
    usual = list(dict.fromkeys([session.model.name, *OFFLINE]))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.multiselect(
            "models",
            names,
            usual,
            key="r_models",
            accept_new_options=True,
            disabled=worker.running,
            max_selections=6,
            help="Masked models are tested through their conditionals, causal ones through their joint law.",
        )
        state.setdefault("r_starters", len(session.sentences) == 1)
        st.checkbox("use the 26 starter sentences", key="r_starters", disabled=worker.running)
    place.button(
        "compare",
        key="r_compare",
        type="primary",
        on_click=_start_compare,
        args=(session, worker, chosen),
        disabled=worker.running or not chosen,
        width="stretch",
    )
    job(session, worker)
    if session.rows:
        _table(session.rows, session.rows_about)


def _start_compare(session: RectangleSession, worker: Background, names: list[str]) -> None:
    if st.session_state["r_starters"]:
        texts, which = [starter.text for starter in STARTERS], f"{len(STARTERS)} starter sentences"
    else:
        texts = list(session.texts)  # as they were typed: another vocabulary sees other letters
        which = "1 sentence" if len(texts) == 1 else f"{len(texts)} sentences"
    chosen, registry, twins, own = session.address.rule, models(), precision(), session.model
    about = f"{which}; {chosen}."

    def work(progress: Progress) -> Compared:
        opened = []
        for k, name in enumerate(names):
            progress(0.1 * k / len(names))
            opened.append(own if name == own.name else _opened(name, registry, str(own.device)))
        subjects = line_up(opened, texts, chosen, twins.twin)
        total = len(subjects)
        rows = compare(subjects, chosen, lambda k, share: progress(0.1 + 0.9 * (k + share) / total))
        return Compared(rows, about)

    session.acts()
    worker.start("comparing", work)


def _opened(name: str, registry: Any, device: str) -> Any:
    """A model: the server's own where it is one of its suggestions, else opened for this comparison alone."""
    return registry.request(name).result() if name in SUGGESTED else open_model(name, device)


def _table(rows: list[Row], about: str) -> None:
    st.caption(f"Delta in nats at temperature 1, 95 % intervals over sentences in brackets. Tested on {about}")

    def spread(row: Row, name: str) -> str:
        value = words.number(getattr(row.summary, name))
        ends = row.summary.intervals.get(name)
        return value if ends is None else f"{value} [{words.number(ends[0])}, {words.number(ends[1])}]"

    table = [
        {
            "model": row.subject.name,
            "kind": row.subject.kind,
            "mean delta": spread(row, "mean"),
            "median delta": spread(row, "median"),
            "90 %": words.number(row.summary.q90),
            "99 %": words.number(row.summary.q99),
            "above the floor": f"{100 * row.summary.above:.1f} %",
            "noise floor": f"{row.floor.value:.1g}",
            "rectangles": row.summary.rectangles,
            "sentences": row.summary.sentences,
        }
        for row in rows
    ]
    tips = {
        "90 %": "90 % of the rectangles have no larger delta",
        "99 %": "99 % of the rectangles have no larger delta",
        "above the floor": "share of the rectangles with a delta that rounding cannot make",
    }
    columns = {name: st.column_config.Column(help=tip) for name, tip in tips.items()}
    st.dataframe(table, hide_index=True, key="r_table", column_config=columns)
    say("note", words.PAPER)
    plot(figures.compare_box(rows), "r_box", 380)
    st.caption("Box: quartiles; line: median; dashes: mean; whiskers: smallest value and 90 %.")
    with st.expander("what is compared", key="r_subjects"):
        for row in rows:
            say("hint", f"{row.subject.name}: {row.subject.note}")
    with st.container(horizontal=True):
        download("export table", lambda: _csv(table), "models.csv", "text/csv")
        download("figure as HTML", lambda: figures.compare_box(rows).to_html(), "models.html", "text/html")


def _csv(table: list[dict[str, Any]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(table[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    return out.getvalue()
