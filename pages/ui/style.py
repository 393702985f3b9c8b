"""The few rules of CSS that Streamlit's theme cannot express."""

from __future__ import annotations

import html

import streamlit as st

_RULES = """
<style>
  /* A rerun twice a second must not be seen: no dimming of what is about to be redrawn, no running figure. */
  [data-stale="true"] { opacity: 1 !important; transition: none !important; }
  [data-testid="stStatusWidget"] { display: none; }
  .stMainBlockContainer { padding-top: 3.5rem; }
  .st-key-title { padding-right: 3rem; }
  .say { padding: 0.55rem 0.9rem; border-radius: 0.4rem; border-left: 0.3rem solid; overflow-wrap: anywhere; }
  .say.error { border-color: #d55e00; background: color-mix(in srgb, #d55e00 14%, transparent); }
  .say.notice { border-color: #e69f00; background: color-mix(in srgb, #e69f00 14%, transparent); }
  .say.note { border-color: #0072b2; background: color-mix(in srgb, #0072b2 12%, transparent); }
  .say.hint { padding: 0; border: 0; min-height: 1.5em; font-size: 0.9rem; }
  .say.error::before { content: "\\25B2\\00a0\\00a0"; color: #d55e00; }
  /* Only a wait that a person notices is announced; the beat of a playing chain is shorter. */
  .stApp[data-test-script-state="running"]::after {
    content: "working ..."; position: fixed; top: 0.6rem; left: 50%; transform: translateX(-50%); z-index: 1000;
    padding: 0.1rem 0.9rem; border-radius: 1rem; font-size: 0.85rem; visibility: hidden;
    color: #fff; background: #0072b2; animation: appear 0s 1.2s forwards;
  }
  @keyframes appear { to { visibility: visible; } }
  .st-key-page > [data-testid="stLayoutWrapper"], .st-key-page { gap: 0.55rem; }
  .st-key-title { column-gap: 1.2rem; row-gap: 0; align-items: baseline; }
  .st-key-title > div:last-child { flex: 1 1 16rem; }
  .st-key-title [data-testid="stCaptionContainer"] { margin-bottom: 0; }
  .st-key-title h1 { padding: 0; font-size: 1.5rem; }
  .st-key-title p { margin: 0; }
  .st-key-hands, .st-key-transport, .st-key-time { gap: 0.5rem; }
  .st-key-r_replacements { gap: 0; }
  .st-key-r_replacements .say.hint { line-height: 1.2; min-height: 1.2em; }
  .st-key-errors:empty { display: none; }
  /* Labels beside their fields: the sentence below needs the height. */
  .st-key-top [data-testid="stSelectbox"], .st-key-top [data-testid="stNumberInput"],
  .st-key-r_replacements [data-testid="stSelectbox"] {
    display: flex; flex-direction: row; align-items: center; gap: 0.6rem;
  }
  .st-key-top [data-testid="stWidgetLabel"], .st-key-r_replacements [data-testid="stWidgetLabel"] {
    width: auto; min-height: 0; margin: 0; flex: none; gap: 0.2rem;
  }
  .st-key-top [data-testid="stSelectbox"] > div:last-child, .st-key-top [data-testid="stNumberInput"] > div:last-child,
  .st-key-r_replacements [data-testid="stSelectbox"] > div:last-child {
    flex: 1; min-width: 0;
  }
  @media (max-width: 640px) {
    .st-key-page { display: flex; flex-direction: column; }
    .st-key-page > :has(> .st-key-top) { order: 1; }
    .st-key-page > :has(> .st-key-fold) { order: 2; }
    .st-key-top [data-testid="stWidgetLabel"] { width: 5.4rem; }
  }
</style>
"""


def apply() -> None:
    """Add the rules to the page; drawn first, takes no room."""
    st.html(_RULES)


def say(kind: str, text: str) -> None:
    """A message in which every character of ``text`` is shown as it is; Markdown would turn some into links or signs.

    Args:
        kind: ``error``, ``notice``, ``note`` or ``hint`` (a quiet line whose room is always there).
    """
    role = ' role="alert"' if kind == "error" else ""
    st.html(f'<div class="say {kind}"{role}>{html.escape(text) or "&nbsp;"}</div>')
