"""Run many coupled pairs in one batch until they meet or a horizon ends them (MATH section 6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float64, Int64
from torch import Tensor

from glauber_core.errors import UserError
from glauber_core.mixing.coupling import APART, PairState, init, step
from glauber_core.mixing.pair_stream import pair_uniforms
from glauber_core.mixing.tempered import CACHE_BYTES, Tempered
from glauber_core.shape import EvaluationShape, shape_for
from glauber_core.streams import check_seed
from glauber_core.temperature import check_tau
from glauber_core.types import Conditionals

_BLOCK = 256


class Meetings(NamedTuple):
    """C coupled pairs, each followed until its two chains met or the horizon came.

    Attributes:
        steps: int64 [C], T for a pair that met, else the horizon: T is then only known to be larger.
        met: bool [C].
        distance: int64 [K, C], Hamming distance at the times ``times``; 0 from the meeting on.
        times: int64 [K], steps: 0, every, 2 every, ... as far as a pair was apart, at most the horizon.
        final: the pairs as they were left: a pair that met stays as it was then.
        shape: the evaluation shape the run is reproducible at.
    """

    steps: Int64[np.ndarray, " C"]
    met: Bool[np.ndarray, " C"]
    distance: Int64[np.ndarray, "K C"]
    times: Int64[np.ndarray, " K"]
    final: PairState
    shape: EvaluationShape


def run_coupled(
    conditionals: Conditionals,
    x: Int64[Tensor, "C n"],
    y: Int64[Tensor, "D m"],
    tau: float | Sequence[float],
    horizon: int,
    seed: int = 0,
    pairs: Sequence[int] | None = None,
    locked: Sequence[int] = (),
    shape: EvaluationShape | None = None,
    every: int | None = None,
    progress: Callable[[int, int], None] = lambda step, met: None,
    cache_bytes: int = CACHE_BYTES,
) -> Meetings:
    """Coupling times of C pairs, each pair on its own stream (``pair_uniforms``).

    A pair's path does not depend on the others. A pair that has met costs nothing more.

    Args:
        conditionals: the model.
        x, y: int64 [C, n], the two start sentences of each pair; tokens locked in both should agree, or they never
            meet.
        tau: one temperature, or one for each pair.
        horizon: steps, >= 0; n steps are a sweep.
        seed: with the pair ids, the key of the streams.
        pairs: the C pair ids; 0 .. C-1 if None.
        locked: positions that never change.
        shape: canonical evaluation shape; ``shape_for`` the number of pairs if None.
        every: steps between two looks at the distance; n if None.
        progress: called after every step with the steps done and the pairs that have met; what it raises ends the run.
        cache_bytes: rows kept (``Tempered``); they change nothing but the time it takes.

    Raises:
        UserError: bad temperature or seed, no pair, no free position, or lengths that do not agree.
    """
    state = init(x, y)
    count, n = x.shape
    ids = list(range(count)) if pairs is None else [check_seed(c) for c in pairs]
    taus = [check_tau(t) for t in (tau if isinstance(tau, Sequence) else [tau] * count)]
    if len(ids) != count or len(taus) != count:
        raise UserError(f"There are {count} pairs; give one pair id and one temperature for each.")
    if count == 0:
        raise UserError("There is no pair to run.")
    if horizon < 0 or (every is not None and every < 1):
        raise UserError("The horizon cannot be negative, and the distance is looked at every 1 step or more.")
    key, look = check_seed(seed), n if every is None else every
    free = torch.tensor([i for i in range(n) if i not in set(locked)], dtype=torch.int64)
    read = Tempered(conditionals, shape or shape_for(conditionals, count), cache_bytes)
    tau_rows = torch.tensor(taus, dtype=torch.float64)
    seen = [state.distance]
    for first in range(0, horizon, _BLOCK):
        moving = torch.nonzero(state.met == APART)[:, 0].tolist()
        if not moving:
            break
        block = _block(key, [ids[k] for k in moving], first, min(_BLOCK, horizon - first))
        for t in range(block.shape[1]):
            on = [k for k, pair in enumerate(moving) if state.met[pair] == APART]
            if not on:
                break
            apart = torch.tensor([moving[k] for k in on])
            group = PairState(*(column[apart] for column in state))
            after, _ = step(read, group, block[on, t], tau_rows[apart], free)
            for column, values in zip(state, after, strict=True):
                column[apart] = values  # this run's own copies
            if (first + t + 1) % look == 0:
                seen.append(state.distance)
            progress(first + t + 1, int((state.met != APART).sum()))
    met = state.met != APART
    distance = torch.stack(seen).numpy()
    return Meetings(
        torch.where(met, state.met, horizon).numpy(),
        met.numpy(),
        distance,
        np.arange(len(distance), dtype=np.int64) * look,
        state,
        read.shape,
    )


def _block(seed: int, ids: Sequence[int], first: int, count: int) -> Float64[Tensor, "C T 4"]:
    return torch.from_numpy(np.stack([pair_uniforms(seed, pair, first, count) for pair in ids]))
