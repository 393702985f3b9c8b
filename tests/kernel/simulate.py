"""Many independent chains through one step function, each on its own stream."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import torch
from torch import Tensor

from glauber_core.kernels import ChainState, StepInfo, init, step
from glauber_core.shape import threads
from glauber_core.streams import uniforms
from glauber_core.types import Conditionals
from tests.law import CHAINS

Step = Callable[[Conditionals, ChainState, Tensor, Tensor, Tensor], tuple[ChainState, StepInfo]]


@lru_cache(maxsize=4)
def draws(seed: int, steps: int, chains: int = CHAINS) -> Tensor:
    """float64 [chains, steps, 2]: the uniforms of chains 0, 1, ... under one seed. Do not write to it."""
    found = torch.empty((chains, steps, 2), dtype=torch.float64)
    for chain in range(chains):
        found[chain] = torch.from_numpy(uniforms(seed, chain, 0, steps))
    return found


def simulate(
    model: Conditionals,
    start: Sequence[int],
    tau: float,
    uniform: Tensor,
    free: Sequence[int] | None = None,
    advance: Step = step,
) -> list[Tensor]:
    """The tokens int64 [C, n] of all chains after 0, 1, ..., T steps, computed by one thread: rows are tiny here.

    Args:
        uniform: float64 [C, T, 2].
        free: positions that may be resampled; all if None.
        advance: the step function under test.
    """
    chains, steps = uniform.shape[:2]
    state = init(torch.tensor([list(start)]).expand(chains, -1))
    taus = torch.full((chains,), tau, dtype=torch.float64)
    where = torch.tensor(range(len(start)) if free is None else free)
    tokens = [state.tokens]
    with threads(1):
        for t in range(steps):
            state, _ = advance(model, state, uniform[:, t], taus, where)
            tokens.append(state.tokens)
    return tokens
