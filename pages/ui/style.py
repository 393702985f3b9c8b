"""The few rules of CSS that Streamlit's theme cannot express."""

from __future__ import annotations

import streamlit as st

_RULES = """
<style>
  .st-key-hands, .st-key-transport { row-gap: 0.4rem; }
  .st-key-errors { min-height: 3.2rem; }
  .st-key-scrub { min-height: 5.2rem; }
  @media (max-width: 640px) { h1 { font-size: 1.4rem !important; } }
</style>
"""


def apply() -> None:
    """Add the rules to the page; drawn first, takes no room."""
    st.html(_RULES)
