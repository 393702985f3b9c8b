"""Fake data for the two components of the rectangle test: no model, numbers that only look right.

Address: ``words`` (number of words), ``picked`` (``4,7``; ``none`` for nothing), ``nasty``, ``case`` (one of CASES),
``lean`` (an invitation comes without any other field).
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.ui.rectangle_components import rectangle, word_picker
from tests.browser.rectangle_words import CASES, FIRST, MEANING, NASTY, NEW, SECOND, SENTENCE, VERDICTS

st.set_page_config(layout="wide")
state, query = st.session_state, st.query_params
state.setdefault("events", [])
state.setdefault("numbers", 0)
state.setdefault("rev", 0)
state.runs = state.get("runs", 0) + 1

length = int(query.get("words", str(len(SENTENCE))))
words = (SENTENCE * (1 + length // len(SENTENCE)))[:length]
words = [*words[::-1]] if state.rev % 2 else words
if "nasty" in query:
    words = [*NASTY, *words]
if "picked" not in state:
    asked = query.get("picked", "2,6")
    state.picked = [] if asked == "none" else [int(k) for k in asked.split(",")]


def token(text: str, first: bool) -> dict[str, Any]:
    return {"t": text.removeprefix("##"), "glue": text.startswith("##") and not first}


def picked() -> None:
    sent = state["words"].pick
    state.events.append(sent)
    state.picked = [*state.picked, sent["pos"]] if len(state.picked) < 2 else [sent["pos"]]


def turn() -> None:
    state.rev, state.picked = state.rev + 1, []


def renumber() -> None:
    state.numbers += 1


with st.container(horizontal=True):
    st.button("change", on_click=renumber)
    st.button("turn", on_click=turn)
    st.button("rerun")


def corner(changed: tuple[int, ...]) -> list[dict[str, Any]]:
    shown = []
    for i, text in enumerate(words):
        place = state.picked.index(i) + 1 if i in state.picked else 0
        new = place in changed
        replaced = NEW.get(text, "<b>new</b>") if new else text
        shown.append(token(replaced, i == 0) | {"mark": f"{place}new" if new else place})
    return shown


case = query.get("case", "")
tokens = [
    token(text, i == 0) | {"oov": text in ("more", "**x**"), "tip": "a corner needs a known word" if i == 7 else ""}
    for i, text in enumerate(words)
]
label = ("click two words", "click a second word", "click a word to start again")[len(state.picked)]
given = {"tokens": tokens, "picked": state.picked, "rev": state.rev, "label": label}
word_picker(CASES[case] if "words" in case else {} if case else given, key="words", on_pick_change=picked)
if not case:
    left, right = st.columns(2)
    left.selectbox("word 1 becomes", ["asked"], label_visibility="collapsed")
    right.selectbox("word 2 becomes", ["eat"], label_visibility="collapsed")
edges = SECOND if state.numbers % 2 else FIRST
l1, l2 = edges["xy"] + edges["yz"], edges["xw"] + edges["wz"]
data = {
    "corners": {"x": corner(()), "y": corner((1,)), "w": corner((2,)), "z": corner((1, 2))},
    "edges": edges,
    "l1": l1,
    "l2": l2,
    "delta": abs(l1 - l2),
    "relative": abs(l1 - l2) / (abs(l1) + abs(l2)),
    "floor": None if state.numbers % 2 else 3.1e-06,
    "verdict": VERDICTS[state.numbers % 4],
    "meaning": "Rounding alone." if state.numbers % 2 else MEANING,
    "note": "natural replacements, tau 1",
    "empty": "" if len(state.picked) == 2 else "Click two words of the sentence: the model rates both orders.",
}
if "lean" in query and data["empty"]:
    data = {"empty": data["empty"]}
rectangle(CASES[case] if case else data, key="rectangle")
st.text(f"events {state.events[-3:]}")
st.text(f"runs {state.runs}")
