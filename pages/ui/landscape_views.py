"""The upper half of the landscape page: settings, the clock, the map."""

from __future__ import annotations

import streamlit as st

from glauber_core.errors import UserError
from glauber_core.landscape.basins import LEAST, REACH
from glauber_core.landscape.expedition import MAX_CHAINS
from glauber_core.rectangle.compare import MAX_TOKENS
from glauber_core.starters import TOPICS
from pages.ui.address import MAX_SEED, MAX_TEXT
from pages.ui.components import tau_control
from pages.ui.landscape_address import COLORS, HORIZONS, OWN, link
from pages.ui.landscape_components import landscape
from pages.ui.landscape_frames import Wire
from pages.ui.landscape_session import LandscapeSession
from pages.ui.shared_controls import link_code, model_field
from pages.ui.style import say
from pages.ui.words import whole

BEAT = 0.7


def controls(session: LandscapeSession) -> None:
    """Model, starts, seed, link."""
    state = st.session_state
    with st.container(key="top"):
        model, starts, seed, share = st.columns([2.6, 4.2, 1.8, 0.9], vertical_alignment="center")
    model_field(model, session, "l_model")
    with starts.popover(f"chains: {_named(session.address.starts)}", key="l_starts", width="stretch"):
        _starts(session)
    state["l_seed"] = session.address.seed
    seed.number_input(
        "seed",
        0,
        MAX_SEED,
        step=1,
        key="l_seed",
        on_change=lambda: session.set(seed=int(state["l_seed"])),
        help="The same seed, model and temperature give the same chains.",
    )
    with share.popover("link", key="l_link", width="stretch"):
        st.write("The address bar holds model, starts, seed, temperature and number of steps.")
        link_code(link(session.address))


def _named(starts: tuple[str, ...]) -> str:
    names = list(dict.fromkeys("my sentence" if s == OWN else s for s in starts))
    return f"{len(starts)} from {', '.join(names)}"


