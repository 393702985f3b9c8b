"""Services that end with their test, and the proof that their threads do."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from glauber_core.service import SamplerService
from glauber_core.shape import threads
from tests.service.fakes import Crowd, Watched


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = set(threading.enumerate())  # a page's sampler of an earlier test may still be about to end
    with threads(1):
        yield
    left = [t for t in set(threading.enumerate()) - before if t.name == "sampler"]
    for thread in left:
        thread.join(10)  # one that died of a fault may still be writing its traceback
    assert [t.name for t in left if t.is_alive()] == []


@pytest.fixture
def model() -> Iterator[Watched]:
    watched = Watched()
    yield watched
    watched.go()


@pytest.fixture
def serve(one_thread: None, model: Watched) -> Iterator[Callable[..., SamplerService]]:
    """A service of a model, by default ``model``; it is closed after the test."""
    made: list[SamplerService] = []

    def new(of: Any = model, rows: int | None = None, **kwargs: Any) -> SamplerService:
        made.append(SamplerService(of, rows, **kwargs))
        return made[-1]

    yield new
    model.go()
    for service in made:
        service.close()


@pytest.fixture
def crowd(model: Watched, serve: object) -> Iterator[Crowd]:
    threads_ = Crowd()
    yield threads_
    model.go()
    threads_.end()
