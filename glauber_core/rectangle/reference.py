"""A model's float64 twin and its noise floor on reference rectangles, each made once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import torch

from glauber_core.models import MaskedLM, load
from glauber_core.rectangle.floor import Floor, noise_floor
from glauber_core.rectangle.schemes import Rule
from glauber_core.rectangle.survey import survey
from glauber_core.starters import STARTERS

RULE = Rule("natural", "random", pairs=6)
SENTENCES = 4


class Precision:
    """Float64 twins of masked language models; thread-safe.

    Args:
        open_twin: name and device -> the model in float64.
        after_load: called after each loading, as of ``ModelRegistry``.
    """

    def __init__(
        self,
        open_twin: Callable[[str, str], MaskedLM] = lambda name, device: load(name, device, torch.float64),
        after_load: Callable[[], None] = lambda: None,
    ) -> None:
        self._after_load = after_load
        self._open = open_twin
        self._mutex = threading.Lock()
        self._twin: MaskedLM | None = None
        self._asked = threading.Lock()
        self._floors: dict[str, Future[Floor]] = {}
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="noise-floor")

    def twin(self, model: MaskedLM) -> MaskedLM:
        """The model in float64; the last one is kept, because it takes twice the model's memory.

        Raises:
            UserError: its files can no longer be read.
        """
        with self._mutex:
            if self._twin is None or self._twin.model_hash != model.model_hash:
                self._twin = None  # make room first
                self._twin = self._open(model.name, str(model.device))
                self._after_load()
            return self._twin

    def floor(self, model: MaskedLM) -> Floor:
        """Noise floor on rectangles of ``SENTENCES`` starters drawn by ``RULE``; measured once a model.

        Raises:
            UserError: as ``twin``, or a model that knows too few of the starters' words.
        """
        return self.request(model).result()

    def request(self, model: MaskedLM) -> Future[Floor]:
        """The same without waiting; one model is measured at a time."""
        with self._asked:
            if model.model_hash not in self._floors:
                self._floors[model.model_hash] = self._pool.submit(self._measure, model)
            return self._floors[model.model_hash]

    def _measure(self, model: MaskedLM) -> Floor:
        sentences = [model.vocabulary.encode(starter.text).ids for starter in STARTERS[::3][:SENTENCES]]
        measured = survey(model, sentences, RULE)
        return noise_floor(model, self.twin(model), sentences, measured)
