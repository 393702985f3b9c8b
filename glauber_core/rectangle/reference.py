"""A model's float64 twin and its noise floor on reference rectangles, each made once."""

from __future__ import annotations

import threading
from collections.abc import Callable

import torch

from glauber_core.models import MaskedLM, load
from glauber_core.rectangle.floor import Floor, noise_floor
from glauber_core.rectangle.schemes import Rule
from glauber_core.rectangle.survey import survey
from glauber_core.starters import STARTERS

RULE = Rule("natural", "random", pairs=6)
SENTENCES = 8


class Precision:
    """Float64 twins of masked language models; thread-safe.

    Args:
        open_twin: name and device -> the model in float64.
    """

    def __init__(
        self, open_twin: Callable[[str, str], MaskedLM] = lambda name, device: load(name, device, torch.float64)
    ) -> None:
        self._open = open_twin
        self._mutex = threading.Lock()
        self._twin: MaskedLM | None = None
        self._floors: dict[str, Floor] = {}

    def twin(self, model: MaskedLM) -> MaskedLM:
        """The model in float64; the last one is kept, because it takes twice the model's memory.

        Raises:
            UserError: its files can no longer be read.
        """
        with self._mutex:
            return self._held(model)

    def _held(self, model: MaskedLM) -> MaskedLM:
        if self._twin is None or self._twin.model_hash != model.model_hash:
            self._twin = None  # make room first
            self._twin = self._open(model.name, str(model.device))
        return self._twin

    def floor(self, model: MaskedLM) -> Floor:
        """Noise floor on rectangles of ``SENTENCES`` starters drawn by ``RULE``; measured once a model.

        Raises:
            UserError: as ``twin``, or a model that knows too few of the starters' words.
        """
        with self._mutex:
            if model.model_hash not in self._floors:
                sentences = [model.vocabulary.encode(starter.text).ids for starter in STARTERS[::3][:SENTENCES]]
                measured = survey(model, sentences, RULE)
                self._floors[model.model_hash] = noise_floor(model, self._held(model), sentences, measured)
            return self._floors[model.model_hash]

    def known(self, model: MaskedLM) -> Floor | None:
        """The floor if it has been measured, at once."""
        return self._floors.get(model.model_hash)
