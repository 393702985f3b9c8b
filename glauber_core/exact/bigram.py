"""Bigram Markov chain law: compatible conditionals over a whole vocabulary, the control of the rectangle test.

P(x) = start[x_0] prod_k A[x_k, x_{k+1}], hence p_i(v | x_-i) ∝ A[x_{i-1}, v] A[v, x_{i+1}] (MATH section 2). Source:
Levin & Peres, "Markov Chains and Mixing Times", chapter 1 and section 3.3 (Gibbs sampler of a given law).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float64, Int
from torch import Tensor

from glauber_core.exact.parts import allowed_mask, bar, fingerprint
from glauber_core.exact.transitions import DenseTransitions, SmoothedCounts, Transitions


class Bigram:
    """A bigram Markov chain law on the ``Conditionals`` protocol, for any number n >= 1 of positions.

    The first position has ``start`` in place of the left factor, the last has no right factor: there is no end token.

    Args:
        transitions: the start and transition laws over V tokens.
        allowed: bool [V], tokens that may be sampled; all if None. The law is then P restricted to sentences of
            allowed tokens; a neighbour outside them still has its row and column.

    Raises:
        UserError: a mask of another length, or fewer than two allowed tokens.
    """

    def __init__(self, transitions: Transitions, allowed: Bool[Tensor, " V"] | None = None) -> None:
        self.transitions = transitions
        self.vocab_size = transitions.vocab_size
        self.allowed = allowed_mask(allowed, self.vocab_size)

    @classmethod
    def from_matrix(
        cls, start: Float64[Tensor, " V"], matrix: Float64[Tensor, "V V"], allowed: Bool[Tensor, " V"] | None = None
    ) -> Bigram:
        """From probabilities; see ``DenseTransitions`` for shapes and errors."""
        return cls(DenseTransitions(start, matrix), allowed)

    @classmethod
    def from_sequences(
        cls,
        sequences: Iterable[Sequence[int] | np.ndarray],
        vocab_size: int,
        allowed: Bool[Tensor, " V"] | None = None,
        strength: float = 20.0,
        backoff: str = "unigram",
    ) -> Bigram:
        """From text as token ids, with smoothed sparse counts; see ``SmoothedCounts.from_sequences``."""
        return cls(SmoothedCounts.from_sequences(sequences, vocab_size, strength, backoff), allowed)

    @property
    def name(self) -> str:
        return f"Bigram Markov chain, {self.vocab_size} tokens"

    @cached_property
    def model_hash(self) -> str:
        return fingerprint("bigram", self.transitions.model_hash, self.allowed)

    def __call__(self, states: Int[Tensor, "B n"], positions: Int[Tensor, " B"]) -> Float64[Tensor, "B V"]:
        """log A[x_{i-1}, v] + log A[v, x_{i+1}], float64 [B, V], nats; -inf where disallowed."""
        n = states.shape[1]
        left = states.gather(1, (positions - 1).clamp_min(0)[:, None])[:, 0]
        right = states.gather(1, (positions + 1).clamp_max(n - 1)[:, None])[:, 0]
        logits = self.transitions.log_rows(left)
        logits[positions == 0] = self.transitions.log_start
        after = self.transitions.log_columns(right)
        after[positions == n - 1] = 0.0
        return bar(logits.add_(after), self.allowed)

    def log_weight(self, states: Int[Tensor, "B n"]) -> Float64[Tensor, " B"]:
        """log P(x) in nats, float64 [B]; P sums to 1 over all V^n sentences, disallowed tokens included."""
        total = self.transitions.log_start[states[:, 0]]
        for k in range(states.shape[1] - 1):
            total = total + self.transitions.log_rows(states[:, k]).gather(1, states[:, k + 1, None])[:, 0]
        return total
