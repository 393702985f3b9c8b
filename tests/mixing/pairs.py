"""Three enumerable models and their coupled pairs, for the law tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from glauber_core.exact import CurieWeiss, StateSpace
from glauber_core.mixing.meeting import Meetings, run_coupled
from glauber_core.shape import EvaluationShape
from glauber_core.types import Conditionals
from tests.exact.models import compatible, incompatible
from tests.law import CHAINS

MANY = EvaluationShape(rows=4_096, threads=1, dtype="float64")
PAIRS = CHAINS // 4
Start = tuple[list[int], list[int]]

# Name -> (model, the two starts). A joint law, a magnet of four spins, and a table that belongs to no joint law.
MODELS: dict[str, tuple[Conditionals, Start]] = {
    "curie-weiss": (CurieWeiss(1.4), ([0, 0, 0, 0], [1, 1, 1, 1])),
    "joint-barred": (compatible()["joint-barred"][0], ([1, 1, 1], [3, 2, 3])),
    "conditional": (incompatible()["conditional"][0], ([0, 0, 0], [2, 1, 2])),
}


def couple(
    model: Conditionals, start: Start, tau: float, horizon: int, seed: int, locked: Sequence[int] = ()
) -> Meetings:
    """``PAIRS`` pairs from one pair of starts, 4,096 rows a call."""
    x, y = (torch.tensor([tokens]).expand(PAIRS, -1) for tokens in start)
    return run_coupled(model, x, y, tau, horizon, seed, locked=locked, shape=MANY, every=1, cache_bytes=0)


def space_of(model: Conditionals, start: Start) -> tuple[StateSpace, tuple[int, int]]:
    """All states, and the indices of the two starts."""
    space = StateSpace.full(model, len(start[0]))
    first, second = space.encode(torch.tensor(list(start)))
    return space, (int(first), int(second))


def times(done: Meetings, horizon: int) -> np.ndarray:
    """int64 [C]: T, and horizon + 1 where it lies beyond."""
    return np.where(done.met, done.steps, horizon + 1)
