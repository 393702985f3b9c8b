"""Changing the model of a page whose chains run in the background, and a model that cannot be had."""

from __future__ import annotations

import time
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from glauber_core.models.registry import ModelRegistry
from tests.conftest import ROOT
from tests.pages.screen import said


def open_page(name: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / f"pages/{name}.py"), default_timeout=60)
    app.session_state["routed"] = True
    return app.run()


def arrive(app: AppTest, session: Any) -> None:
    deadline = time.monotonic() + 60
    while not session.pending[1].done():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    app.run()
    assert not app.exception


@pytest.mark.parametrize("name", ["landscape", "mixing"])
def test_another_model_begins_anew_and_one_that_is_not_there_changes_nothing(name: str) -> None:
    app = open_page(name)
    session = app.session_state[name]
    registry = ModelRegistry("cpu")
    session.want("no such model here", registry)
    arrive(app, session)
    assert "Still using glauber-mini" in " ".join(said(app, "error")) and session.model.name == "glauber-mini"
    epoch = session.epoch
    session.want("glauber-tiny", registry)
    arrive(app, session)
    assert session.model.name == session.address.model == "glauber-tiny"
    assert session.epoch == epoch + 1 and session.pending is None and said(app, "error") == []
    session.want("glauber-mini", registry)
    session.stop_waiting()
    app.run()
    assert session.model.name == "glauber-tiny"
