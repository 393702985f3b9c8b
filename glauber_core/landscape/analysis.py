"""Everything that is said of one picture: basins, their figures and words, and the chains' stays in them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Int64

from glauber_core.landscape.basins import LEAST, REACH, Basin, describe, find_basins
from glauber_core.landscape.expedition import Picture
from glauber_core.landscape.flow import Stays, transitions
from glauber_core.landscape.labels import distinguishing_words
from glauber_core.landscape.visits import time_of_states


class Analysis(NamedTuple):
    """Attributes:
    picture: what it is of.
    per_sweep: steps in a sweep of each chain.
    labels: int64 [S], basin of each state, -1 for noise.
    basins: one for each basin.
    words: their distinguishing words.
    stays: one a chain.
    flow: int64 [B, B], ``flow.transitions``.
    reach, least: of ``find_basins``.
    """

    picture: Picture
    per_sweep: tuple[int, ...]
    labels: Int64[np.ndarray, " S"]
    basins: list[Basin]
    words: list[list[str]]
    stays: list[Stays]
    flow: Int64[np.ndarray, "B B"]
    reach: float
    least: float

    @property
    def noise(self) -> float:
        """Share of simulated time in no basin."""
        return max(0.0, 1.0 - sum(b.share for b in self.basins))


def analyse(picture: Picture, per_sweep: tuple[int, ...], reach: float = REACH, least: float = LEAST) -> Analysis:
    """Find and describe the basins of a picture; arguments as in ``find_basins``. Raises UserError as there."""
    sweeps = time_of_states(picture.visits, len(picture.texts), per_sweep)
    labels = find_basins(picture.embeddings, sweeps, reach, least)
    basins, stays = describe(labels, picture.embeddings, picture.visits, per_sweep)
    words = distinguishing_words(picture.texts, labels)
    return Analysis(picture, per_sweep, labels, basins, words, stays, transitions(stays, len(basins)), reach, least)
