"""Random scan against systematic scan: stationary laws of conditionals that belong to no joint law.

On compatible conditionals every scan has the joint law. On incompatible ones each scan has its own, and none has the
given conditionals. Source: arXiv 2605.16378, section 2; Levin & Peres, "Markov Chains and Mixing Times", section 3.3
(random scan); MATH section 6.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float64

from glauber_core.exact.enumerate import conditional_law, systematic_scan_matrix, transition_matrix
from glauber_core.exact.laws import stationary_law
from glauber_core.exact.statespace import StateSpace
from glauber_core.mixing.exact import total_variation
from glauber_core.types import Conditionals


class ScanLaws(NamedTuple):
    """Stationary laws of one model under several scans.

    Attributes:
        random: float64 [S], the random scan's.
        orders: K orders of the positions.
        systematic: float64 [K, S], each order's, seen at the end of a sweep.
        distance: float64 [K], total variation between each of these and ``random``.
        misfit_random: ``conditional_misfit`` of ``random``.
        misfit: float64 [K], of each systematic law.
    """

    random: Float64[np.ndarray, " S"]
    orders: tuple[tuple[int, ...], ...]
    systematic: Float64[np.ndarray, "K S"]
    distance: Float64[np.ndarray, " K"]
    misfit_random: float
    misfit: Float64[np.ndarray, " K"]


def scan_laws(
    conditionals: Conditionals, space: StateSpace | int, tau: float, orders: Iterable[Sequence[int]] | None = None
) -> ScanLaws:
    """Stationary laws of the random scan and of systematic ones.

    Args:
        conditionals: the model.
        space: its states, or the number n of positions.
        tau: temperature, > 0 in practice: a frozen chain has no single stationary law.
        orders: of the positions; left to right and right to left if None.

    Raises:
        UserError: too many states, a bad temperature or order, or no single stationary law.
    """
    where = StateSpace.full(conditionals, space) if isinstance(space, int) else space
    forward = tuple(range(where.n))
    chosen = (forward, forward[::-1]) if orders is None else tuple(tuple(order) for order in orders)
    random = stationary_law(transition_matrix(conditionals, where, tau))
    laws = np.stack([stationary_law(systematic_scan_matrix(conditionals, where, tau, order)) for order in chosen])
    misfit = np.array([conditional_misfit(law, conditionals, where, tau) for law in laws])
    own = conditional_misfit(random, conditionals, where, tau)
    return ScanLaws(random, chosen, laws, total_variation(laws, random), own, misfit)


def conditional_misfit(
    law: Float64[np.ndarray, " S"], conditionals: Conditionals, space: StateSpace, tau: float
) -> float:
    """How far the conditionals of a law are from the given ones: max over i of E TV(law(. | x_-i), p_i^tau(. | x_-i)).

    The mean is over x_-i under the law itself; 0 if and only if the law has the given conditionals.
    """
    drawn, states = np.flatnonzero(conditionals.allowed.cpu().numpy()), space.states()
    shape = [len(tokens) for tokens in space.alphabets]
    worst = 0.0
    for i, alphabet in enumerate(space.alphabets):
        logits = conditionals(states, torch.full((space.size,), i)).detach().cpu().double().numpy()
        given = np.zeros((space.size, len(alphabet)))
        given[:, np.searchsorted(alphabet, drawn)] = conditional_law(logits[:, drawn], tau)
        given = np.moveaxis(given.reshape(*shape, -1), i, 0)[0].reshape(-1, len(alphabet))  # one row a context
        joint = np.moveaxis(law.reshape(shape), i, -1).reshape(-1, len(alphabet))
        # The weight of the context multiplies both laws, so nothing is divided by a probability that may be 0.
        worst = max(worst, float(total_variation(joint, joint.sum(axis=1, keepdims=True) * given).sum()))
    return worst
