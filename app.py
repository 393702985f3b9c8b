"""Glauber Explorer: page settings and the router. Every page lives in ``pages/``."""

from __future__ import annotations

import streamlit as st

# A sentence with one word being guessed again. Drawn here: a Material icon would be fetched from the network.
ICON = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><g fill="#0072B2">
<rect x="2" y="12" width="7" height="8" rx="2"/><rect x="23" y="12" width="7" height="8" rx="2"/></g>
<rect x="12" y="7" width="8" height="18" rx="2" fill="#D55E00"/></svg>"""

st.set_page_config(page_title="Glauber Explorer", page_icon=ICON, layout="wide")

# File, title, icon, and what it is for.
PAGES = [
    (
        "live",
        "Live chain",
        "play_circle",
        "Watch a language model rewrite a sentence, word by word, at any temperature.",
    ),
    ("rectangle", "Rectangle test", "crop_square", "See the model's guesses contradict each other."),
    ("landscape", "Landscape", "landscape", "Where chains go in the space of meanings, and the basins that hold them."),
    ("mixing", "Mixing", "join_inner", "How soon chains forget where they began."),
]

st.session_state["routed"] = True
pages = [
    st.Page(f"pages/{file}.py", title=title, icon=f":material/{icon}:", help=tip, default=file == "live")
    for file, title, icon, tip in PAGES
]
st.navigation(pages, position="top").run()
