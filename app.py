"""Glauber Explorer: page settings and the router. Every page lives in ``pages/``."""

from __future__ import annotations

import streamlit as st

st.set_page_config(page_title="Glauber Explorer", page_icon=":material/casino:", layout="wide")

PAGES = [
    st.Page(
        "pages/live.py",
        title="Live chain",
        icon=":material/play_circle:",
        default=True,
        help="Watch a language model rewrite a sentence, one word at a time, at a temperature that you choose.",
    ),
]

st.navigation(PAGES, position="top").run()
