"""What all tests of the pages share."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def sweeps_are_never_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine a sweep would go on by the clock, which no test here waits for; one test sets its own limit."""
    monkeypatch.setattr("pages.ui.live_session.AT_ONCE", 600.0)
