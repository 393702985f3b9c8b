"""The few rules of CSS that Streamlit's theme cannot express."""

from __future__ import annotations

import streamlit as st

_RULES = """
<style>
  /* A rerun twice a second must not be seen: no dimming of what is about to be redrawn, no running figure. */
  [data-stale="true"] { opacity: 1 !important; transition: none !important; }
  [data-testid="stStatusWidget"] { display: none; }
  .stMainBlockContainer { padding-top: 4.3rem; }
  .st-key-page > [data-testid="stLayoutWrapper"], .st-key-page { gap: 0.55rem; }
  .st-key-title { column-gap: 1.2rem; row-gap: 0; align-items: baseline; }
  .st-key-title > div:last-child { flex: 1 1 16rem; }
  .st-key-title [data-testid="stCaptionContainer"] { margin-bottom: 0; }
  .st-key-title h1 { padding: 0; font-size: 1.5rem; }
  .st-key-title p { margin: 0; }
  .st-key-hands, .st-key-transport, .st-key-time { gap: 0.5rem; }
  .st-key-errors:empty { display: none; }
  /* Labels beside their fields: the sentence below needs the height. */
  .st-key-top [data-testid="stSelectbox"], .st-key-top [data-testid="stNumberInput"] {
    display: flex; flex-direction: row; align-items: center; gap: 0.6rem;
  }
  .st-key-top [data-testid="stWidgetLabel"] { width: auto; min-height: 0; margin: 0; flex: none; gap: 0.2rem; }
  .st-key-top [data-testid="stSelectbox"] > div:last-child, .st-key-top [data-testid="stNumberInput"] > div:last-child {
    flex: 1; min-width: 0;
  }
  @media (max-width: 640px) {
    .st-key-page { display: flex; flex-direction: column; }
    .st-key-page > :has(> .st-key-top) { order: 1; }
    .st-key-page > :has(> .st-key-fold) { order: 2; }
    .st-key-top [data-testid="stWidgetLabel"] { width: 4.2rem; }
  }
</style>
"""


def apply() -> None:
    """Add the rules to the page; drawn first, takes no room."""
    st.html(_RULES)
