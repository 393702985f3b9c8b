"""Fake data for the five browser components: no model, the same random numbers at every start.

Address: ``chains``, ``words``, ``color``, ``play``, ``empty``, ``alone`` (the strips only), ``scrub`` (the scrubber
too: ``on``, or ``off`` for a disabled one).
"""

from __future__ import annotations

import random
import time
from typing import Any

import streamlit as st

from pages.ui.components import conditional_panel, scrubber, stage, tau_color, tau_control, timelines

SENTENCE = "the doctor told the patient to drink more water and un ##believ ##ably warm milk .".split()
NASTY = ["<img src=x onerror=window.hacked=1>", "$5", "**x**", "<b>bold</b>"]
WORDS = ["river", "a", "extraordinarily", "told", "milk", "of", "physician", "seven", "##ing", *NASTY]
BEAT, BLOCK = 0.5, 6
TITLES = ["chain A, seed 7", "chain B, seed 8", "chain C, seed 7, branch", "chain D <b>, $5"]
BADGES = [
    {"kind": "perfect", "text": "perfect trap, expected to stay 32,000 steps", "tip": "Every word is the best one."},
    {
        "kind": "approximate",
        "text": "approximate trap, expected to stay 210 steps",
        "tip": "The sentence seldom changes.",
    },
    {"kind": "wandering", "text": "wandering, expected to stay 1.2 steps", "tip": "The sentence changes often."},
    {"kind": "unknown", "text": "not yet known", "tip": "Computed once a sweep."},
]

st.set_page_config(layout="wide")
state, query = st.session_state, st.query_params
count = int(query.get("chains", "1"))
length = int(query.get("words", str(len(SENTENCE))))


def token(text: str, first: bool = False) -> dict[str, Any]:
    glued = text.startswith("##") and not first
    return {"t": text.removeprefix("##") if glued else text, "glue": glued, "oov": text == "[MASK]"}


def start() -> list[dict[str, Any]]:
    """The chains at step 0."""
    words = (SENTENCE * 10)[:length]
    if "nasty" in query:
        words = [*NASTY, "", "\u200b", "[MASK]", "\u0634\u0645\u0633", "x" * 90, *words]
    return [
        {
            "tokens": [token(w, k == 0) | {"locked": k in (1, 4)} for k, w in enumerate(words)],
            "changed": [None] * len(words),
            "values": {name: [None] * len(words) for name in ("probability", "entropy", "margin")},
        }
        for _ in range(count)
    ]


def restart() -> None:
    state.epoch = state.get("epoch", 0) + 1
    state.seq, state.step, state.chains, state.random = 0, 0, start(), random.Random(7)
    state.block = (0, start(), [[] for _ in range(count)])
    state.history = [[[0.0, 0.5, 2.0]] for _ in range(count)]


def advance(steps: int) -> None:
    """The next block of every chain."""
    import copy

    before = copy.deepcopy(state.chains)
    draw, first, frames = state.random, state.step, []
    for number, chain in enumerate(state.chains):
        made = []
        for s in range(first + 1, first + steps + 1):
            i = draw.choice([k for k, t in enumerate(chain["tokens"]) if not t["locked"]])
            changed = draw.random() < 0.7
            new = token(draw.choice(WORDS), i == 0) if changed else chain["tokens"][i]
            p, entropy, margin = draw.random(), 5 * draw.random(), 14 * draw.random() - 4
            chain["tokens"][i] = chain["tokens"][i] | {k: new[k] for k in ("t", "glue", "oov")}
            for name, value in zip(("probability", "entropy", "margin"), (p, entropy, margin), strict=True):
                chain["values"][name][i] = value
            if changed:
                chain["changed"][i] = s
            made.append(
                {"s": s, "i": i, **{k: new[k] for k in ("t", "glue", "oov")}, "c": changed}
                | {"tau": state.used, "p": p, "h": entropy, "m": margin}
            )
            if s % length == 0:
                hold = draw.random() ** 0.3
                state.history[number].append([s / length, hold, 1 / (1 - hold)])
        frames.append(made)
    state.step += steps
    state.seq += 1
    state.block = (first, before, frames)


if "epoch" not in state:
    state.used, state.events, state.runs = 0.7, [], 0
    state.rev = 0
    restart()
    state.playing = "play" in query
    if "play" not in query:
        advance(40 if "empty" not in query else 1)
        first, before, frames = state.block
        state.block = (state.step, state.chains, [[] for _ in range(count)])

state.runs += 1


