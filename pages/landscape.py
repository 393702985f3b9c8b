"""Landscape: where chains of sentences go, the basins that hold them, and the traps on the way."""

from __future__ import annotations

import streamlit as st

from pages.ui import address, entry, landscape_address, landscape_results, landscape_views, shared_controls, style
from pages.ui.landscape_session import LandscapeSession
from pages.ui.resources import journey, maps, models, travel_seat

IDEA = "Sentences of similar meaning lie close together: watch chains travel, and see which regions hold them."


def open_session() -> LandscapeSession:
    """The visitor's session; the first call reads the address bar."""
    travel_seat().beat()
    if "landscape" in st.session_state:
        return st.session_state["landscape"]
    base = landscape_address.default()
    wanted, notices = landscape_address.parse(dict(st.query_params), base)
    with st.spinner("Loading the language model and the map ..."):
        model, chart = models().request(base.model).result(), maps()
    session = LandscapeSession(model=model, address=wanted, maps=chart, worker=journey(), serve=travel_seat().at)
    if wanted.model != model.name:
        session.address = landscape_address.with_model(wanted, model.name)
        session.want(wanted.model, models())
    session.notices = notices
    st.session_state["landscape"] = session
    return session


def page(session: LandscapeSession) -> None:
    style.apply()
    session.arrived()
    session.collect()
    with st.container(key="page"):
        shared_controls.heading("Landscape", IDEA)
        landscape_views.controls(session)
        shared_controls.messages(session, session.notes, "l_stop_waiting")
        landscape_views.transport(session)
        landscape_views.moving(session)
        landscape_results.selected(session)
        landscape_results.tabs(session)
        with st.container(key="fold"):
            landscape_views.explanation()
    address.write(landscape_address.link(session.address))


entry.through_app()
visitor = open_session()
with visitor.lock:
    page(visitor)
