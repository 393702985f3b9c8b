"""One sampler serves a whole class: rows of all sessions joined into micro-batches of one fixed shape."""

from glauber_core.service.cache import ConditionalCache
from glauber_core.service.client import Client
from glauber_core.service.patience import Late, left, patience
from glauber_core.service.sampler import SamplerService
from glauber_core.service.samplers import Samplers, Seat

__all__ = ["Client", "ConditionalCache", "Late", "SamplerService", "Samplers", "Seat", "left", "patience"]
