"""One sampler for each model of a process, found by the model's hash."""

from __future__ import annotations

import threading
from weakref import WeakValueDictionary

from glauber_core.models.masked_lm import MaskedLM
from glauber_core.service.cache import ConditionalCache
from glauber_core.service.sampler import SamplerService


class Samplers:
    """Thread-safe. A sampler lives as long as somebody uses it, and its model with it.

    Attributes:
        cache: of all of them.
    """

    def __init__(self) -> None:
        self.cache = ConditionalCache()
        self._mutex = threading.Lock()
        self._services: WeakValueDictionary[tuple[str, str, str], SamplerService] = WeakValueDictionary()

    def of(self, model: MaskedLM) -> SamplerService:
        """The sampler of a model; the same for every object that holds the same weights in the same place."""
        key = (model.model_hash, str(model.device), str(model.dtype))
        with self._mutex:
            service = self._services.get(key)
            if service is None:
                service = self._services[key] = SamplerService(model, cache=self.cache)
        return service
