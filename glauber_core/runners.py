"""Run many chains without looking at them: batched, canonical, every step kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float64, Int64
from torch import Tensor

from glauber_core.errors import UserError
from glauber_core.kernels import init
from glauber_core.shape import EvaluationShape, canonical_step, shape_for
from glauber_core.streams import check_seed, uniforms
from glauber_core.temperature import check_tau
from glauber_core.types import Conditionals

_BLOCK = 256


class Trajectory(NamedTuple):
    """Every step of C chains.

    Attributes:
        start, final: int64 [C, n].
        position, old, new: int64 [T, C].
        log_prob: float64 [T, C], log p^tau of the drawn token, nats.
        shape: the evaluation shape the path is reproducible at.
    """

    start: Int64[Tensor, "C n"]
    final: Int64[Tensor, "C n"]
    position: Int64[Tensor, "T C"]
    old: Int64[Tensor, "T C"]
    new: Int64[Tensor, "T C"]
    log_prob: Float64[Tensor, "T C"]
    shape: EvaluationShape


def run(
    conditionals: Conditionals,
    start: Int64[Tensor, "C n"],
    tau: float | Sequence[float],
    steps: int,
    seed: int = 0,
    chains: Sequence[int] | None = None,
    locked: Sequence[int] = (),
    shape: EvaluationShape | None = None,
) -> Trajectory:
    """Plain random-scan chains (MATH section 1), each on its own stream.

    Args:
        conditionals: the model.
        start: int64 [C, n], one sentence a chain.
        tau: one temperature, or one for each chain.
        steps: T >= 0, steps of each chain; n steps are a sweep.
        seed: with the chain ids, the key of the streams.
        chains: the C chain ids; 0 .. C-1 if None.
        locked: positions that never change, the same for all chains.
        shape: canonical evaluation shape; ``shape_for`` the number of chains if None.

    Raises:
        UserError: bad temperature or seed, no free position, or lengths that do not agree.
    """
    count, n = start.shape
    ids = list(range(count)) if chains is None else [check_seed(c) for c in chains]
    taus = [check_tau(t) for t in (tau if isinstance(tau, Sequence) else [tau] * count)]
    if len(ids) != count or len(taus) != count:
        raise UserError(f"There are {count} chains; give one chain id and one temperature for each.")
    if count == 0:
        raise UserError("There is no chain to run.")
    if steps < 0:
        raise UserError("The number of steps cannot be negative.")
    free = torch.tensor([i for i in range(n) if i not in set(locked)], dtype=torch.int64)
    shape = shape or shape_for(conditionals, count)
    tau_rows = torch.tensor(taus, dtype=torch.float64)
    state = init(start)
    infos = []
    for first in range(0, steps, _BLOCK):
        block = np.stack([uniforms(check_seed(seed), c, first, min(_BLOCK, steps - first)) for c in ids])
        for t in range(block.shape[1]):
            state, info = canonical_step(conditionals, shape, state, torch.from_numpy(block[:, t]), tau_rows, free)
            infos.append(info)

    def column(name: str, dtype: torch.dtype) -> Tensor:
        if not infos:
            return torch.empty((0, count), dtype=dtype)
        return torch.stack([getattr(info, name) for info in infos])

    return Trajectory(
        start,
        state.tokens,
        column("position", torch.int64),
        column("old", torch.int64),
        column("new", torch.int64),
        column("log_prob", torch.float64),
        shape,
    )
