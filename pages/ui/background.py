"""Work that takes longer than a click: one job at a time for each visitor, with progress and cancel."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from glauber_core.errors import Cancelled, UserError

Progress = Callable[[float], None]


class Background:
    """Runs one job in a thread of its own. No ``st.*`` may be called by a job.

    Attributes:
        name: what the job is called on the screen; empty before the first one.
    """

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._share = 0.0
        self._began = 0.0
        self._result: Any = None
        self._error = ""
        self.name = ""

    def start(self, name: str, work: Callable[[Progress], Any]) -> None:
        """Begin a job; one that is running is cancelled and what it finds is dropped.

        Args:
            name: what it is called.
            work: gets a function to call often with the share done, which raises ``Cancelled`` when it is to end.
        """
        self.cancel()
        with self._mutex:
            stop = threading.Event()
            self._stop, self._share, self._began = stop, 0.0, time.monotonic()
            self._result, self._error, self.name = None, "", name

            def progress(share: float) -> None:
                if stop.is_set():
                    raise Cancelled
                if self._stop is stop:
                    self._share = share

            self._thread = threading.Thread(
                target=self._run, args=(work, progress, stop), name="background-job", daemon=True
            )
            self._thread.start()

    def _run(self, work: Callable[[Progress], Any], progress: Progress, stop: threading.Event) -> None:
        result, error = None, ""
        try:
            result = work(progress)
        except Cancelled:
            error = "Cancelled before anything was complete."
        except UserError as refused:
            error = str(refused)
        except MemoryError:
            error = "There is not enough memory for this: choose fewer sentences, pairs or alternatives."
        except Exception as failed:
            error = f"This failed ({type(failed).__name__}); the server's log has the details."
            self._finish(stop, None, error)
            raise
        self._finish(stop, result, error)

    def _finish(self, stop: threading.Event, result: Any, error: str) -> None:
        with self._mutex:
            if self._stop is stop:  # a later job has not taken over
                self._result, self._error, self._thread = result, error, None

    def cancel(self) -> None:
        """Ask the job to end; it does so after the micro-batch it is at."""
        self._stop.set()

    @property
    def running(self) -> bool:
        with self._mutex:
            return self._thread is not None

    @property
    def stopping(self) -> bool:
        """True between ``cancel`` and the end of the job."""
        return self.running and self._stop.is_set()

    @property
    def share(self) -> float:
        """Share of the work that is done, in [0, 1]."""
        return min(1.0, max(0.0, self._share))

    @property
    def seconds(self) -> float:
        """Since the job began."""
        return time.monotonic() - self._began

    def take(self) -> tuple[Any, str]:
        """What the last job found and one sentence about what went wrong; both empty if it runs or was taken."""
        with self._mutex:
            if self._thread is not None:
                return None, ""
            found = self._result, self._error
            self._result, self._error = None, ""
            return found
