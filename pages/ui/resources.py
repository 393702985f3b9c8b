"""Every ``st.cache_*`` wrapper of the app."""

from __future__ import annotations

import os

import streamlit as st
import torch

from glauber_core.models.registry import ModelRegistry


@st.cache_resource(show_spinner=False, max_entries=1)
def models() -> ModelRegistry:
    """The process's models. GLAUBER_DEVICE chooses where they run; the default is a GPU if there is one."""
    return ModelRegistry(os.environ.get("GLAUBER_DEVICE") or ("cuda" if torch.cuda.is_available() else "cpu"))
