"""Mixing: two coupled chains, the phase diagram of the built-in model, and the physics that checks the measurement."""

from __future__ import annotations

import streamlit as st

from pages.ui import address, entry, mixing_address, mixing_results, mixing_views, shared_controls, style
from pages.ui.mixing_session import MixingSession
from pages.ui.resources import coupling_job, models, seat

IDEA = "Two chains share their random numbers: how soon they agree says how soon a first sentence is forgotten."


def open_session() -> MixingSession:
    """The visitor's session; the first call reads the address bar."""
    seat().beat()
    if "mixing" in st.session_state:
        return st.session_state["mixing"]
    base = mixing_address.default()
    wanted, notices = mixing_address.parse(dict(st.query_params), base)
    with st.spinner("Loading the language model ..."):
        model = models().request(base.model).result()
    own = mixing_address.with_model(wanted, model.name)
    session = MixingSession(model=model, address=own, worker=coupling_job(), serve=seat().at)
    if wanted.model != model.name:
        session.want(wanted.model, models())
    session.notices = notices
    st.session_state["mixing"] = session
    return session


def page(session: MixingSession) -> None:
    style.apply()
    session.arrived()
    session.collect()
    with st.container(key="page"):
        shared_controls.heading("Mixing", IDEA)
        mixing_views.view(session)
        shared_controls.messages(session, (), "m_stop_waiting")
        if session.address.view == "coupling":
            mixing_views.controls(session)
            mixing_views.transport(session)
            mixing_views.moving(session)
        elif session.address.view == "phase":
            mixing_results.phase()
        else:
            mixing_results.physics()
        with st.container(key="fold"):
            mixing_views.explanation()
    address.write(mixing_address.link(session.address))


entry.through_app()
visitor = open_session()
with visitor.lock:
    page(visitor)
