"""Two coupled chains: settings, clock, and what is sent to the browser."""

from __future__ import annotations

from typing import Any

import streamlit as st

from glauber_core.starters import TOPICS
from pages.ui.address import MAX_SEED
from pages.ui.components import tau_control
from pages.ui.mixing_address import LENGTHS, VIEWS, link
from pages.ui.mixing_components import coupling
from pages.ui.mixing_session import HORIZON, MixingSession, curve
from pages.ui.shared_controls import link_code, model_field
from pages.ui.words import whole

BEAT = 0.4
NAMES = {"coupling": "two chains", "phase": "phase diagram", "physics": "physics check"}
SPEEDS: dict[str, float | None] = {"3 a second": 3.0, "12 a second": 12.0, "as fast as it goes": None}


def view(session: MixingSession) -> None:
    """Which of the three views; it takes one line."""
    state = st.session_state
    state["m_view"] = session.address.view
    st.segmented_control(
        "view",
        VIEWS,
        key="m_view",
        format_func=NAMES.__getitem__,
        on_change=lambda: session.set(view=state["m_view"] or session.address.view),
        required=True,
        label_visibility="collapsed",
    )


def controls(session: MixingSession) -> None:
    """Model, where the two begin, length, seed, link."""
    state, own = st.session_state, session.address
    with st.container(key="top"):
        model, first, second, length, seed, share = st.columns(
            [2.5, 1.9, 1.9, 1.8, 1.8, 0.9], vertical_alignment="center"
        )
    model_field(model, session, "m_model")

    def topic(column: Any, name: str, label: str, other: str) -> None:
        state[f"m_{name}"] = getattr(own, name)
        column.selectbox(
            label,
            [t for t in TOPICS if t != other],
            key=f"m_{name}",
            on_change=lambda: session.set(**{name: state[f"m_{name}"]}),
        )

    topic(first, "first", "A from", own.second)
    topic(second, "second", "B from", own.first)
    state["m_n"], state["m_seed"] = own.n, own.seed
    length.number_input("tokens", *LENGTHS, step=1, key="m_n", on_change=lambda: session.set(n=int(state["m_n"])))
    seed.number_input(
        "seed", 0, MAX_SEED, step=1, key="m_seed", on_change=lambda: session.set(seed=int(state["m_seed"]))
    )
    with share.popover("link", key="m_link", width="stretch"):
        link_code(link(own))


def transport(session: MixingSession) -> None:
    """Temperature and the clock."""
    state = st.session_state
    slider, buttons = st.columns([1, 1], vertical_alignment="bottom")
    with slider:
        value = tau_control(session.address.tau, key="m_tau", rev=session.rev)
        if value != session.address.tau:
            session.set_tau(value)
    with buttons, st.container(key="transport", horizontal=True, vertical_alignment="bottom"):
        if session.worker.running:
            st.button("pause", key="m_pause", type="primary", on_click=session.pause, width=110)
        else:
            begun = session.pair is not None and session.pair.steps > 0
            st.button(
                "go on" if begun and not session.finished else "run",
                key="m_run",
                type="primary",
                on_click=session.run,
                disabled=session.finished,
                width=110,
            )
        st.button("new pair", key="m_reset", on_click=session.begin, help="Back to the two sentences they began with.")
        names = list(SPEEDS)
        state["m_speed"] = next(name for name, value in SPEEDS.items() if value == session.speed)

        def pace() -> None:
            session.speed = SPEEDS[state["m_speed"]]

        st.selectbox("steps", names, key="m_speed", on_change=pace)


def moving(session: MixingSession) -> None:
    """The two sentences and their distance, redrawn while they move."""

    @st.fragment(run_every=BEAT if session.worker.running else None)
    def beat() -> None:
        with session.lock:
            running = session.worker.running
            if st.session_state.get("m_drawn", False) != running:
                st.session_state["m_drawn"] = running
                st.rerun(scope="app")
            coupling(message(session), key="m_pair")

    beat()


def message(session: MixingSession) -> dict[str, Any]:
    """Data of the component."""
    pair, n = session.pair, session.address.n
    if pair is None:
        return {"epoch": session.epoch, "words": [], "said": session.error, "curve": []}
    surface = session.model.vocabulary.surface
    words = [
        {"x": x, "y": y, "xt": surface(x).text, "yt": surface(y).text}
        for x, y in zip(pair.state.x[0].tolist(), pair.state.y[0].tolist(), strict=True)
    ]
    return {
        "epoch": session.epoch,
        "title": f"above: A, from {session.address.first}; below: B, from {session.address.second}; fused: they agree",
        "words": words,
        "step": pair.steps,
        "said": _said(session),
        "curve": curve(pair, n),
        "met": None if pair.met is None else pair.met / n,
    }


def _said(session: MixingSession) -> str:
    pair, n = session.pair, session.address.n
    if pair is None:
        return ""
    sweeps = f"{pair.steps / n:,.1f}" if pair.steps < 10 * n else whole(round(pair.steps / n))
    if pair.met is not None:
        return f"They met after {whole(pair.met)} steps, {sweeps} sweeps, and stay together for ever."
    apart = f"{pair.distance[pair.steps]} of {n} words differ after {whole(pair.steps)} steps, {sweeps} sweeps"
    if session.finished:
        return f"{apart}. Stopped: {whole(HORIZON)} sweeps are as long as this page waits."
    return f"{apart}."


def explanation() -> None:
    """What is shown, with the reference."""
    with st.expander("how this is computed"):
        st.markdown(
            r"""
Both chains resample the **same word** at every step, from the *maximal coupling* of their two conditionals $p$ and
$q$: with probability $1 - \mathrm{TV}(p, q)$ both take the same word, otherwise each its own. Each chain alone is a
plain Glauber chain. Two equal sentences are read once, so they stay equal for ever. The time $T$ at which they meet
bounds mixing: $P(T > t)$ is at least the distance of the two chains' laws after $t$ steps (Levin and Peres, theorem
5.4).

**Phase diagram**: the median of $T$ over pairs that begin with sentences of different topics, by Kaplan and Meier;
pairs that had not met within the horizon are counted as such, and a median that is only known to be larger than the
horizon is crossed out. A point is *slow* if its median is more than 10 times that at the hottest temperature of the
same length; the line runs between slow and fast. The paper sees the transition between 1.5 and 2.

**Physics check**: the mean-field Ising magnet, whose mixing is known. Its magnetisation is a birth-death chain, so the
distance from stationarity is exact for thousands of spins. Below $\beta = 1$, $t_{\mathrm{mix}} \sim n \log n / (2(1 -
\beta))$ (Levin, Luczak and Peres 2010); at 1 it grows as $n^{3/2}$, above exponentially.

Source: *Mixing Times of Glauber Dynamics on Masked Language Models*, arXiv 2605.16378, sections 3 and 5.
"""
        )
