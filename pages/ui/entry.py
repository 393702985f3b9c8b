"""The way into a page."""

from __future__ import annotations

import runpy
from pathlib import Path

import streamlit as st

ROUTER = Path(__file__).resolve().parents[2] / "app.py"


def through_app() -> None:
    """Begin with the router, if it was passed by.

    The first visitor of a fresh server who follows a link to a page gets that page's file alone: Streamlit 1.67 looks
    into ``pages/`` by itself until ``st.navigation`` has been called once.
    """
    if not st.session_state.get("routed"):
        runpy.run_path(str(ROUTER))
        st.stop()
