"""The Glauber chain of a small model as a matrix: the oracle of every law test, and of exact mixing.

Nothing here is shared with the kernel it judges. Source: Levin & Peres, "Markov Chains and Mixing Times", sections
1.1, 1.5 and 3.3; MATH sections 1 and 6.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float64
from scipy.sparse import csr_array

from glauber_core.errors import UserError
from glauber_core.exact.statespace import StateSpace, check_free
from glauber_core.types import Conditionals


def conditional_law(logits: Float64[np.ndarray, "S V"], tau: float) -> Float64[np.ndarray, "S V"]:
    """p^tau = softmax(logits / tau), float64 [S, V]; at tau = 0 all mass on the argmax of lowest id.

    Raises:
        UserError: tau is negative or not finite.
    """
    if not (math.isfinite(tau) and tau >= 0):
        raise UserError("The temperature must be a finite number, 0 or more.")
    if tau == 0:
        return np.eye(logits.shape[1])[logits.argmax(axis=1)]
    with np.errstate(over="ignore"):  # a tiny tau sends every gap to -inf, and its mass to 0: what is meant
        mass = np.exp((logits - logits.max(axis=1, keepdims=True)) / tau)
    return mass / mass.sum(axis=1, keepdims=True)


def site_kernel(conditionals: Conditionals, space: StateSpace, position: int, tau: float) -> Any:
    """Transition matrix of resampling one position: scipy CSR, float64 [S, S].

    Args:
        conditionals: the model.
        space: its states; the position's alphabet must hold every allowed token. Others in it are left for ever.
        position: 0-based.
        tau: temperature, >= 0.

    Raises:
        UserError: the position can leave the space, or a bad temperature.
    """
    alphabet, drawn = np.array(space.alphabets[position]), np.flatnonzero(conditionals.allowed.cpu().numpy())
    if not np.isin(drawn, alphabet).all():
        raise UserError(f"Position {position + 1} is locked in this state space: it cannot be resampled.")
    states = space.states()
    logits = conditionals(states, torch.full((space.size,), position)).detach().cpu().double().numpy()
    law = conditional_law(logits[:, drawn], tau)
    here, place = np.arange(space.size), space.places[position]
    rest = here - here // place % len(alphabet) * place
    targets = rest[:, None] + np.searchsorted(alphabet, drawn) * place  # [S, allowed]
    rows = np.repeat(here, len(drawn))
    return csr_array((law.ravel(), (rows, targets.ravel())), shape=(space.size, space.size))


def transition_matrix(
    conditionals: Conditionals, space: StateSpace | int, tau: float, free: Iterable[int] | None = None
) -> Float64[np.ndarray, "S S"]:
    """Random-scan Glauber chain: a free position chosen uniformly, then resampled from its conditional.

    Args:
        conditionals: the model.
        space: its states, or the number n of positions for all sentences of n allowed tokens.
        tau: temperature, >= 0; 0 is the argmax, lowest id on ties.
        free: positions that may be resampled, 0-based; all if None. The others keep their token.

    Returns:
        float64 [S, S], ``P[x, y]`` = probability of going from state x to state y; rows sum to 1.

    Raises:
        UserError: too many states (``MAX_STATES``), every position locked, a free position that does not exist or is
            fixed by the space, or a bad temperature.
    """
    where = StateSpace.full(conditionals, space) if isinstance(space, int) else space
    chosen = check_free(range(where.n) if free is None else free, where.n)
    total = sum(site_kernel(conditionals, where, i, tau) for i in chosen)
    return np.asarray(total.toarray()) / len(chosen)


def systematic_scan_matrix(
    conditionals: Conditionals, space: StateSpace | int, tau: float, order: Sequence[int] | None = None
) -> Float64[np.ndarray, "S S"]:
    """One systematic sweep: the positions of ``order`` (0 .. n - 1 if None) resampled one after the other.

    Arguments, result and errors otherwise as ``transition_matrix``. On incompatible conditionals its stationary law
    depends on the order and differs from the random scan's (MATH section 6).
    """
    where = StateSpace.full(conditionals, space) if isinstance(space, int) else space
    visits = tuple(range(where.n)) if order is None else tuple(order)
    check_free(visits, where.n)
    total = site_kernel(conditionals, where, visits[0], tau)
    for i in visits[1:]:
        total = total @ site_kernel(conditionals, where, i, tau)
    return np.asarray(total.toarray())
