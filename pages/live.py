"""Live chain: a sentence is rewritten word by word while the temperature is slid."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from glauber_core.chain import Chain
from glauber_core.starters import STARTERS
from pages.ui import address, entry, live_controls, live_panels, shared_controls, style
from pages.ui.live_session import LiveSession
from pages.ui.player import Player, Track
from pages.ui.resources import models, seat

IDEA = "A language model rewrites a sentence: every step, one word is erased and guessed again from the rest."


def open_session() -> LiveSession:
    """The visitor's session; the first call reads the address bar."""
    seat().beat()
    if "live" in st.session_state:
        return st.session_state["live"]
    base = address.default(STARTERS[0].text)
    wanted, notices = address.parse(dict(st.query_params), base)
    with st.spinner("Loading the language model ..."):
        model = models().request(base.model).result()
    encoded = model.vocabulary.encode(base.text)
    first = Chain(model, encoded.ids, base.seed, base.tau)
    live = LiveSession(model, base, Player([Track(first, 0, "A")]), serve=seat().at)
    if not live.restart(replace(wanted, model=model.name)):
        notices.append(f"The link's sentence cannot be used: {live.refused}")
        live.restart(replace(wanted, model=model.name, text=base.text))
    if wanted.model != model.name:
        live.want(wanted.model, models())
    st.session_state["live"] = live
    st.session_state["notices"] = notices
    return live


def page(live: LiveSession) -> None:
    style.apply()
    live.arrived()
    if not live.player.playing:
        live.look()
    with st.container(key="page"):
        shared_controls.heading("Live chain", IDEA)
        live_controls.sentence(live)
        live_controls.messages(live)
        live_controls.transport(live)
        live_controls.waiting(live)
        live_panels.moving(live)
        with st.container(key="fold"):
            live_panels.explanation()
    address.write(address.fields(live.address))


entry.through_app()
visitor = open_session()
with visitor.lock:
    page(visitor)
