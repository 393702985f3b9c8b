"""Rectangle test: two words are changed in either order, and the model's own guesses contradict each other."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from glauber_core.rectangle.presets import PRESETS, corner
from pages.ui import (
    address,
    entry,
    rectangle_address,
    rectangle_compare,
    rectangle_tests,
    rectangle_views,
    shared_controls,
    style,
)
from pages.ui.rectangle_session import RectangleSession
from pages.ui.resources import background, models

IDEA = "Change two words in either order: if one joint law were behind the model's guesses, both would cost the same."


def open_session() -> RectangleSession:
    """The visitor's session; the first call reads the address bar."""
    if "rectangle" in st.session_state:
        return st.session_state["rectangle"]
    base = rectangle_address.default(PRESETS[0].text)
    wanted, notices = rectangle_address.parse(dict(st.query_params), base)
    with st.spinner("Loading the language model ..."):
        model = models().request(base.model).result()
    session = RectangleSession(model, base)
    other = wanted.model != model.name
    start = replace(wanted, model=model.name, corner=None if other else wanted.corner)  # another model, other ids
    if start.text == base.text and start.corner is None:
        start = replace(start, corner=corner(PRESETS[0], model.vocabulary))
    if not session.load(start):
        notices.append(f"The link's sentences cannot be used: {session.refused}")
        session.load(base)
    if other:
        session.want(wanted.model, models(), wanted)
    session.notices = notices
    st.session_state["rectangle"] = session
    return session


def page(session: RectangleSession) -> None:
    style.apply()
    session.arrived()
    worker = background()
    with st.container(key="page"):
        shared_controls.heading("Rectangle test", IDEA)
        rectangle_views.controls(session)
        rectangle_views.text(session)
        rectangle_views.messages(session)
        rectangle_views.waiting(session)
        shown = session.address.view
        if shown != "compare":
            rectangle_views.which(session)
        if shown == "one":
            rectangle_views.one(session)
        elif shown == "test":
            rectangle_tests.test_view(session, worker)
        else:
            rectangle_compare.compare_view(session, worker)
        with st.container(key="fold"):
            rectangle_views.explanation()
    address.write(rectangle_address.link(session.address))


entry.through_app()
visitor = open_session()
with visitor.lock:
    page(visitor)
