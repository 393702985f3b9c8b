"""Token-to-token transition laws: a dense matrix, and smoothed sparse counts for vocabularies of tens of thousands.

Both give log A[u, .] (a row), log A[., w] (a column) and the log of the first token's law, each O(V) a row.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float64, Int, Int64
from scipy.sparse import csr_array
from torch import Tensor

from glauber_core.errors import UserError
from glauber_core.exact.parts import fingerprint

BACKOFFS = ("unigram", "uniform")
_BLOCK = 1 << 22  # tokens counted at a time


@runtime_checkable
class Transitions(Protocol):
    """A positive Markov transition law on V tokens; all values are natural logs of probabilities."""

    @property
    def vocab_size(self) -> int: ...

    @property
    def model_hash(self) -> str: ...

    @property
    def log_start(self) -> Float64[Tensor, " V"]:
        """float64 [V]: log start[v]."""
        ...

    def log_rows(self, tokens: Int[Tensor, " B"]) -> Float64[Tensor, "B V"]:
        """float64 [B, V]: log A[tokens[b], v]."""
        ...

    def log_columns(self, tokens: Int[Tensor, " B"]) -> Float64[Tensor, "B V"]:
        """float64 [B, V]: log A[v, tokens[b]]."""
        ...


class DenseTransitions:
    """A start law and a matrix, kept as V + V^2 float64 numbers.

    Args:
        start: float64 [V], positive, sums to 1.
        matrix: float64 [V, V], positive, every row sums to 1; ``matrix[u, v]`` is the probability of v after u.

    Raises:
        UserError: fewer than two tokens, a probability that is not positive and finite, or a sum away from 1.
    """

    def __init__(self, start: Float64[Tensor, " V"], matrix: Float64[Tensor, "V V"]) -> None:
        if len(start) < 2:
            raise UserError("A bigram model needs at least two tokens.")
        for law in (start[None], matrix):
            if not bool((torch.isfinite(law) & (law > 0)).all()):
                raise UserError("Every start and transition probability must be positive and finite.")
            if bool(((law.sum(dim=1) - 1).abs() > 1e-9).any()):
                raise UserError("The start probabilities and every row of the transition matrix must sum to 1.")
        self.vocab_size = len(start)
        self.log_start = start.log()
        self._log_matrix = matrix.log()
        self.model_hash = fingerprint("dense-transitions", start, matrix)

    def log_rows(self, tokens: Int[Tensor, " B"]) -> Float64[Tensor, "B V"]:
        """float64 [B, V]: log A[tokens[b], v]."""
        return self._log_matrix[tokens]

    def log_columns(self, tokens: Int[Tensor, " B"]) -> Float64[Tensor, "B V"]:
        """float64 [B, V]: log A[v, tokens[b]]."""
        return self._log_matrix.T[tokens]


class SmoothedCounts:
    """Transition law of counted token pairs, each row smoothed towards a backoff law b.

    ``A[u, v] = (c(u, v) + s b(v)) / (c(u) + s)`` and ``start[v] = (c_0(v) + s b(v)) / (c_0 + s)``: Dirichlet smoothing
    with s pseudo-counts a row (MacKay & Peto, "A hierarchical Dirichlet language model", 1995). A uniform b with
    s = V a is the usual "add a". Memory is that of the pairs seen, stored by row and by column; a row costs O(V).

    Args:
        counts: scipy sparse [V, V] of whole numbers >= 0, c(u, v): how often v followed u.
        starts: int64 [V], c_0: how often each token came first, >= 0.
        backoff: float64 [V], b: positive, sums to 1.
        strength: s, pseudo-counts a row, finite and > 0.

    Raises:
        UserError: shapes that do not fit, a negative count, a bad backoff law or a bad strength.
    """

    def __init__(
        self, counts: Any, starts: Int64[np.ndarray, " V"], backoff: Float64[np.ndarray, " V"], strength: float
    ) -> None:
        if counts.shape != (len(starts), len(starts)) or len(starts) < 2:
            raise UserError("The pair counts must be a square matrix over the tokens of the start counts, two or more.")
        if not (math.isfinite(strength) and strength > 0):
            raise UserError("The smoothing strength must be a finite number above 0.")
        if not (np.isfinite(backoff) & (backoff > 0)).all() or abs(backoff.sum() - 1) > 1e-9:
            raise UserError("The backoff probabilities must be positive and sum to 1.")
        self._rows = csr_array(counts, dtype=np.int64)
        self._rows.sum_duplicates()
        self._rows.eliminate_zeros()
        if (self._rows.data < 0).any() or (starts < 0).any():
            raise UserError("A count cannot be negative.")
        self._columns = csr_array(self._rows.T)
        self.vocab_size, self.strength = len(starts), strength
        self._starts, self._prior = starts.copy(), strength * backoff
        self._log_totals = np.log(np.asarray(self._rows.sum(axis=1)) + strength)
        self.log_start = torch.from_numpy(np.log(starts + self._prior) - math.log(starts.sum() + strength))

    @classmethod
    def from_sequences(
        cls,
        sequences: Iterable[Sequence[int] | np.ndarray],
        vocab_size: int,
        strength: float = 20.0,
        backoff: str = "unigram",
        additive: float = 0.5,
    ) -> SmoothedCounts:
        """Count the pairs inside each sequence of token ids; empty sequences are skipped.

        Args:
            sequences: token ids; read once, so a generator over a large text will do.
            vocab_size: V, >= 2.
            strength: s, pseudo-counts a row.
            backoff: ``unigram`` (b(v) ∝ count of v + ``additive``) or ``uniform``.
            additive: pseudo-count of each token in the unigram law, > 0: a token never seen keeps a probability.

        Raises:
            UserError: no token at all, ids outside 0 .. V - 1, or a bad smoothing.
        """
        if vocab_size < 2:
            raise UserError("A bigram model needs at least two tokens.")
        if backoff not in BACKOFFS:
            raise UserError(f"Unknown backoff; choose one of {', '.join(BACKOFFS)}.")
        if not (math.isfinite(additive) and additive > 0):
            raise UserError("The additive smoothing of the unigram law must be a finite number above 0.")
        starts, unigrams = np.zeros(vocab_size, dtype=np.int64), np.zeros(vocab_size, dtype=np.int64)
        counts: Any = csr_array((vocab_size, vocab_size), dtype=np.int64)
        for block in _blocks(sequences):
            tokens = np.concatenate(block)
            if tokens.min() < 0 or tokens.max() >= vocab_size:
                raise UserError(f"The text holds a token id outside 0 to {vocab_size - 1}.")
            first = np.cumsum([0, *map(len, block[:-1])])
            starts += np.bincount(tokens[first], minlength=vocab_size)
            unigrams += np.bincount(tokens, minlength=vocab_size)
            inside = np.ones(len(tokens) - 1, dtype=bool)
            inside[first[1:] - 1] = False  # no pair runs from one sequence into the next
            pairs = (tokens[:-1][inside], tokens[1:][inside])
            counts = counts + csr_array((np.ones(len(pairs[0]), dtype=np.int64), pairs), shape=counts.shape)
        if not unigrams.any():
            raise UserError("There is no token to count.")
        law = unigrams + additive if backoff == "unigram" else np.ones(vocab_size)
        return cls(counts, starts, law / law.sum(), strength)

    @cached_property
    def model_hash(self) -> str:
        heads, tokens = (part.astype(np.int64) for part in (self._rows.indptr, self._rows.indices))
        return fingerprint("smoothed-counts", heads, tokens, self._rows.data, self._starts, self._prior)

    def log_rows(self, tokens: Int[Tensor, " B"]) -> Float64[Tensor, "B V"]:
        """float64 [B, V]: log A[tokens[b], v]."""
        chosen = tokens.numpy()
        return torch.from_numpy(np.log(self._rows[chosen].toarray() + self._prior) - self._log_totals[chosen, None])

    def log_columns(self, tokens: Int[Tensor, " B"]) -> Float64[Tensor, "B V"]:
        """float64 [B, V]: log A[v, tokens[b]]."""
        chosen = tokens.numpy()
        joint = np.log(self._columns[chosen].toarray() + self._prior[chosen, None])
        return torch.from_numpy(joint - self._log_totals)

    def dense(self) -> DenseTransitions:
        """The same law as a dense matrix: V^2 numbers, for small V."""
        every = torch.arange(self.vocab_size)
        matrix, start = self.log_rows(every).exp(), self.log_start.exp()
        return DenseTransitions(start, matrix)


def _blocks(sequences: Iterable[Sequence[int] | np.ndarray]) -> Iterator[list[np.ndarray]]:
    """Non-empty sequences as int64 arrays, in lists of about ``_BLOCK`` tokens."""
    block: list[np.ndarray] = []
    size = 0
    for sequence in sequences:
        if len(sequence):
            block.append(np.asarray(sequence, dtype=np.int64))
            size += len(sequence)
        if size >= _BLOCK:
            yield block
            block, size = [], 0
    if block:
        yield block
