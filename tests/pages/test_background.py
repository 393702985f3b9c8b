"""Jobs in the background: progress, cancel, one at a time, errors in one sentence."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from streamlit.runtime.caching import clear_session_resource_cache

from glauber_core.errors import Cancelled, UserError
from pages.ui.background import Background, Progress
from tests.pages.screen import visitor_with

LIMIT = 30.0


def end(worker: Background) -> None:
    """Until no job runs."""
    thread = worker._thread
    if thread is not None:
        thread.join(LIMIT)
    assert not worker.running


def until_cancelled(begun: threading.Event) -> Callable[[Progress], str]:
    def work(progress: Progress) -> str:
        begun.set()
        pause = threading.Event()
        while True:
            progress(0.25)
            pause.wait(0.001)

    return work


def test_a_result_is_taken_once() -> None:
    worker = Background()
    assert worker.take() == (None, "") and not worker.running
    worker.start("counting", lambda progress: progress(0.5) or "found")
    end(worker)
    assert worker.name == "counting" and worker.share == 0.5
    assert worker.take() == ("found", "") and worker.take() == (None, "")


def test_cancel_ends_a_job() -> None:
    worker, begun = Background(), threading.Event()
    worker.start("waiting", until_cancelled(begun))
    assert begun.wait(LIMIT) and worker.running and worker.take() == (None, "")
    worker.cancel()
    end(worker)
    found, error = worker.take()
    assert found is None and error.startswith("Cancelled")


def test_what_a_cancelled_job_keeps_is_there() -> None:
    worker, begun = Background(), threading.Event()

    def work(progress: Progress) -> str:
        try:
            until_cancelled(begun)(progress)
        except Cancelled:
            return "half"
        return "whole"

    worker.start("waiting", work)
    assert begun.wait(LIMIT)
    worker.cancel()
    end(worker)
    assert worker.take() == ("half", "")


def test_a_new_job_takes_over() -> None:
    worker, begun, go = Background(), threading.Event(), threading.Event()

    def slow(progress: Progress) -> str:
        begun.set()
        go.wait(LIMIT)  # deaf to the cancel
        return "old"

    worker.start("old", slow)
    assert begun.wait(LIMIT)
    old = worker._thread
    worker.start("new", lambda progress: "new")
    end(worker)
    go.set()
    assert old is not None
    old.join(LIMIT)
    assert worker.take() == ("new", "") and worker.take() == (None, "")


def test_the_share_is_the_present_job_s() -> None:
    worker, begun = Background(), threading.Event()
    worker.start("x", lambda progress: progress(7.0))
    end(worker)
    assert worker.share == 1.0
    worker.start("y", until_cancelled(begun))
    assert begun.wait(LIMIT) and worker.share <= 0.25 and worker.seconds < LIMIT and not worker.stopping
    worker.cancel()
    end(worker)
    assert not worker.stopping


def test_a_visitor_who_leaves_ends_his_job() -> None:
    app, visitor, worker = visitor_with("background")
    assert isinstance(worker, Background)
    app.run()
    assert app.session_state["held"] is worker
    begun = threading.Event()
    worker.start("waiting", until_cancelled(begun))
    assert begun.wait(LIMIT)
    clear_session_resource_cache(visitor)
    end(worker)
    assert worker.take()[1].startswith("Cancelled")


def test_errors_are_one_sentence() -> None:
    worker = Background()

    def refuse(progress: Progress) -> None:
        raise UserError("There is no word.")

    worker.start("x", refuse)
    end(worker)
    assert worker.take() == (None, "There is no word.")

    def exhaust(progress: Progress) -> None:
        raise MemoryError

    worker.start("x", exhaust)
    end(worker)
    assert "memory" in worker.take()[1]


def test_a_fault_is_named_and_reaches_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    logged: list[object] = []
    monkeypatch.setattr(threading, "excepthook", lambda arguments: logged.append(arguments.exc_type))
    worker = Background()
    worker.start("x", lambda progress: 1 // 0)
    end(worker)
    assert "ZeroDivisionError" in worker.take()[1] and logged == [ZeroDivisionError]
