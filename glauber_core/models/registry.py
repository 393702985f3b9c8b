"""Models held by one process: each is loaded once, however many ask for it at the same moment."""

from __future__ import annotations

import gc
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from glauber_core.models.masked_lm import MaskedLM, load
from glauber_core.models.source import BUILT_IN, canonical_name


def keep_out_of_collection() -> None:
    """Take what is in memory now, a model that was just loaded above all, out of the garbage collector's rounds.

    A vocabulary is tens of thousands of objects; walking through those of a few models stops every thread of a server
    for half a second, each time. What is no longer used is still freed by its reference count.
    """
    gc.collect()
    gc.freeze()


class ModelRegistry:
    """Loads models in the background and keeps the most recently used ones.

    Args:
        device: where they run.
        capacity: how many are kept; a model still used elsewhere lives on until its last user lets go.
        after_load: called after each loading; a server passes ``keep_out_of_collection``.
    """

    def __init__(self, device: str = "cpu", capacity: int = 3, after_load: Callable[[], None] = lambda: None) -> None:
        self._device, self._capacity, self._after_load = device, capacity, after_load
        self._mutex = threading.Lock()
        self._models: OrderedDict[str, Future[MaskedLM]] = OrderedDict()
        self._pool = ThreadPoolExecutor(max_workers=2, thread_name_prefix="model-loader")

    def request(self, name: str) -> Future[MaskedLM]:
        """A future of the model; a failed loading is forgotten, so that asking again tries again.

        The future raises UserError where the name cannot be loaded (``source.locate``, ``MaskedLM``).
        """
        key = canonical_name(name)
        with self._mutex:
            held = self._models.get(key)
            if held is not None and not (held.done() and held.exception() is not None):
                self._models.move_to_end(key)
                return held
            future = self._pool.submit(load, key, self._device)
            self._models[key] = future
        future.add_done_callback(lambda done: self._settle(key, done))
        return future

    def _settle(self, key: str, done: Future[MaskedLM]) -> None:
        """Forget a loading that failed; make room for one that did not. The built-in model always stays."""
        with self._mutex:
            if done.cancelled() or done.exception() is not None:
                if self._models.get(key) is done:
                    del self._models[key]
                return
            others = [k for k in self._models if k not in (BUILT_IN, key) and self._models[k].done()]
            for old in others[: max(0, len(self._models) - self._capacity)]:
                del self._models[old]
        self._after_load()
