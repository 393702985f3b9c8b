"""Conditionals written out in full: those of a given joint law, and arbitrary ones that belong to no joint law.

Source: arXiv 2605.16378, section 2 (conditionals that need not be compatible); Levin & Peres, "Markov Chains and
Mixing Times", section 3.3 (Glauber dynamics of a given law).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Bool, Float64, Int, Int64
from torch import Tensor

from glauber_core.errors import UserError
from glauber_core.exact.parts import allowed_mask, bar, fingerprint

MAX_ENTRIES = 2**22  # float64 numbers of one table: 32 MiB


def _check_size(n: int, vocab_size: int, entries: int) -> None:
    if n < 1 or vocab_size < 2:
        raise UserError("A table needs at least one position and two tokens.")
    if entries > MAX_ENTRIES:
        raise UserError(f"A table of {entries} numbers is too large (at most {MAX_ENTRIES}): take fewer positions.")


def _check_length(states: Tensor, n: int) -> None:
    if states.shape[1] != n:
        raise UserError(f"This table is for {n} positions, but the sentence has {states.shape[1]}.")


class JointTable:
    """The conditionals of a positive joint law on V^n, on the ``Conditionals`` protocol.

    Args:
        log_weights: float64 [V, ..., V] (n axes), log of the law up to a constant, in nats; finite everywhere, also at
            states that hold a disallowed token, because a chain may start there.
        allowed: bool [V], tokens that may be sampled; all if None. The law is then the joint restricted to allowed^n.

    Raises:
        UserError: axes of different length, a weight that is not finite, a table that is too large, or a bad mask.
    """

    def __init__(self, log_weights: Float64[Tensor, "*axes"], allowed: Bool[Tensor, " V"] | None = None) -> None:
        self.n, self.vocab_size = log_weights.dim(), log_weights.shape[0] if log_weights.dim() else 0
        if any(size != self.vocab_size for size in log_weights.shape):
            raise UserError("Every axis of a joint table must have the length of the vocabulary.")
        _check_size(self.n, self.vocab_size, log_weights.numel())
        if not bool(torch.isfinite(log_weights).all()):
            raise UserError("A joint law must be positive everywhere: every log weight must be finite.")
        self._log_weights = log_weights.flatten().clone()
        self._places = torch.tensor([self.vocab_size**k for k in reversed(range(self.n))])
        self.allowed = allowed_mask(allowed, self.vocab_size)

    @classmethod
    def random(
        cls,
        n: int,
        vocab_size: int,
        rng: np.random.Generator,
        scale: float = 1.0,
        allowed: Bool[Tensor, " V"] | None = None,
    ) -> JointTable:
        """Log weights ``scale`` times standard normal, from the generator given. Raises UserError as the class does."""
        _check_size(n, vocab_size, vocab_size**n)
        return cls(torch.from_numpy(scale * rng.standard_normal((vocab_size,) * n)), allowed)

    @property
    def name(self) -> str:
        return f"Joint table, {self.vocab_size}^{self.n} states"

    @cached_property
    def model_hash(self) -> str:
        return fingerprint("joint-table", self.n, self.vocab_size, self._log_weights, self.allowed)

    def __call__(self, states: Int[Tensor, "B n"], positions: Int[Tensor, " B"]) -> Float64[Tensor, "B V"]:
        """log pi(x with v at i), float64 [B, V], nats; -inf where disallowed. Raises UserError: another n."""
        _check_length(states, self.n)
        place = self._places[positions]
        base = states @ self._places - states.gather(1, positions[:, None])[:, 0] * place
        return bar(self._log_weights[base[:, None] + place[:, None] * torch.arange(self.vocab_size)], self.allowed)

    def log_weight(self, states: Int[Tensor, "B n"]) -> Float64[Tensor, " B"]:
        """log pi(x) up to a constant, float64 [B], nats. Raises UserError: another n."""
        _check_length(states, self.n)
        return self._log_weights[states @ self._places]


class ConditionalTable:
    """Arbitrary one-position conditionals on V^n, in general those of no joint law, on the ``Conditionals`` protocol.

    Args:
        logits: float64 [n, V^(n-1), V], ``logits[i, c, v]`` = l_i(v | x_-i) in nats, c the code of x_-i: the other
            positions in order, read as digits of base V, the leftmost the most significant. Finite everywhere.
        allowed: bool [V], tokens that may be sampled; all if None.

    Raises:
        UserError: a shape that does not fit, a logit that is not finite, a table that is too large, or a bad mask.
    """

    def __init__(self, logits: Float64[Tensor, "n C V"], allowed: Bool[Tensor, " V"] | None = None) -> None:
        self.n, contexts, self.vocab_size = logits.shape
        _check_size(self.n, self.vocab_size, logits.numel())
        if contexts != self.vocab_size ** (self.n - 1):
            raise UserError("A conditional table needs one row for each state of the other positions.")
        if not bool(torch.isfinite(logits).all()):
            raise UserError("Every logit of a conditional table must be finite.")
        self._logits = logits.clone()
        self._weights = _context_weights(self.n, self.vocab_size)
        self.allowed = allowed_mask(allowed, self.vocab_size)

    @classmethod
    def random(
        cls,
        n: int,
        vocab_size: int,
        rng: np.random.Generator,
        scale: float = 1.0,
        allowed: Bool[Tensor, " V"] | None = None,
    ) -> ConditionalTable:
        """Independent logits ``scale`` times standard normal: incompatible with probability 1 if n >= 2.

        Raises UserError as the class does.
        """
        _check_size(n, vocab_size, n * vocab_size**n)
        return cls(torch.from_numpy(scale * rng.standard_normal((n, vocab_size ** (n - 1), vocab_size))), allowed)

    def with_trap(self, state: Sequence[int], exit_rate: float, tau: float = 1.0) -> ConditionalTable:
        """This table with one state turned into a trap of a stated exit rate.

        At each position the logit of the state's own token is raised (or lowered) until its conditional at ``tau``
        leaves the total probability ``exit_rate`` to the other allowed tokens; so q(x) = ``exit_rate`` (MATH section
        4) and, because other logits stay, the way out is still the table's own. The same token's logit changes for
        every token at the read position: a conditional does not see it.

        Args:
            state: n allowed tokens.
            exit_rate: q, above 0 and below 1; 1e-18 is fine.
            tau: temperature at which the rate holds, finite and > 0.

        Raises:
            UserError: a state that does not fit, or a rate or temperature outside its range.
        """
        if len(state) != self.n or not all(0 <= t < self.vocab_size and bool(self.allowed[t]) for t in state):
            raise UserError(f"A trap needs {self.n} allowed tokens.")
        if not (0 < exit_rate < 1 and math.isfinite(tau) and tau > 0):
            raise UserError("A trap needs an exit rate between 0 and 1 and a finite temperature above 0.")
        logits = self._logits.clone()
        own = torch.tensor([state])
        for i, token in enumerate(state):
            row = logits[i, int(self._context(own, torch.tensor([i]))[0])]
            rivals = self.allowed.clone()
            rivals[token] = False
            mass = torch.logsumexp(row[rivals] / tau, dim=0)
            row[token] = tau * (mass + math.log1p(-exit_rate) - math.log(exit_rate))
        return ConditionalTable(logits, self.allowed)

    @property
    def name(self) -> str:
        return f"Conditional table, {self.vocab_size}^{self.n} states"

    @cached_property
    def model_hash(self) -> str:
        return fingerprint("conditional-table", self._logits, self.allowed)

    def __call__(self, states: Int[Tensor, "B n"], positions: Int[Tensor, " B"]) -> Float64[Tensor, "B V"]:
        """l_i(. | x_-i), float64 [B, V], nats; -inf where disallowed. Raises UserError: another n."""
        _check_length(states, self.n)
        return bar(self._logits[positions, self._context(states, positions)], self.allowed)

    def _context(self, states: Int[Tensor, "B n"], positions: Int[Tensor, " B"]) -> Int64[Tensor, " B"]:
        return (states * self._weights[positions]).sum(dim=1)


def _context_weights(n: int, vocab_size: int) -> Int64[Tensor, "n n"]:
    """``weights[i, k]``: place value of position k in the code of x_-i; 0 at k = i."""
    weights = torch.zeros(n, n, dtype=torch.int64)
    for i in range(n):
        others = [k for k in range(n) if k != i]
        for power, k in enumerate(reversed(others)):
            weights[i, k] = vocab_size**power
    return weights
