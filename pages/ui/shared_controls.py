"""What the head of every page has: title and idea, the model's field, the link, the note about a model on its way."""

from __future__ import annotations

from typing import Any, Protocol
from urllib.parse import urlencode

import streamlit as st

from glauber_core.models import MaskedLM
from glauber_core.models.registry import ModelRegistry
from glauber_core.models.source import SUGGESTED
from pages.ui.resources import models
from pages.ui.style import say
from pages.ui.visit import Visit


class Guest(Protocol):
    """A visitor's session of a page, as far as models go; ``pending`` begins with the name of what is fetched."""

    model: MaskedLM

    @property
    def pending(self) -> tuple[Any, ...] | None: ...

    def want(self, name: str, registry: ModelRegistry) -> None: ...

    def stop_waiting(self) -> None: ...


def heading(title: str, idea: str) -> None:
    """The page's name and, beside it, one sentence of plain language."""
    with st.container(key="title", horizontal=True, vertical_alignment="bottom"):
        st.title(title, anchor=False, width="content")
        st.caption(idea, width="stretch")


def model_field(column: Any, session: Guest, key: str) -> None:
    """Choose or type a model; a new one's name is shown only once it is in use."""
    state = st.session_state
    if session.pending is None:
        state[key] = session.model.name

    def pick() -> None:
        name = (state[key] or "").strip()
        if name and name != session.model.name:
            session.want(name, models())

    column.selectbox(
        "model",
        list(dict.fromkeys([*SUGGESTED, session.model.name])),
        key=key,
        on_change=pick,
        accept_new_options=True,
        help="Choose one, or type any Hugging Face id (owner/model) or the path of a local folder.",
    )


def link_code(parameters: dict[str, str]) -> None:
    """The page's address with these parameters, to be copied."""
    query = f"{(st.context.url or '').split('?')[0]}?{urlencode(parameters)}"
    st.code(query, language=None, wrap_lines=True)


def fetching(session: Guest, key: str) -> None:
    """A model is being fetched: say so, and offer to stop waiting. Nothing if none is."""
    if session.pending is None:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        say("note", f"Fetching {session.pending[0]}. Until it is there, {session.model.name} stays in use.")
        st.button("stop waiting", key=key, on_click=session.stop_waiting)


def messages(session: Visit, notes: tuple[str, ...], key: str) -> None:
    """What could not be done, what should be known, and a model on its way, which is looked for.

    Args:
        session: of the page.
        notes: shown while there is no error.
        key: of the button that ends the waiting.
    """
    with st.container(key="errors"):
        for notice in session.notices:
            say("notice", notice)
        if session.error:
            say("error", session.error)
        elif notes:
            say("note", " ".join(notes))
    if session.pending is None:
        return

    @st.fragment(run_every=0.5)
    def look() -> None:
        if session.pending is None or session.pending[1].done():
            st.rerun(scope="app")
        fetching(session, key)

    look()
