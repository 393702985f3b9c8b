"""Index <-> state coding of a small state space, in mixed radix."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Int, Int64
from torch import Tensor

from glauber_core.errors import UserError
from glauber_core.types import Conditionals

MAX_STATES = 4096  # a float64 matrix over them takes 128 MiB


@dataclass(frozen=True)
class StateSpace:
    """All states whose position k holds one of the tokens ``alphabets[k]``.

    The index of a state reads it as digits, the leftmost position the most significant; digit d of position k is the
    d-th token of its alphabet. States are int64 tensors (what models take), indices int64 arrays (rows of a matrix).

    Args:
        alphabets: for each position its tokens, increasing.

    Raises:
        UserError: no position, an empty or unordered alphabet, or more than ``MAX_STATES`` states.
    """

    alphabets: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        if not self.alphabets:
            raise UserError("A state needs at least one position.")
        for tokens in self.alphabets:
            if not tokens or list(tokens) != sorted(set(tokens)):
                raise UserError("Each position needs a list of different tokens in increasing order.")
        if self.size > MAX_STATES:
            raise UserError(
                f"There are too many states to enumerate (at most {MAX_STATES}): take fewer positions or tokens."
            )

    @classmethod
    def full(cls, conditionals: Conditionals, n: int) -> StateSpace:
        """All sentences of n allowed tokens. Raises UserError: none, or too many."""
        return cls((_allowed(conditionals),) * n)

    @classmethod
    def around(cls, conditionals: Conditionals, state: Int[Tensor, " n"], free: Iterable[int]) -> StateSpace:
        """The sentences that agree with ``state`` (int [n]) outside the free positions, ``state`` itself included.

        A locked position may hold any token; so may a free one, which leaves a disallowed token for ever.

        Raises:
            UserError: a free position that does not exist, or too many states.
        """
        chosen = check_free(free, len(state))
        tokens, own = _allowed(conditionals), [int(token) for token in state]
        return cls(tuple(tuple(sorted({*tokens, t})) if k in chosen else (t,) for k, t in enumerate(own)))

    @property
    def n(self) -> int:
        """Number of positions."""
        return len(self.alphabets)

    @property
    def size(self) -> int:
        """S, the number of states."""
        return math.prod(map(len, self.alphabets))

    @cached_property
    def places(self) -> Int64[np.ndarray, " n"]:
        """int64 [n]: what one digit of each position is worth."""
        sizes = [len(tokens) for tokens in self.alphabets]
        return np.array([math.prod(sizes[k + 1 :]) for k in range(self.n)], dtype=np.int64)

    def states(self) -> Int64[Tensor, "S n"]:
        """Every state in the order of its index."""
        return self.decode(np.arange(self.size))

    def decode(self, indices: Int64[np.ndarray, " B"]) -> Int64[Tensor, "B n"]:
        """int64 [B, n]: the states of these indices. Raises UserError: an index outside 0 .. S - 1."""
        if len(indices) and not (0 <= indices.min() and indices.max() < self.size):
            raise UserError(f"A state index must lie between 0 and {self.size - 1}.")
        columns = [
            np.array(tokens)[indices // place % len(tokens)]
            for tokens, place in zip(self.alphabets, self.places, strict=True)
        ]
        return torch.from_numpy(np.stack(columns, axis=1))

    def encode(self, states: Int[Tensor, "B n"]) -> Int64[np.ndarray, " B"]:
        """int64 [B]: the indices of these states. Raises UserError: a state outside the space."""
        rows = states.numpy()
        if rows.shape[1] != self.n:
            raise UserError(f"This state space is for {self.n} positions, but the sentence has {rows.shape[1]}.")
        index = np.zeros(len(rows), dtype=np.int64)
        for k, tokens in enumerate(self.alphabets):
            digits = np.searchsorted(tokens, rows[:, k]).clip(max=len(tokens) - 1)
            if (np.array(tokens)[digits] != rows[:, k]).any():
                raise UserError(f"Position {k + 1} holds a token outside this state space.")
            index += digits * self.places[k]
        return index


def check_free(free: Iterable[int], n: int) -> tuple[int, ...]:
    """The free positions in increasing order. Raises UserError: none, or one that does not exist."""
    chosen = tuple(sorted({int(k) for k in free}))
    if not chosen:
        raise UserError("Every word is locked: unlock at least one to go on.")
    if chosen[0] < 0 or chosen[-1] >= n:
        raise UserError(f"A free position must lie between 0 and {n - 1}.")
    return chosen


def _allowed(conditionals: Conditionals) -> tuple[int, ...]:
    return tuple(int(v) for v in torch.nonzero(conditionals.allowed.cpu())[:, 0])