def _starts(session: LandscapeSession) -> None:
    state = st.session_state
    present = session.address.starts
    names = [*TOPICS, OWN]
    state["l_topics"] = [name for name in names if name in present]
    state["l_each"] = max(1, max(present.count(name) for name in present))
    state["l_own"] = session.address.text

    def change() -> None:
        chosen = state["l_topics"] or list(dict.fromkeys(present))
        each = min(int(state["l_each"]), max(1, MAX_CHAINS // len(chosen)))
        wanted = tuple(name for name in chosen[:MAX_CHAINS] for _ in range(each))
        if wanted != present:
            session.set(starts=wanted)

    def own() -> None:
        text = (state["l_own"] or "").strip()
        if not text:
            session.error = "Write a sentence of at least one word; meanwhile the one before stays in use."
            return
        try:
            session.model.vocabulary.encode(text, cap=MAX_TOKENS)
        except UserError as error:
            session.error = f"{error} Meanwhile the sentence before stays in use."
            return
        session.set(text=text, starts=present if OWN in present else (*present[: MAX_CHAINS - 1], OWN))

    st.pills(
        "topics to start from",
        names,
        selection_mode="multi",
        key="l_topics",
        format_func=lambda name: "my sentence" if name == OWN else name,
        on_change=change,
    )
    st.number_input("chains from each", 1, MAX_CHAINS, key="l_each", on_change=change)
    st.text_input("my sentence", key="l_own", max_chars=MAX_TEXT, on_change=own)
    st.caption(f"At most {MAX_CHAINS} chains. Changing the starts begins a new run.")


def transport(session: LandscapeSession) -> None:
    """Temperature and the clock."""
    state = st.session_state
    slider, buttons = st.columns([1, 1], vertical_alignment="bottom")
    with slider:
        value = tau_control(session.address.tau, key="l_tau", rev=session.rev)
        if value != session.address.tau:
            session.set_tau(value)
    with buttons, st.container(key="transport", horizontal=True, vertical_alignment="bottom"):
        if session.running:
            st.button("pause", key="l_pause", type="primary", on_click=session.pause, width=110)
        else:
            there = session.arrived_at_horizon
            st.button(
                "run" if session.scene is None else "go on",
                key="l_run",
                type="primary",
                on_click=session.run,
                disabled=there or session.worker.running,
                help="All chains are there: choose more steps, or begin anew." if there else None,
                width=110,
            )
        st.button("new run", key="l_reset", on_click=session.begin, help="Drop these chains and begin again.")
        state["l_horizon"] = session.address.horizon
        st.selectbox(
            "steps of each chain",
            HORIZONS,
            key="l_horizon",
            format_func=lambda k: f"{k:,}",
            on_change=lambda: session.set(horizon=int(state["l_horizon"])),
            help="Simulated steps. Waiting is skipped where that is cheaper, without changing the law of the chain.",
        )
        with st.popover("view", key="l_view"):
            state["l_color"] = session.address.color
            st.selectbox(
                "colour by",
                list(COLORS),
                key="l_color",
                format_func=COLORS.__getitem__,
                on_change=lambda: session.set(color=state["l_color"]),
            )
            state["l_axes"] = "PCA" if session.umap is None else "UMAP"
            st.selectbox(
                "axes",
                ["PCA", "UMAP"],
                key="l_axes",
                on_change=lambda: session.set_axes(state["l_axes"]),
                help="Principal components never change. UMAP is fitted to this run and keeps neighbours together.",
            )


def moving(session: LandscapeSession) -> None:
    """The map, redrawn while the chains move."""
    wire: Wire = st.session_state.setdefault("l_wire", Wire())

    def picked() -> None:
        sent = st.session_state["l_map"].pick
        if isinstance(sent, dict) and session.pick(sent.get("state"), sent.get("epoch")):
            st.session_state["l_drawn"] = None  # what is said of the point stands outside the map's fragment

    @st.fragment(run_every=BEAT if session.worker.running else None)
    def beat() -> None:
        with session.lock:
            running = session.worker.running
            if session.collect() or st.session_state.get("l_drawn", False) != running:
                st.session_state["l_drawn"] = running  # what the rest of the page was drawn for
                st.rerun(scope="app")
            landscape(wire.message(session), key="l_map", on_pick_change=picked, on_resync_change=wire.resync)
            with st.container(key="l_progress"):
                _progress(session)

    beat()


def _progress(session: LandscapeSession) -> None:
    worker, scene = session.worker, session.scene
    if worker.running:
        share = worker.share
        words = "stopping ..." if worker.stopping else f"{worker.name}: {100 * share:.0f} %"
        with st.container(horizontal=True, vertical_alignment="center"):
            st.progress(share, words)
            if not session.running:
                st.button("cancel", key="l_cancel", on_click=worker.cancel, disabled=worker.stopping)
        return
    if scene is None:
        say("hint", "")
        return
    stride = max(scene.picture.stride)
    thinned = "" if stride == 1 else f" Of the hottest chain every {stride}th change is drawn now."
    basins = 0 if scene.analysis is None else len(scene.analysis.basins)
    count = "1 basin" if basins == 1 else f"{basins} basins"
    words = f"{whole(len(scene.picture.texts))} different sentences, {count}."
    say("hint", words + thinned)


def explanation() -> None:
    """What is drawn, with the reference."""
    with st.expander("how this is computed"):
        st.markdown(
            rf"""
Every chain resamples one word after the other at the temperature of the slider; waiting is skipped where that is
cheaper (the n-fold way: Bortz, Kalos and Lebowitz 1975), which leaves its law as it is. Each *different* sentence it
visits is embedded once by the sentence encoder all-MiniLM-L6-v2 and drawn at its first two principal components. The
axes were fitted once, on topic sentences of our own, and never move; the names of the topics stand where those
sentences lie.

A **basin** is a region where chains spent their time: a sentence is a core of one if chains stayed at least
{LEAST:.0f} sweeps in sentences within {REACH} of it (1 minus the cosine of the two embeddings), and cores within reach
of each other belong together (DBSCAN, Ester et al. 1996, weighted by time: it takes weights, and its parameters are a
distance and a time). Everything else is in no basin. A stay ends when the chain is elsewhere for more than one sweep.
The words of a basin are those over-represented in its sentences (log-odds with a Dirichlet prior, Monroe et al. 2008).

**Length of stay** is the expected one, 1/q, where the exit rate q was computed, otherwise the one observed.
A **topic** is named where its calibrated score is at least one half.

Distances on the map are a projection of 384 dimensions: near on the map need not be near in meaning.

Source: *Mixing Times of Glauber Dynamics on Masked Language Models*, arXiv 2605.16378, section on the semantic
landscape.
"""
        )
