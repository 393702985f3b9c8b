"""Laws of a finite chain from its matrix: after so many steps, and in the long run.

Source: Levin & Peres, "Markov Chains and Mixing Times", sections 1.1, 1.5 and 1.7; Grassmann, Taksar & Heyman,
"Regenerative analysis and steady state distributions for Markov chains", Operations Research 33 (1985).
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float64
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from glauber_core.errors import UserError

_BLOCK = 64  # states eliminated between two matrix products


def distribution_after(
    matrix: Float64[np.ndarray, "S S"], start: int | np.integer | Float64[np.ndarray, " S"], steps: int
) -> Float64[np.ndarray, " S"]:
    """Law of the chain after ``steps`` steps: a row of P^steps, float64 [S].

    Rounding grows like steps * 1e-16: exits rarer than that per step vanish beside the diagonal's 1.

    Args:
        matrix: P, float64 [S, S].
        start: index of the start state, or the start law float64 [S].
        steps: >= 0. A few are vector products; many go by repeated squaring.

    Raises:
        UserError: a start index outside the states, or a negative number of steps.
    """
    size = len(matrix)
    if steps < 0:
        raise UserError("The number of steps cannot be negative.")
    if isinstance(start, (int, np.integer)):
        if not 0 <= start < size:
            raise UserError(f"A state index must lie between 0 and {size - 1}.")
        law = np.zeros(size)
        law[start] = 1.0
    else:
        law = start.copy()
    power = matrix
    while steps > size:  # one squaring costs as much as S vector products
        if steps % 2:
            law = law @ power
        power, steps = power @ power, steps // 2
    for _ in range(steps):
        law = law @ power
    return law


def stationary_law(matrix: Float64[np.ndarray, "S S"]) -> Float64[np.ndarray, " S"]:
    """The stationary law pi = pi P, float64 [S], by elimination of states (Grassmann, Taksar & Heyman).

    No difference is ever taken, so every entry has full relative accuracy, deep traps included. States that the chain
    leaves for ever have mass 0. Cost S^3/3.

    Raises:
        UserError: the chain has more than one closed class, hence no single stationary law (tau = 0, locked
            positions, or probabilities that underflow).
    """
    count, label = connected_components(csr_array(matrix), directed=True, connection="strong")
    source, target = np.nonzero(matrix)
    leaky = np.unique(label[source[label[source] != label[target]]])
    closed = np.setdiff1d(np.arange(count), leaky)
    if len(closed) != 1:
        raise UserError("This chain can end in several places, so it has no single stationary law.")
    members = np.flatnonzero(label == closed[0])
    law = np.zeros(len(matrix))
    law[members] = _eliminate(matrix[np.ix_(members, members)])
    return law


def _eliminate(matrix: Float64[np.ndarray, "K K"]) -> Float64[np.ndarray, " K"]:
    """Stationary law of an irreducible chain."""
    work = matrix.copy()
    for end in range(len(work), 1, -_BLOCK):
        begin = max(end - _BLOCK, 1)
        for k in range(end - 1, begin - 1, -1):
            done = slice(k + 1, end)  # eliminated in this block; their effect elsewhere is still owed
            work[:k, k] += work[:k, done] @ work[done, k]
            work[k, :k] += work[k, done] @ work[done, :k]
            work[:k, k] /= work[k, :k].sum()
        work[:begin, :begin] += work[:begin, begin:end] @ work[begin:end, :begin]
    law = np.ones(len(work))
    for k in range(1, len(work)):
        law[k] = law[:k] @ work[:k, k]
        law[: k + 1] /= law[: k + 1].max()  # deep traps: keep the numbers in range
    return law / law.sum()
