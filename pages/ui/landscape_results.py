"""The lower half of the landscape page: the sentence that was clicked, ribbon, basins, traps, topics, files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from glauber_core.figures import landscape as figures
from glauber_core.landscape import export
from glauber_core.landscape.analysis import Analysis
from pages.ui import address
from pages.ui.landscape_session import LandscapeSession, Scene
from pages.ui.rectangle_tests import BARE
from pages.ui.style import say
from pages.ui.words import count, whole

ESCAPE_TAUS = (0.3, 0.4, 0.5, 0.7, 1.0)


def plot(figure: go.Figure, key: str, height: int) -> None:
    figure.update_layout(height=height)
    st.plotly_chart(figure, key=key, config=BARE | {"toImageButtonOptions": {"format": "svg", "filename": key[2:]}})


def selected(session: LandscapeSession) -> None:
    """The sentence of the point that was clicked, and what can be done with it."""
    shown = session.shown
    with st.container(key="l_selected"):
        if shown is None:
            say("hint", "Click a point to read its sentence, open it in the live page or try to escape from it.")
            return
        state, text = shown
        say("note", text)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.link_button("open in the live page", _live(session, text), help="Opens a new tab; this run stays.")
            _escape_button(session, state, text, "l_escape")
    if session.escapes is not None and session.escapes.state == state:
        _escape(session)


def _live(session: LandscapeSession, text: str) -> str:
    own = session.address
    wanted = address.Address(own.model, text, own.seed, own.tau, "age")
    return f"./?{urlencode(address.fields(wanted))}"


def _escape_button(session: LandscapeSession, state: tuple[int, ...], text: str, key: str) -> None:
    st.button(
        "escape experiment",
        key=key,
        disabled=session.worker.running,
        on_click=lambda: session.try_escape(state, text, list(ESCAPE_TAUS), 24, 10**9),
        help=f"Releases 24 chains here at each of {len(ESCAPE_TAUS)} temperatures and waits for their first change, "
        "10^9 steps at most.",
    )


def _escape(session: LandscapeSession) -> None:
    escapes = session.escapes
    if escapes is None:
        return
    st.markdown("**How long it holds**")
    plot(figures.escape_plot(escapes.found), "l_escape_plot", 340)
    say("hint", "Exact: from the model's own probabilities. Bounds: it stays at least so long. Simulated: 24 chains "
        "at each temperature; at most 10^9 steps, and chains that are still there count as such.")  # fmt: skip
    twice = escapes.repeated
    if twice is not None:
        word = session.model.vocabulary.surface(twice.token).text
        said = ", ".join(f"{k}: {100 * p:.1f} %" for k, p in zip(twice.others, twice.mean, strict=True))
        say(
            "hint",
            f"The sentence holds {word!r} more than once. Its probability in its own place, by the number of other "
            f"copies left (temperature {twice.tau:g}): {said}.",
        )


def tabs(session: LandscapeSession) -> None:
    """What the run amounts to; drawn when the chains stand still."""
    scene = session.scene
    if scene is None:
        return
    if session.running or scene.analysis is None:
        say("hint", "Ribbon, basins, traps and topics are listed on every pause.")
        return
    names = ["ribbon", "basins", "traps", "topics", "files"]
    parts: list[Callable[[LandscapeSession, Scene, Analysis], None]] = [_ribbon, _basins, _traps, _topics, _files]
    for tab, part in zip(st.tabs(names), parts, strict=True):
        with tab:
            part(session, scene, scene.analysis)


def _ribbon(session: LandscapeSession, scene: Scene, analysis: Analysis) -> None:
    per_sweep, vocabulary = analysis.per_sweep, session.model.vocabulary
    marks: list[list[tuple[float, str]]] = []
    if session.found is not None:
        for found, steps in zip(session.found.traps, per_sweep, strict=True):
            longest = sorted(found, key=lambda t: -t.dwell)[:40]
            marks.append([(t.entered / steps, f"{t.kind} trap: {vocabulary.text(t.state)}") for t in longest])
    plot(figures.ribbon(analysis.stays, marks), "l_ribbon", 90 + 46 * len(analysis.stays))
    hint = "" if session.found else " Look for traps (next tabs) to have them marked here."
    say("hint", f"Which basin each chain was in. In no basin: {100 * analysis.noise:.0f} % of all time.{hint}")


def _basins(session: LandscapeSession, scene: Scene, analysis: Analysis) -> None:
    if not analysis.basins:
        say("note", "No region held the chains for 20 sweeps: they wander. Colder chains do get caught.")
        return
    rows = [
        {
            "basin": b.number,
            "words": ", ".join(w),
            "share of time": b.share,
            "visits": b.visits,
            "returns": b.returns,
            "mean stay (sweeps)": "none ended" if np.isnan(b.mean_stay) else f"{b.mean_stay:,.1f}",
            "still there": b.open,
            "sentences": b.states,
            "chains": b.chains,
            "in the middle": scene.picture.texts[b.medoid],
        }
        for b, w in zip(analysis.basins, analysis.words, strict=True)
    ]
    percent = st.column_config.ProgressColumn("share of time", format="percent", min_value=0, max_value=1)
    st.dataframe(rows, hide_index=True, column_config={"share of time": percent}, key="l_basin_table")
    if len(analysis.basins) > 1 and analysis.flow.sum() == np.trace(analysis.flow):
        say("hint", "No chain has gone from one basin to another yet.")
    elif len(analysis.basins) > 1:
        st.markdown("**Where chains go from basin to basin** (thicker: more often)")
        places = scene.plane.xy[[b.medoid for b in analysis.basins]]
        plot(figures.flow_graph(analysis.basins, analysis.words, analysis.flow, places), "l_flow", 340)
    say("hint", "Mean stay: of the stays that ended; those that had not are counted as still there.")


def _traps(session: LandscapeSession, scene: Scene, analysis: Analysis) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        least = st.number_input(
            "stayed at least (sweeps)", 0.0, 1000.0, 1.0, step=1.0, format="%g", key="l_least", width=200,
            help="Shorter stays are not judged: every sentence judged costs the model a look at each word.",
        )  # fmt: skip
        st.button(
            "look for traps",
            key="l_scan",
            disabled=session.worker.running,
            on_click=lambda: session.find_traps(float(st.session_state["l_least"])),
        )
    found = session.found
    if found is None:
        say("hint", "A perfect trap is a sentence whose every word is the model's first choice; an approximate one "
            "holds with probability 0.99, or keeps the chain close for 20 sweeps.")  # fmt: skip
        return
    if not found.kept:
        say("note", f"No trap among the sentences that held a chain for {least:g} sweeps or longer.")
        return
    vocabulary = session.model.vocabulary
    rows = [
        {
            "sentence": vocabulary.text(kept.trap.state),
            "kind": kept.trap.kind + (", by its window" if kept.trap.reason == "window" else ""),
            "chain": "ABCDEFGH"[k],
            "stays": kept.stays,
            "observed steps a stay": count(kept.mean) if kept.ended else f"more than {whole(kept.dwell)}",
            "expected steps": count(kept.trap.expected),
            "holding": kept.trap.holding,
            "smallest margin (nats)": round(kept.trap.smallest, 2),
            "first at step": whole(kept.trap.entered),
            "left at step": "not left" if kept.trap.left is None else whole(kept.trap.left),
        }
        for k, kept in found.kept[:200]
    ]
    chosen = st.dataframe(
        rows, hide_index=True, key="l_traps", on_select="rerun", selection_mode="single-row", height=280
    )
    picked: list[int] = chosen.selection.rows
    if not picked:
        say("hint", "Choose a row for its margins and an escape experiment. Expected: 1/q at the chain's temperature.")
        return
    trap = found.kept[picked[0]][1].trap
    text = vocabulary.text(trap.state)
    words = [vocabulary.surface(t).text for t in trap.state]
    said = ", ".join(f"{w} {g:.1f}" for w, g in zip(words, trap.margin, strict=True) if not np.isnan(g))
    say("note", f"Margins in nats: {said}.")
    _escape_button(session, trap.state, text, "l_escape_trap")
    if session.escapes is not None and session.escapes.state == trap.state and session.shown is None:
        _escape(session)


def _topics(session: LandscapeSession, scene: Scene, analysis: Analysis) -> None:
    from pages.ui.landscape_topics import panel

    panel(session, scene, analysis)


def _files(session: LandscapeSession, scene: Scene, analysis: Analysis) -> None:
    """The run as files."""

    def button(label: str, name: str, mime: str, make: Callable[[], Any]) -> None:
        st.download_button(label, make, name, mime, on_click="ignore", key=f"l_file_{name}")

    plane, text = scene.plane, session.model.vocabulary.text
    topics = ["" if t < 0 else session.maps.topics[t] for t in plane.topic.tolist()]
    kept = session.found.kept if session.found else []
    stem, csv = f"landscape-{session.address.seed}", "text/csv"

    def visits() -> Any:
        count = len(scene.picture.texts)
        return export.visits_table(analysis, plane.xy[:count], plane.axes, topics[:count])

    with st.container(horizontal=True):
        button("visits, CSV", f"{stem}-visits.csv", csv, lambda: export.to_csv(visits()))
        parquet = "application/vnd.apache.parquet"
        button("visits, Parquet", f"{stem}-visits.parquet", parquet, lambda: export.to_parquet(visits()))
        button("basins, CSV", f"{stem}-basins.csv", csv, lambda: export.to_csv(export.basins_table(analysis)))
        if kept:
            button("traps, CSV", f"{stem}-traps.csv", csv, lambda: export.to_csv(export.traps_table(kept, text)))
    say("hint", "Coordinates are those of the map. Pictures are saved by the camera above each of them.")
