"""The physics check: Curie-Weiss spins through the very samplers that language models go through.

Simulated distance from stationarity beside the exact one of the magnetisation chain, and coupling times beside their
own line. Source: Levin, Luczak & Peres, "Glauber dynamics for the mean-field Ising model" (2010); MATH section 6.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float64, Int64

from glauber_core.exact import CurieWeiss
from glauber_core.mixing.curie_weiss import MagnetisationChain, magnetisation_chain
from glauber_core.mixing.exact import simulated_tv, total_variation
from glauber_core.mixing.meeting import Meetings, run_coupled
from glauber_core.mixing.walk import walk
from glauber_core.shape import EvaluationShape


class SpinTV(NamedTuple):
    """Distance from stationarity of n spins that began all plus.

    Attributes:
        steps: int64 [K].
        exact: float64 [K], total variation, from the magnetisation chain.
        simulated: float64 [K], of the histogram of ``chains`` simulated magnetisations.
        noise: float64 [K], how far ``simulated`` may lie from ``exact`` (``exact.simulated_tv``).
        chains: how many were simulated.
    """

    steps: Int64[np.ndarray, " K"]
    exact: Float64[np.ndarray, " K"]
    simulated: Float64[np.ndarray, " K"]
    noise: Float64[np.ndarray, " K"]
    chains: int


def simulate_spins(
    n: int,
    beta: float,
    chains: int,
    steps: Sequence[int],
    seed: int = 0,
    progress: Callable[[float], None] = lambda share: None,
) -> SpinTV:
    """Plain Glauber chains of n spins from all-plus, compared with the exact law at the stated times.

    Args:
        n, beta: of ``exact.CurieWeiss``.
        chains: how many, each on its own stream; a thousand keep the noise near 0.1 for a hundred spins.
        steps: times >= 0, increasing.
        seed: of the streams.
        progress: called after every step with the share done; what it raises ends the work.

    Raises:
        UserError: no chain, times that are negative or do not increase, or a bad n, beta or seed.
    """
    exact, times = magnetisation_chain(n, beta), np.asarray(steps, dtype=np.int64)
    shape = EvaluationShape(rows=max(1, chains), threads=1, dtype="float64")
    start = torch.ones((chains, n), dtype=torch.int64)
    states = walk(CurieWeiss(beta), start, 1.0, times, seed, shape, progress=progress)
    return _compare(exact, times, np.stack([tokens.sum(dim=1).numpy() for tokens in states]))


def couple_spins(
    n: int,
    beta: float,
    pairs: int,
    horizon: int,
    seed: int = 0,
    progress: Callable[[int, int], None] = lambda step, met: None,
) -> Meetings:
    """Coupling times of all-plus against all-minus; arguments as of ``meeting.run_coupled``, which does the work."""
    shape = EvaluationShape(rows=max(1, pairs), threads=1, dtype="float64")
    plus = torch.ones((pairs, n), dtype=torch.int64)
    return run_coupled(
        CurieWeiss(beta),
        plus,
        torch.zeros_like(plus),
        1.0,
        horizon,
        seed,
        shape=shape,
        progress=progress,
        cache_bytes=0,
    )


def _compare(exact: MagnetisationChain, times: Int64[np.ndarray, " K"], plus: Int64[np.ndarray, "K C"]) -> SpinTV:
    law = np.eye(1, exact.n + 1, exact.n)[0]
    before, found = 0, []
    for t, row in zip(times.tolist(), plus, strict=True):
        law, before = exact.advance(law, t - before), t
        seen = simulated_tv(np.bincount(row, minlength=exact.n + 1), exact.law, law)
        found.append((float(total_variation(law, exact.law)), seen.value, seen.noise))
    columns = np.array(found).T
    return SpinTV(times, columns[0], columns[1], columns[2], plus.shape[1])
