"""Plain chains, looked at now and then: what drift and the physics check are measured on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from jaxtyping import Int64
from torch import Tensor

from glauber_core.errors import UserError
from glauber_core.kernels import init
from glauber_core.shape import EvaluationShape, canonical_step
from glauber_core.streams import check_seed, uniforms
from glauber_core.temperature import check_tau
from glauber_core.types import Conditionals

_BLOCK = 128


def walk(
    conditionals: Conditionals,
    start: Int64[Tensor, "C n"],
    tau: float,
    times: Sequence[int] | Int64[np.ndarray, " K"],
    seed: int,
    shape: EvaluationShape,
    locked: Sequence[int] = (),
    progress: Callable[[float], None] = lambda share: None,
) -> Iterator[Int64[Tensor, "C n"]]:
    """The states of C plain chains (``runners.run`` of chains 0 .. C-1) at each of the times, as they get there.

    Args:
        conditionals: the model.
        start: int64 [C, n], C >= 1.
        tau: temperature of all.
        times: steps >= 0, increasing.
        seed: of the streams.
        shape: canonical evaluation shape.
        locked: positions that never change.
        progress: called after every step with the share done; what it raises ends the walk.

    Raises:
        UserError: no chain or time, times that are negative or do not increase, a bad temperature or seed, or no free
            position.
    """
    when, key, warmth = np.asarray(times, dtype=np.int64), check_seed(seed), check_tau(tau)
    if len(when) == 0 or when[0] < 0 or (np.diff(when) <= 0).any() or len(start) == 0:
        raise UserError("Give at least one chain and one time; times must be 0 or more and increase.")
    state, last, wanted = init(start), int(when[-1]), set(when.tolist())
    taus = torch.full((len(start),), warmth, dtype=torch.float64)
    free = torch.tensor([i for i in range(start.shape[1]) if i not in set(locked)], dtype=torch.int64)
    if 0 in wanted:
        yield state.tokens
    for first in range(0, last, _BLOCK):
        block = np.stack([uniforms(key, c, first, min(_BLOCK, last - first)) for c in range(len(start))])
        for t in range(block.shape[1]):
            state, _ = canonical_step(conditionals, shape, state, torch.from_numpy(block[:, t]), taus, free)
            progress((first + t + 1) / last)
            if first + t + 1 in wanted:
                yield state.tokens
