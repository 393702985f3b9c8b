"""One small chain for the tests of this folder: three positions, four tokens, the third of which is never sampled."""

from __future__ import annotations

import numpy as np
import torch

from glauber_core.chain import Chain
from glauber_core.exact import ConditionalTable
from glauber_core.record import Entry

TABLE = ConditionalTable.random(3, 4, np.random.default_rng(1), allowed=torch.tensor([True, True, False, True]))
START = [3, 0, 1]


def chain(seed: int = 5, tau: float = 1.0, **kwargs: object) -> Chain:
    """The chain from START on TABLE."""
    return Chain(TABLE, START, seed, tau, **kwargs)  # type: ignore[arg-type]


def path(entries: list[Entry]) -> list[tuple[int, int, int, float]]:
    """What two runs must share to be the same run."""
    return [(e.position, e.old, e.new, e.log_prob) for e in entries]
