"""Small exact models for the tests, each with a fixed seed."""

from __future__ import annotations

import numpy as np
import torch

from glauber_core.exact import Bigram, Compatible, ConditionalTable, CurieWeiss, JointTable, Potts
from glauber_core.types import Conditionals

TEXT = [[0, 1, 2, 3, 1], [2, 2, 0], [3], [], [1, 0, 3, 2, 0, 1], [2, 1]]


def mask(*allowed: int) -> torch.Tensor:
    """bool [V] from 0/1 flags."""
    return torch.tensor(allowed, dtype=torch.bool)


def random_bigram(size: int, seed: int, allowed: torch.Tensor | None = None) -> Bigram:
    """A dense bigram law with Dirichlet(1, ..., 1) rows."""
    rng = np.random.default_rng(seed)
    rows = torch.from_numpy(rng.dirichlet(np.ones(size), size + 1))
    return Bigram.from_matrix(rows[0], rows[1:], allowed)


def compatible() -> dict[str, tuple[Compatible, int]]:
    """Name -> (model with a joint law, n)."""
    rng = np.random.default_rng(11)
    return {
        "curie-weiss": (CurieWeiss(1.4), 4),
        "potts": (Potts(3, 2.0), 3),
        "potts-barred": (Potts(4, 3.0, mask(1, 0, 1, 1)), 3),
        "bigram-dense": (random_bigram(4, 12, mask(1, 1, 0, 1)), 3),
        "bigram-sparse": (Bigram.from_sequences(TEXT, 4, strength=1.5), 3),
        "joint": (JointTable.random(3, 3, rng), 3),
        "joint-barred": (JointTable.random(3, 4, rng, 1.5, mask(0, 1, 1, 1)), 3),
    }


def incompatible() -> dict[str, tuple[Conditionals, int]]:
    """Name -> (model without a joint law, n)."""
    rng = np.random.default_rng(13)
    table = ConditionalTable.random(3, 3, rng)
    return {
        "conditional": (table, 3),
        "conditional-barred": (ConditionalTable.random(3, 4, rng, 1.5, mask(1, 1, 0, 1)), 3),
        "conditional-trap": (table.with_trap([2, 0, 1], 0.05), 3),
    }


def every() -> dict[str, tuple[Conditionals, int]]:
    """All of them."""
    return {**compatible(), **incompatible()}
