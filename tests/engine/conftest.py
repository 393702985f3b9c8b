"""One thread for tiny models: beside other work a second one only waits. And a hybrid that turns in short runs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from glauber_core import hybrid
from glauber_core.shape import threads


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    with threads(1):
        yield


@pytest.fixture
def restless(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hybrid that turns soon and often, on sentences of three words too."""
    monkeypatch.setattr(hybrid, "_STEPS", 8)
    monkeypatch.setattr(hybrid, "READ_COST", 1.0)
