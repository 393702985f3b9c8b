"""The tests of tiny models run on one thread: beside other work a second one only waits."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from glauber_core.shape import threads


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    with threads(1):
        yield
