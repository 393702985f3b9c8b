"""Every ``st.cache_*`` wrapper of the app."""

from __future__ import annotations

import os
import uuid
from typing import TYPE_CHECKING

import streamlit as st
import torch

from glauber_core.models.registry import ModelRegistry, keep_out_of_collection
from glauber_core.rectangle.reference import Precision
from glauber_core.service import Samplers, Seat
from pages.ui.background import Background
from pages.ui.beat import Beats

if TYPE_CHECKING:
    from pages.ui.landscape_map import Maps


@st.cache_resource(show_spinner=False, max_entries=1)
def models() -> ModelRegistry:
    """The process's models. GLAUBER_DEVICE chooses where they run; the default is a GPU if there is one."""
    # Half the cores compute; the rest is for the server and, on one's own machine, the browser. Threads that wait for
    # each other on busy cores made a step ten times slower.
    torch.set_num_threads(max(1, (os.cpu_count() or 2) // 2))
    device = os.environ.get("GLAUBER_DEVICE") or ("cuda" if torch.cuda.is_available() else "cpu")
    return ModelRegistry(device, after_load=keep_out_of_collection)


@st.cache_resource(show_spinner=False, max_entries=1)
def samplers() -> Samplers:
    """The process's samplers, one a model. A page that waits cannot beat meanwhile, so silence may be long."""
    return Samplers(silence=60.0)


@st.cache_resource(show_spinner=False, scope="session", on_release=Seat.leave)
def seat() -> Seat:
    """The visitor's place at the samplers; a closed tab leaves it."""
    return Seat(samplers(), uuid.uuid4().hex)


@st.cache_resource(show_spinner=False, max_entries=1)
def beats() -> Beats:
    """Who plays in this process, and how often their pages are drawn."""
    return Beats()


@st.cache_resource(show_spinner=False, max_entries=1)
def travel_samplers() -> Samplers:
    """Samplers of chains that move together: batches of 4 rows, which a lone step would find too slow."""
    return Samplers(silence=60.0, rows=4, cache=samplers().cache)


@st.cache_resource(show_spinner=False, scope="session", on_release=Seat.leave)
def travel_seat() -> Seat:
    """The visitor's place there; a closed tab leaves it."""
    return Seat(travel_samplers(), uuid.uuid4().hex)


@st.cache_resource(show_spinner=False, max_entries=1)
def precision() -> Precision:
    """The process's float64 twins and noise floors."""
    return Precision(after_load=keep_out_of_collection)


@st.cache_resource(show_spinner=False, scope="session", on_release=Background.cancel)
def background() -> Background:
    """The visitor's long jobs; a closed tab ends them."""
    return Background()


@st.cache_resource(show_spinner=False, scope="session", on_release=Background.cancel)
def journey() -> Background:
    """What moves the visitor's chains through the landscape; a closed tab stops it."""
    return Background()


@st.cache_resource(show_spinner=False, scope="session", on_release=Background.cancel)
def coupling_job() -> Background:
    """What moves the visitor's two coupled chains; a closed tab stops it."""
    return Background()


@st.cache_resource(show_spinner=False, max_entries=1)
def maps() -> Maps:
    """The process's embedder, axes and topics."""
    from pages.ui.landscape_map import Maps

    return Maps()
