"""Glauber Explorer: page settings and the router. Every page lives in ``pages/``."""

from __future__ import annotations

import streamlit as st

# A sentence with one word being guessed again. Drawn here: a Material icon would be fetched from the network.
ICON = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><g fill="#0072B2">
<rect x="2" y="12" width="7" height="8" rx="2"/><rect x="23" y="12" width="7" height="8" rx="2"/></g>
<rect x="12" y="7" width="8" height="18" rx="2" fill="#D55E00"/></svg>"""

st.set_page_config(page_title="Glauber Explorer", page_icon=ICON, layout="wide")

PAGES = [
    st.Page(
        "pages/live.py",
        title="Live chain",
        icon=":material/play_circle:",
        default=True,
        help="Watch a language model rewrite a sentence, one word at a time, at a temperature that you choose.",
    ),
    st.Page(
        "pages/rectangle.py",
        title="Rectangle test",
        icon=":material/crop_square:",
        help="Change two words in either order and see the model's guesses contradict each other.",
    ),
    st.Page(
        "pages/landscape.py",
        title="Landscape",
        icon=":material/landscape:",
        help="Where chains of sentences go in the space of meanings, and the basins that hold them.",
    ),
]

st.session_state["routed"] = True
st.navigation(PAGES, position="top").run()
