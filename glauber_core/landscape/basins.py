"""Semantic basins: dense regions of embedding space in which chains spent their time (MATH section 7).

DBSCAN (Ester, Kriegel, Sander & Xu 1996) on the distinct states, each weighted by the time spent there: it takes
weights, which HDBSCAN does not, needs no number of basins, and its two parameters are a distance and a time, both of
which can be said in words. A basin is then a region in which every core state has at least ``least`` sweeps of visits
within ``reach``; 20 sweeps are also the window of an approximate trap (MATH section 4).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float32, Float64, Int64

from glauber_core.errors import UserError
from glauber_core.landscape.flow import Stays, itinerary, returns
from glauber_core.landscape.visits import Visits

REACH = 0.3  # 1 - cos; two of the topic sentences of one topic are 0.8 apart on average
LEAST = 20.0  # sweeps
MOST = 4000  # states that DBSCAN sees: its neighbour lists grow with the square


class Basin(NamedTuple):
    """What is said of one basin.

    Attributes:
        number: from 1, in the order of first entry.
        states: distinct states in it.
        share: of all simulated time of all chains, in [0, 1].
        visits: stays in it, of all chains.
        chains: chains that were ever in it.
        returns: stays that were not the chain's first there.
        mean_stay: sweeps, over the stays that ended; NaN if none did.
        open: stays that had not ended, whose length is not in the mean.
        medoid: number of its most central state, weighted by time.
    """

    number: int
    states: int
    share: float
    visits: int
    chains: int
    returns: int
    mean_stay: float
    open: int
    medoid: int


def find_basins(
    embeddings: Float32[np.ndarray, "S d"],
    sweeps: Float64[np.ndarray, " S"],
    reach: float = REACH,
    least: float = LEAST,
) -> Int64[np.ndarray, " S"]:
    """Basin of each state, int64 [S]: 0, 1, .. in the order of the states, -1 for noise.

    Args:
        embeddings: unit vectors.
        sweeps: time spent in each state, >= 0, by all chains together.
        reach: 1 - cos within which states are neighbours, in (0, 2].
        least: sweeps of visits within reach that make a state a core state, > 0.

    Of more than ``MOST`` states, those where the chains stayed longest are clustered, and the others belong to the
    basin of the nearest core state within reach.

    Raises:
        UserError: a parameter outside its range.
    """
    from sklearn.cluster import DBSCAN
    from sklearn.neighbors import NearestNeighbors

    if not 0 < reach <= 2 or not least > 0:
        raise UserError("Basins need a reach above 0 and at most 2, and a least stay above 0 sweeps.")
    found = np.full(len(embeddings), -1)
    if len(embeddings) == 0:
        return found
    seen = np.sort(np.argsort(-sweeps, kind="stable")[:MOST])
    points = embeddings.astype(np.float64)
    radius = float(np.sqrt(2 * reach))  # of unit vectors
    scan = DBSCAN(eps=radius, min_samples=1).fit(points[seen], sample_weight=sweeps[seen] / least)
    found[seen] = scan.labels_
    rest = np.setdiff1d(np.arange(len(embeddings)), seen)
    core = seen[scan.core_sample_indices_]
    if len(rest) and len(core):
        near = NearestNeighbors(n_neighbors=1).fit(points[core])
        distance, which = near.kneighbors(points[rest])
        found[rest] = np.where(distance[:, 0] <= radius, found[core[which[:, 0]]], -1)
    return _renumbered(found)


def _renumbered(labels: Int64[np.ndarray, " S"]) -> Int64[np.ndarray, " S"]:
    """The same partition, numbered by each part's first state."""
    names, first = np.unique(labels[labels >= 0], return_index=True)
    order = names[np.argsort(first)]
    new = np.full(int(labels.max(initial=-1)) + 2, -1)  # the last one serves -1
    new[order] = np.arange(len(order))
    return new[labels]


def describe(
    labels: Int64[np.ndarray, " S"],
    embeddings: Float32[np.ndarray, "S d"],
    visits: Sequence[Visits],
    per_sweep: Sequence[float],
) -> tuple[list[Basin], list[Stays]]:
    """The basins' figures, and each chain's stays.

    Args:
        labels: of ``find_basins``.
        embeddings: unit vectors.
        visits: one a chain.
        per_sweep: steps in a sweep of each chain.
    """
    stays = [itinerary(one, labels, steps) for one, steps in zip(visits, per_sweep, strict=True)]
    sweeps = np.zeros(len(labels))
    for one, steps in zip(visits, per_sweep, strict=True):
        np.add.at(sweeps, one.state, one.dwell / steps)
    total = float(sweeps.sum()) or 1.0
    basins = []
    for b in range(int(labels.max(initial=-1)) + 1):
        members = np.flatnonzero(labels == b)
        there = [s.basin == b for s in stays]
        closed = [length for s, mask in zip(stays, there, strict=True) for length in s.sweeps[mask & ~s.open]]
        centre = (sweeps[members, None] * embeddings[members]).sum(axis=0)
        basins.append(
            Basin(
                number=b + 1,
                states=len(members),
                share=float(sweeps[members].sum()) / total,
                visits=int(sum(mask.sum() for mask in there)),
                chains=int(sum(mask.any() for mask in there)),
                returns=int(sum(returns(s, b) for s in stays)),
                mean_stay=float(np.mean(closed)) if closed else float("nan"),
                open=int(sum((mask & s.open).sum() for s, mask in zip(stays, there, strict=True))),
                medoid=int(members[np.argmax(embeddings[members] @ centre)]),
            )
        )
    return basins, stays
