"""One sampler for each model of a process, found by the model's hash."""

from __future__ import annotations

import threading
from weakref import WeakValueDictionary

from glauber_core.service.cache import ConditionalCache
from glauber_core.service.client import Client
from glauber_core.service.sampler import SamplerService
from glauber_core.types import Conditionals


class Samplers:
    """Thread-safe. A sampler lives as long as somebody uses it, and its model with it.

    Args:
        silence: seconds, and ``rows``, of a micro-batch, as in ``SamplerService``.
        cache: of all of them; one of their own if None.
    """

    def __init__(self, silence: float = 10.0, rows: int | None = None, cache: ConditionalCache | None = None) -> None:
        self.cache = ConditionalCache() if cache is None else cache
        self._silence, self._rows = silence, rows
        self._mutex = threading.Lock()
        self._services: WeakValueDictionary[tuple[str, ...], SamplerService] = WeakValueDictionary()

    def of(self, model: Conditionals) -> SamplerService:
        """The sampler of a model; the same for every object that holds the same weights in the same place."""
        # A service holds its model, so that no other object can have the same id meanwhile.
        own = str(getattr(model, "model_hash", "")) or f"nameless {id(model)}"
        key = (own, *(str(getattr(model, name, "")) for name in ("device", "dtype")))
        with self._mutex:
            service = self._services.get(key)
            if service is None or service.closed:
                service = self._services[key] = SamplerService(
                    model, self._rows, cache=self.cache, silence=self._silence
                )
        return service


class Seat:
    """One visitor's place at the samplers, whichever models it uses. Thread-safe.

    Args:
        samplers: of the process.
        name: of the visitor, its own.
    """

    def __init__(self, samplers: Samplers, name: str) -> None:
        self._samplers, self._name = samplers, name
        self._mutex = threading.Lock()
        self._clients: dict[SamplerService, Client] = {}

    def at(self, model: Conditionals) -> Client:
        """The visitor's client of a model; only the one asked for last is held on to."""
        service = self._samplers.of(model)
        with self._mutex:
            if service not in self._clients:
                self._clients = {service: service.client(self._name)}
            return self._clients[service]

    def beat(self) -> None:
        """A sign of life to all of them."""
        for client in tuple(self._clients.values()):
            client.beat()

    def leave(self) -> None:
        """The visitor is gone, as far as anybody knows (``Client.leave``)."""
        for client in tuple(self._clients.values()):
            client.leave()
