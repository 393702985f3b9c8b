"""Models held by one process: loaded once, tried again after a failure, let go when others come."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from glauber_core.errors import UserError
from glauber_core.models import registry
from glauber_core.models.registry import ModelRegistry
from glauber_core.models.source import BUILT_IN
from tests.models.checkpoints import copy_of, folder, model


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names that were loaded; loading takes a moment and gives a fresh object."""
    names: list[str] = []

    def load(name: str, device: str) -> object:
        names.append(name)
        time.sleep(0.05)
        if name.startswith("bad"):
            raise UserError("no such model")
        return object()

    monkeypatch.setattr(registry, "load", load)
    yield names


def test_thirty_threads_load_once(loads: list[str]) -> None:
    models, found, start = ModelRegistry(), list[object](), threading.Barrier(30)

    def ask() -> None:
        start.wait()
        found.append(models.request("one").result(10))

    workers = [threading.Thread(target=ask) for _ in range(30)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert loads == ["one"] and len(set(map(id, found))) == 1 and len(found) == 30


def test_names_are_one_however_they_are_written(loads: list[str]) -> None:
    models = ModelRegistry()
    first = models.request("roberta-base")
    assert models.request(" FacebookAI/roberta-base ") is first
    first.result(10)
    assert loads == ["FacebookAI/roberta-base"]


def test_a_failed_loading_is_tried_again(loads: list[str]) -> None:
    models = ModelRegistry()
    for _ in range(2):
        with pytest.raises(UserError, match="no such model"):
            models.request("bad").result(10)
    assert loads == ["bad", "bad"]
    both = [models.request("bad2"), models.request("bad2")]  # while it is being tried, it is tried once
    assert both[0] is both[1]
    assert both[0].exception(10) is not None and loads == ["bad", "bad", "bad2"]


def test_the_least_recently_used_is_let_go(loads: list[str]) -> None:
    models = ModelRegistry(capacity=2)
    first, second = models.request("a").result(10), models.request("b").result(10)
    assert models.request("a").result(10) is first  # now b is the older one
    models.request("c").result(10)
    assert models.request("a").result(10) is first
    assert models.request("b").result(10) is not second
    assert loads == ["a", "b", "c", "b"]


def test_asking_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    go = threading.Event()

    def load(name: str, device: str) -> str:
        assert go.wait(30)
        return name

    monkeypatch.setattr("glauber_core.models.registry.load", load)
    future = ModelRegistry().request("slow")
    assert not future.done()  # had asking waited for the loading, it would never have come back
    go.set()
    assert future.result(30) == "slow"


def test_failed_loadings_push_nothing_out_and_the_built_in_model_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(name: str, device: str) -> object:
        if name.startswith("bad"):
            raise UserError("no")
        return object()

    monkeypatch.setattr("glauber_core.models.registry.load", load)
    models = ModelRegistry(capacity=2)
    home, other = models.request(BUILT_IN).result(30), models.request("other").result(30)
    for name in ("bad1", "bad2", "bad3"):
        with pytest.raises(UserError):
            models.request(name).result(30)
    assert models.request("other").result(30) is other
    for name in ("x", "y", "z"):
        models.request(name).result(30)
    assert models.request(BUILT_IN).result(30) is home


def test_real_models_and_a_real_failure(tmp_path: Path) -> None:
    models = ModelRegistry()
    target = tmp_path / "model"
    with pytest.raises(UserError):
        models.request(str(target)).result(30)
    copy_of("bert", target)  # the user puts it there and asks again
    assert models.request(str(target)).result(30).model_hash == model("bert").model_hash
    assert models.request(str(folder("bert"))).result(30).name == str(folder("bert"))
