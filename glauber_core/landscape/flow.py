"""Where the chains went: stays in basins, and transitions between them (MATH section 7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float64, Int64

from glauber_core.landscape.visits import Visits

PATIENCE = 1.0  # sweeps of noise that do not end a stay


class Stays(NamedTuple):
    """One chain's way through the basins.

    Attributes:
        basin: int64 [M], -1 where it was in none.
        entered: float64 [M], sweeps since the start.
        sweeps: float64 [M], how long it stayed.
        open: bool [M], True only for the last one: it had not ended.
    """

    basin: Int64[np.ndarray, " M"]
    entered: Float64[np.ndarray, " M"]
    sweeps: Float64[np.ndarray, " M"]
    open: Bool[np.ndarray, " M"]


def itinerary(visits: Visits, labels: Int64[np.ndarray, " S"], per_sweep: float, patience: float = PATIENCE) -> Stays:
    """Join a chain's visits to stays.

    Noise of at most ``patience`` sweeps between two visits of one basin belongs to the stay: the border of a basin is
    ragged, and a chain that touches it has not left.

    Args:
        visits: of the chain.
        labels: basin of each state, -1 for noise.
        per_sweep: steps in a sweep.
        patience: sweeps.
    """
    runs: list[list[float]] = []  # basin, entered, length in sweeps
    for state, begin, steps in zip(visits.state, visits.entered, visits.dwell, strict=True):
        basin, at, length = int(labels[state]), float(begin) / per_sweep, float(steps) / per_sweep
        if runs and runs[-1][0] == basin:
            runs[-1][2] += length
        elif len(runs) > 1 and runs[-1][0] == -1 and runs[-2][0] == basin and runs[-1][2] <= patience:
            noise = runs.pop()
            runs[-1][2] += noise[2] + length
        else:
            runs.append([basin, at, length])
    table = np.array(runs, dtype=np.float64).reshape(-1, 3)
    last = np.zeros(len(table), dtype=bool)
    last[-1:] = True
    return Stays(table[:, 0].astype(np.int64), table[:, 1], table[:, 2], last)


def returns(stays: Stays, basin: int) -> int:
    """Stays of one chain in a basin after its first one."""
    return max(0, int((stays.basin == basin).sum()) - 1)


def transitions(stays: Sequence[Stays], count: int) -> Int64[np.ndarray, "B B"]:
    """int64 [B, B]: how often a chain that was in basin a was next in basin b, noise in between left out.

    The diagonal counts returns from noise to the same basin.

    Args:
        stays: one a chain.
        count: B.
    """
    table = np.zeros((count, count), dtype=np.int64)
    for one in stays:
        inside = one.basin[one.basin >= 0]
        np.add.at(table, (inside[:-1], inside[1:]), 1)
    return table
