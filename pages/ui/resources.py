"""Every ``st.cache_*`` wrapper of the app."""

from __future__ import annotations

import os

import streamlit as st
import torch

from glauber_core.models.registry import ModelRegistry, keep_out_of_collection
from glauber_core.rectangle.reference import Precision
from pages.ui.background import Background


@st.cache_resource(show_spinner=False, max_entries=1)
def models() -> ModelRegistry:
    """The process's models. GLAUBER_DEVICE chooses where they run; the default is a GPU if there is one."""
    # Half the cores compute; the rest is for the server and, on one's own machine, the browser. Threads that wait for
    # each other on busy cores made a step ten times slower.
    torch.set_num_threads(max(1, (os.cpu_count() or 2) // 2))
    device = os.environ.get("GLAUBER_DEVICE") or ("cuda" if torch.cuda.is_available() else "cpu")
    return ModelRegistry(device, after_load=keep_out_of_collection)


@st.cache_resource(show_spinner=False, max_entries=1)
def precision() -> Precision:
    """The process's float64 twins and noise floors."""
    return Precision(after_load=keep_out_of_collection)


@st.cache_resource(show_spinner=False, scope="session", on_release=Background.cancel)
def background() -> Background:
    """The visitor's long jobs; a closed tab ends them."""
    return Background()
