"""What the tests of the pages read off an app that runs without a browser."""

from __future__ import annotations

import html
import re
from typing import Any

from streamlit.testing.v1 import AppTest


def said(app: AppTest, kind: str) -> list[str]:
    """Messages of one kind, as they stand in the page."""
    found = re.findall(r'<div class="say (\w+)"[^>]*>(.*?)</div>', " ".join(h.proto.body for h in app.get("html")))
    return [html.unescape(text) for name, text in found if name == kind and text != "&nbsp;"]


def address_bar(app: AppTest) -> dict[str, str]:
    """A parameter set by the page is a string, one that came with the link a list."""
    return {k: v if isinstance(v, str) else v[0] for k, v in app.query_params.items()}


def visitor_with(name: str) -> tuple[AppTest, str, Any]:
    """An app whose visitor holds one of ``pages.ui.resources``; the app, the visitor's session id and the resource."""

    def script(name: str) -> None:
        import streamlit as st
        from streamlit.runtime.scriptrunner import get_script_run_ctx

        from pages.ui import resources

        context = get_script_run_ctx()
        assert context is not None
        st.session_state["id"], st.session_state["held"] = context.session_id, getattr(resources, name)()

    app = AppTest.from_function(script, default_timeout=60, kwargs={"name": name}).run()
    assert not app.exception
    return app, app.session_state["id"], app.session_state["held"]
