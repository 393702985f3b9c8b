"""The coupled pair of an enumerated model as one chain: the oracle for coupling times (MATH section 6).

Both chains resample the same position from the maximal coupling of their two conditionals p and q: both take v with
probability min(p(v), q(v)), and otherwise they draw independently from what is left of p and of q. Nothing here is
shared with the sampler it judges. Source: Levin & Peres, "Markov Chains and Mixing Times", proposition 4.7 and
section 5.1.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from jaxtyping import Float64
from scipy.sparse import csr_array

from glauber_core.errors import UserError
from glauber_core.exact.enumerate import conditional_law
from glauber_core.exact.statespace import StateSpace, check_free
from glauber_core.types import Conditionals

MAX_PAIRS = 2**16


def product_matrix(conditionals: Conditionals, space: StateSpace, tau: float, free: Iterable[int] | None = None) -> Any:
    """Transition matrix of the pair: scipy CSR, float64 [S^2, S^2]; the pair (x, y) has the index x * S + y.

    Args:
        conditionals: the model.
        space: its states, at most 256.
        tau: temperature, >= 0.
        free: positions that may be resampled; all if None.

    Raises:
        UserError: too many states, no free position, one that can leave the space, or a bad temperature.
    """
    size = space.size
    if size**2 > MAX_PAIRS:
        raise UserError(f"There are too many pairs of states to enumerate (at most {MAX_PAIRS:,}).")
    chosen = check_free(range(space.n) if free is None else free, space.n)
    states, drawn = space.states(), np.flatnonzero(conditionals.allowed.cpu().numpy())
    x, y = np.divmod(np.arange(size**2), size)
    total: Any = 0
    for i in chosen:
        alphabet, place = np.array(space.alphabets[i]), int(space.places[i])
        if not np.isin(drawn, alphabet).all():
            raise UserError(f"Position {i + 1} is locked in this state space: it cannot be resampled.")
        logits = conditionals(states, torch.full((size,), i)).detach().cpu().double().numpy()
        law = conditional_law(logits[:, drawn], tau)
        here = np.arange(size)
        rest = here - here // place % len(alphabet) * place
        target = rest[:, None] + np.searchsorted(alphabet, drawn) * place  # [S, allowed]
        p, q = law[x], law[y]
        both = np.minimum(p, q)
        left_p, left_q = p - both, q - both
        apart = left_p.sum(axis=1)
        joint = left_p[:, :, None] * left_q[:, None, :] / np.where(apart > 0, apart, 1.0)[:, None, None]
        tokens = np.arange(len(drawn))
        joint[:, tokens, tokens] += both
        columns = target[x][:, :, None] * size + target[y][:, None, :]
        rows = np.broadcast_to(np.arange(size**2)[:, None, None], joint.shape)
        total = total + csr_array((joint.ravel(), (rows.ravel(), columns.ravel())), shape=(size**2, size**2))
    return total / len(chosen)


def coupling_time_law(matrix: Any, start: tuple[int, int], horizon: int) -> Float64[np.ndarray, " H"]:
    """Law of T, the first time at which the two chains agree, T = 0 included.

    Args:
        matrix: of the pair, [S^2, S^2] (``product_matrix``).
        start: indices of the two start states.
        horizon: steps, >= 0.

    Returns:
        float64 [horizon + 2]: P(T = 0), ..., P(T = horizon), P(T > horizon).
    """
    size = round(matrix.shape[0] ** 0.5)
    same = np.arange(size) * (size + 1)
    law = np.zeros(size**2)
    law[start[0] * size + start[1]] = 1.0
    found = []
    for t in range(horizon + 1):
        law = law if t == 0 else matrix.T @ law
        found.append(law[same].sum())
        law[same] = 0.0
    return np.array([*found, law.sum()])


def pair_law(matrix: Any, start: tuple[int, int], steps: int) -> Float64[np.ndarray, "S S"]:
    """Joint law of the two chains after ``steps`` steps, float64 [S, S]; its margins are rows of P^steps."""
    size = round(matrix.shape[0] ** 0.5)
    law = np.zeros(size**2)
    law[start[0] * size + start[1]] = 1.0
    for _ in range(steps):
        law = matrix.T @ law
    return law.reshape(size, size)