def toggle() -> None:
    state.playing = not state.playing


def preset() -> None:
    state.used, state.rev = 1.5, state.rev + 1


with st.container(horizontal=True):
    st.button("play", on_click=toggle)
    st.button("restart", on_click=restart)
    st.button("advance", on_click=advance, args=(BLOCK,))
    st.button("many", on_click=advance, args=(120,))
    st.button("preset", on_click=preset)
    st.button("rerun")
if "alone" not in query:
    state.used = tau_control(state.used, key="tau", rev=state.rev)


def told(key: str, name: str) -> None:
    state.events.append((name, state[key][name]))


def scrubbed() -> None:
    told("scrub", "seek")
    state.cursor = int(state.scrub.seek["step"])


if "scrub" in query:
    state.setdefault("cursor", state.step)
    scrubber(
        min(state.cursor, state.step),
        state.step,
        "a <b>note</b>",
        key="scrub",
        disabled=query["scrub"] == "off",
        on_seek_change=scrubbed,
    )


def panels(tau: float) -> None:
    left, right = st.columns(2, gap="medium")
    raw = [(0.55 ** (k / max(tau, 0.05))) for k in range(15)]
    total = sum(raw) * 1.1
    rows = [
        {
            "id": 100 + k,
            "t": (NASTY + WORDS + SENTENCE)[k],
            "p": x / total,
            "p1": 0.4 * 0.6**k,
            "rank": k + 1,
            "current": k == 2,
        }
        for k, x in enumerate(raw)
    ]
    current = {"id": 7, "t": "far", "p": 0.00004, "p1": 0.003, "rank": 412, "current": True}
    data = {
        "title": "What the model would put at \u201c<b>patient</b>\u201d",
        "subtitle": "word 5, all other words as they stand",
        "rows": [] if "empty" in query else [r | {"current": False} if "far" in query else r for r in rows],
        "current": current if "far" in query else None,
        "entropy": 1.234,
        "entropy1": 2.345,
        "other": 1 - 1 / 1.1,
        "tau": tau,
        "note": "exact, computed at step 204",
        "empty": "Click a word to see what the model would put there.",
    }
    with left:
        conditional_panel(data, key="cond", on_choose_change=lambda: told("cond", "choose"))
    now = state.step / length
    lines = [
        {
            "id": "ABCD"[k],
            "title": TITLES[k],
            "holding": [] if "empty" in query else points,
            "argmax": [] if "empty" in query else [[x, round(length * h)] for x, h, _ in points],
            "changes": [] if "empty" in query else [[x, round(length * (1 - h))] for x, h, _ in points[1:]],
            "tau": [[x / length, 0.2 + 3 * x / max(state.step, 1)] for x in range(0, state.step, 3)],
        }
        for k, points in enumerate(state.history)
    ]
    with right:
        timelines(
            {"epoch": str(state.epoch), "n": length, "cursor": now, "xmax": max(now, 1.0), "chains": lines},
            key="lines",
            on_seek_change=lambda: told("lines", "seek"),
        )


@st.fragment(run_every=BEAT if state.playing else None)
def moving() -> None:
    clock = time.monotonic()
    if state.playing and clock - state.get("clock", 0) > 0.8 * BEAT:
        state.clock = clock
        advance(BLOCK)
    first, before, frames = state.block
    picked = next((v for n, v in reversed(state.events) if n == "pick" and v), None)
    stage(
        {
            "epoch": str(state.epoch),
            "seq": state.seq,
            "playing": state.playing,
            "frame_ms": 1000 * BEAT / BLOCK,
            "color": query.get("color", "none"),
            "n_free": length,
            "chains": [
                {
                    "id": "ABCD"[k],
                    "title": TITLES[k],
                    "tau": (0.3, 1.0, 2.0, 4.0)[k] if count > 1 else state.used,
                    "step": first,
                    "tokens": chain["tokens"],
                    "age": [None if c is None else first - c for c in chain["changed"]],
                    **chain["values"],
                    "frames": frames[k],
                    "badge": BADGES[k] | {"step": first},
                    "counters": "31 changes",
                    "selected": picked["pos"] if picked and picked["chain"] == "ABCD"[k] else None,
                }
                for k, chain in enumerate(before)
            ],
        },
        key="stage",
        on_pick_change=lambda: told("stage", "pick"),
    )
    if "alone" not in query:
        panels(state.used)
    st.text(f"tau {state.used}, colour {tau_color(state.used)}, runs {state.runs}")
    st.text(f"events {state.events[-3:]}")


moving()
