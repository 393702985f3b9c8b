"""Controls of the live page that must answer at once; they stand in the main script, outside the timer's fragment."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from glauber_core.starters import STARTERS
from glauber_core.temperature import SCHEDULES
from pages.ui.address import COLORS, MAX_SEED, MAX_TAU, MAX_TEXT, fields
from pages.ui.components import tau_control
from pages.ui.live_session import LiveSession
from pages.ui.player import MAX_CHAINS
from pages.ui.shared_controls import fetching, link_code, model_field
from pages.ui.style import say

SPEEDS = (1.0, 3.0, 6.0, 12.0, 25.0, None)
SKIP = (
    "Play goes straight from change to change and says how long the sentence had waited: the same law as step by step, "
    "other random numbers. Nothing that was recorded changes."
)
SCHEDULE_NAMES = dict(zip(SCHEDULES, ("constant", "heat, then cool", "slow anneal"), strict=True))
COLOR_NAMES = dict(
    zip(
        COLORS,
        ("age of the word", "probability of the word", "entropy of the choice", "margin over the next best", "nothing"),
        strict=True,
    )
)


def sentence(live: LiveSession) -> None:
    """Model, starter, sentence, seed."""
    state = st.session_state
    state.setdefault("text", live.address.text)
    state.setdefault("seed", live.address.seed)

    def pick_starter() -> None:
        if state["starter"] is not None:
            state["text"] = STARTERS[state["starter"]].text
            new_sentence()

    def new_sentence() -> None:
        live.restart(replace(live.address, text=state["text"], seed=_seed(state["seed"], live)))

    with st.container(key="top"):
        model, starter, seed, link = st.columns([2.6, 5, 2, 0.9], vertical_alignment="center")
    model_field(model, live, "model_pick")
    starter.selectbox(
        "starter",
        range(len(STARTERS)),
        index=None,
        key="starter",
        on_change=pick_starter,
        format_func=lambda k: f"{STARTERS[k].topic}: {STARTERS[k].text}",
        placeholder="choose a sentence",
        help="Our own sentences on eight topics; those under \u201cpaper\u201d are quoted from arXiv 2605.16378.",
    )
    seed.number_input(
        "seed",
        min_value=0,
        max_value=MAX_SEED,
        step=1,
        key="seed",
        on_change=new_sentence,
        help="The same seed, sentence and temperature give the same path.",
    )
    with link.popover("link", key="link", width="stretch"):
        st.write("The address bar holds sentence, model and settings; for the steps, export the run.")
        link_code(fields(live.address))
        if len(live.address.text) > MAX_TEXT:
            st.write("The sentence is too long for a link; export the run instead.")
    st.text_input(
        "sentence",
        key="text",
        label_visibility="collapsed",
        on_change=new_sentence,
        placeholder="Type a sentence and press Enter; [MASK] leaves a blank",
    )


def _seed(value: object, live: LiveSession) -> int:
    ok = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_SEED
    return value if ok and isinstance(value, int) else live.address.seed


def messages(live: LiveSession) -> None:
    """What could not be done, and what the model cannot see as it was typed."""
    with st.container(key="errors"):
        for notice in st.session_state.pop("notices", []):
            say("notice", notice)
        if live.refused:
            say("error", f"{live.refused} Meanwhile the sentence before goes on.")
        elif live.error:
            say("error", live.error)
        elif live.notes:
            say("note", " ".join(live.notes))


def waiting(live: LiveSession) -> None:
    """A model is being fetched; ``live_panels.moving`` looks for it."""
    fetching(live, "stop_waiting")


def transport(live: LiveSession) -> None:
    """Temperature, play, step, sweep, reset, speed, schedule, colour, compare, skip waiting."""
    player = live.player
    state = st.session_state
    tau, buttons = st.columns([5, 6], vertical_alignment="center")
    with tau:
        live.set_tau(tau_control(live.address.tau, key="tau", rev=live.rev, label="temperature tau"))
    with buttons, st.container(horizontal=True, key="transport", vertical_alignment="center"):
        label, icon = ("pause", ":material/pause:") if player.playing else ("play", ":material/play_arrow:")
        st.button(
            label, icon=icon, type="primary", on_click=live.run, args=(not player.playing,), key="play", width=108
        )
        st.button(
            "next change" if player.skip else "step", on_click=live.step, key="step", disabled=player.playing, width=114
        )
        sweep = player.tracks[0].chain.sweep_length
        st.button(
            "sweep",
            on_click=live.move,
            args=(sweep,),
            key="sweep",
            disabled=player.playing,
            help=f"As many steps as there are free words: {sweep}.",
        )
        st.button("reset", on_click=live.reset, key="reset", help="Back to the sentence at step 0.")
        with st.popover("more", key="more"):
            # A value given through the session's state does not reach a field inside a popover that is still closed.
            if player.skip:
                player.pace = _speed(player.pace, "change", "pace")
            else:
                player.speed = _speed(player.speed, "step", "speed")
            st.selectbox(
                "temperature over time",
                list(SCHEDULE_NAMES),
                list(SCHEDULE_NAMES).index(live.schedule.kind),
                key="schedule",
                format_func=SCHEDULE_NAMES.__getitem__,
                on_change=lambda: live.set_schedule(state["schedule"]),
                help="Heat, then cool: hot for 10 sweeps, then the slider's value. "
                "Slow anneal: from hot down to the slider's value in 20 sweeps.",
            )
            color = st.selectbox(
                "colour words by",
                list(COLOR_NAMES),
                list(COLOR_NAMES).index(live.address.color),
                key="color",
                format_func=COLOR_NAMES.__getitem__,
            )
            if color in COLORS:
                live.address = replace(live.address, color=color)
        with st.popover("compare", key="compare"):
            _compare(live)
        state.setdefault("skip", live.address.skip)
        st.toggle("skip waiting", key="skip", on_change=lambda: live.set_skip(state["skip"]), help=SKIP)


def _speed(now: float | None, unit: str, key: str) -> float | None:
    """The menu of speeds in steps or changes a second; the one chosen."""
    names = {
        "as fast as it computes" if speed is None else f"{speed:.0f} {unit}{'' if speed == 1 else 's'} a second": speed
        for speed in SPEEDS
    }
    return names.get(st.selectbox("speed", list(names), list(names.values()).index(now), key=key), now)


def _compare(live: LiveSession) -> None:
    st.write("Up to four chains side by side, from the first sentence. Steps already made are kept and shown again.")
    what = st.segmented_control("differ in", ["temperature", "seed"], default="temperature", key="differ")
    taus = {0: 0.3, 1: 1.0, 2: 2.0, 3: 4.0}
    count = len(live.player.tracks)
    full = count >= MAX_CHAINS
    if what == "seed":
        other = min(live.address.seed + count, MAX_SEED)
        seed = st.number_input("its seed", 0, MAX_SEED, other, 1, key=f"other_seed_{count}")
        st.button("add chain", on_click=live.compare, args=(None, seed), key="add_seed", disabled=full)
    else:
        tau = st.number_input("its temperature", 0.0, MAX_TAU, taus.get(count, 1.0), 0.1, key=f"other_tau_{count}")
        st.button("add chain", on_click=live.compare, args=(tau, live.address.seed), key="add_tau", disabled=full)
    for track in live.player.tracks[1:]:
        own = live.own_tau.get(track.name)
        detail = f"seed {track.chain.header.seed}" + (f", temperature {own:g}" if own is not None else "")
        st.button(
            f"remove chain {track.name} ({detail})", on_click=live.remove, args=(track.name,), key=f"rm_{track.name}"
        )
