"""Two Glauber chains under maximal coupling: pure functions, uniforms in, new states out (MATH section 6).

Both chains of a pair resample the same position, from the maximal coupling of their two conditionals p and q: they
take the same token with probability 1 - TV(p, q), which no coupling of p and q exceeds; each alone is a plain Glauber
chain. Once equal they are equal for ever. Source: Levin & Peres, "Markov Chains and Mixing Times", proposition 4.7 and
theorem 5.4 (P(T > t) bounds the distance of the two laws); arXiv 2605.16378.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float64, Int64
from torch import Tensor

from glauber_core.errors import UserError
from glauber_core.kernels import pick_positions
from glauber_core.mixing.tempered import Tempered
from glauber_core.shape import fills_up, groups, threads

APART = -1


class PairState(NamedTuple):
    """What is carried from step to step.

    Attributes:
        x, y: int64 [C, n], the two sentences of each pair.
        steps: int64 [C], steps done.
        met: int64 [C], T, the first time at which the two were equal; ``APART`` while they have not been.
    """

    x: Int64[Tensor, "C n"]
    y: Int64[Tensor, "C n"]
    steps: Int64[Tensor, " C"]
    met: Int64[Tensor, " C"]

    @property
    def distance(self) -> Int64[Tensor, " C"]:
        """int64 [C], Hamming distance of the two sentences."""
        return (self.x != self.y).sum(dim=1)


class PairInfo(NamedTuple):
    """Diagnostics of one transition.

    Attributes:
        position: int64 [C], the position that both chains resampled (0-based).
        new_x, new_y: int64 [C], the tokens they took.
        tv: float64 [C], total variation of the two conditionals: the probability that the tokens differ.
    """

    position: Int64[Tensor, " C"]
    new_x: Int64[Tensor, " C"]
    new_y: Int64[Tensor, " C"]
    tv: Float64[Tensor, " C"]


def init(x: Int64[Tensor, "C n"], y: Int64[Tensor, "D m"]) -> PairState:
    """State of C pairs at time 0; the sentences are copied. Equal ones have met at time 0.

    Raises:
        UserError: no position, or sentences of different length.
    """
    if x.shape != y.shape:
        raise UserError("Two coupled chains need sentences of the same number of tokens.")
    if x.shape[1] == 0:
        raise UserError("A chain needs at least one word.")
    steps = torch.zeros(len(x), dtype=torch.int64)
    return PairState(x.clone(), y.clone(), steps, torch.where((x == y).all(dim=1), 0, APART))


def maximal_draw(
    p: Float64[Tensor, "C V"], q: Float64[Tensor, "C V"], uniform: Float64[Tensor, "C 3"]
) -> tuple[Int64[Tensor, " C"], Int64[Tensor, " C"], Float64[Tensor, " C"]]:
    """One token from each law of a pair, maximally coupled.

    Args:
        p, q: float64 [C, V], probabilities.
        uniform: float64 [C, 3] in [0, 1): coin, token, token (columns 1 to 3 of ``pair_uniforms``). The coin says
            "differ" below TV(p, q); identical rows therefore never part, whatever their rounding.

    Returns:
        The two tokens, int64 [C], and TV(p, q), float64 [C].
    """
    both = torch.minimum(p, q)
    left_p, left_q = p - both, q - both  # never negative
    tv = torch.minimum(left_p.sum(dim=1), left_q.sum(dim=1))  # equal up to rounding; 0 if either has nothing left
    apart = (uniform[:, 0] < tv) | (both.amax(dim=1) == 0)  # disjoint laws, though rounding says TV < 1
    same = ~apart[:, None]
    return (
        _token(torch.where(same, both, left_p), uniform[:, 1]),
        _token(torch.where(same, both, left_q), torch.where(apart, uniform[:, 2], uniform[:, 1])),
        tv,
    )


def _token(mass: Float64[Tensor, "C V"], uniform: Float64[Tensor, " C"]) -> Int64[Tensor, " C"]:
    """Token by inverse CDF of masses that need not sum to 1, in id order, clamped at the last one with any mass."""
    cdf = torch.cumsum(mass, dim=1)
    drawn = torch.searchsorted(cdf, (uniform * cdf[:, -1])[:, None].contiguous(), right=True)[:, 0]
    ids = torch.arange(mass.shape[1], device=mass.device)
    return torch.minimum(drawn, torch.where(mass > 0, ids, 0).amax(dim=1))


def step(
    read: Tempered,
    state: PairState,
    uniform: Float64[Tensor, "C 4"],
    tau: Float64[Tensor, " C"],
    free: Int64[Tensor, " m"],
) -> tuple[PairState, PairInfo]:
    """One step of C pairs that share their free positions, at the canonical shape; inputs are not mutated.

    Two sentences that agree outside the position are evaluated as ONE row, so that rounding can never part them. Pairs
    that have met go on together.

    Args:
        read: the model's tempered conditionals.
        state: C pairs, C >= 1.
        uniform: float64 [C, 4] in [0, 1) (``pair_uniforms``).
        tau: float64 [C], >= 0.
        free: int64 [m], the positions that may be resampled, in increasing order.

    Raises:
        UserError: no free position.
    """
    if len(free) == 0:
        raise UserError("Every word is locked: unlock at least one to go on.")
    count, pairs = len(state.x), torch.arange(len(state.x))
    position = pick_positions(free, uniform[:, 0])
    differ = state.x != state.y
    differ[pairs, position] = False
    own = torch.nonzero(differ.any(dim=1))[:, 0]  # pairs whose second sentence needs a row of its own
    rows = torch.cat((state.x, state.y[own]))
    laws = read(rows, torch.cat((position, position[own])), torch.cat((tau, tau[own])))
    second = pairs.clone()
    second[own] = count + torch.arange(len(own))
    new_x, new_y, tv = _draws(read, laws, second, uniform[:, 1:])
    x, y = state.x.clone(), state.y.clone()
    x[pairs, position], y[pairs, position] = new_x, new_y
    steps = state.steps + 1
    met = torch.where((state.met == APART) & (x == y).all(dim=1), steps, state.met)
    return PairState(x, y, steps, met), PairInfo(position, new_x, new_y, tv)


def _draws(
    read: Tempered, laws: Float64[Tensor, "R V"], second: Int64[Tensor, " C"], uniform: Float64[Tensor, "C 3"]
) -> tuple[Int64[Tensor, " C"], Int64[Tensor, " C"], Float64[Tensor, " C"]]:
    """``maximal_draw`` of all pairs, always as many together: rounding may depend on how many there are."""
    parts, together = [], 1 if fills_up(read.conditionals) else read.shape.rows
    with threads(read.shape.threads):
        for pairs, real in groups(len(second), together):
            where = pairs.to(laws.device), second[pairs].to(laws.device)
            drawn = maximal_draw(laws[where[0]], laws[where[1]], uniform[pairs].to(laws.device))
            parts.append([column[:real].cpu() for column in drawn])
    new_x, new_y, tv = (torch.cat(column) for column in zip(*parts, strict=True))
    return new_x, new_y, tv
