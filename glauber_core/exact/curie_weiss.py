"""Mean-field models with a known answer: Curie-Weiss, and Potts with q colours.

Their conditionals depend on the other positions through counts alone. Source: Levin & Peres, "Markov Chains and Mixing
Times", section 3.3.5 and chapter 15 (Ising model, mean-field case); Levin, Luczak & Peres, "Glauber dynamics for the
mean-field Ising model" (2010).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Bool, Float64, Int
from torch import Tensor

from glauber_core.errors import UserError
from glauber_core.exact.parts import allowed_mask, bar, fingerprint


def _check_beta(beta: float) -> None:
    if not (math.isfinite(beta) and beta >= 0):
        raise UserError("The inverse temperature beta must be a finite number, 0 or more.")


@dataclass(frozen=True)
class CurieWeiss:
    """Ising spins on the complete graph, on the ``Conditionals`` protocol.

    Token 0 is spin -1, token 1 is spin +1. H(s) = -(1/n) sum_{i<j} s_i s_j and pi(s) ∝ exp(-beta H(s)), so that
    ``l_i(s | s_-i) = (beta / n) s sum_{j != i} s_j``; the critical beta is 1. n is the length of the state, locked
    positions included.

    Args:
        beta: inverse temperature, finite, >= 0. The kernel's tau divides it once more: the chain's is beta / tau.

    Raises:
        UserError: beta is negative or not finite.
    """

    beta: float

    def __post_init__(self) -> None:
        _check_beta(self.beta)

    @property
    def vocab_size(self) -> int:
        return 2

    @cached_property
    def allowed(self) -> Bool[Tensor, " V"]:
        return torch.ones(2, dtype=torch.bool)

    @property
    def name(self) -> str:
        return f"Curie-Weiss, beta {self.beta:g}"

    @cached_property
    def model_hash(self) -> str:
        return fingerprint("curie-weiss", self.beta)

    def __call__(self, states: Int[Tensor, "B n"], positions: Int[Tensor, " B"]) -> Float64[Tensor, "B V"]:
        """Logits of both spins, float64 [B, 2], in nats up to a constant of the row."""
        spins = 2 * states - 1
        others = spins.sum(dim=1) - spins.gather(1, positions[:, None])[:, 0]
        field = others.double() * (self.beta / states.shape[1])
        return torch.stack((-field, field), dim=1)

    def log_weight(self, states: Int[Tensor, "B n"]) -> Float64[Tensor, " B"]:
        """-beta H(s) in nats, float64 [B]: the log of the joint law up to a constant."""
        n = states.shape[1]
        total = (2 * states - 1).sum(dim=1)
        pairs = (total * total - n).double() / 2  # sum_{i<j} s_i s_j
        return pairs * (self.beta / n)


class Potts:
    """q colours on the complete graph, on the ``Conditionals`` protocol.

    H(x) = -(1/n) sum_{i<j} 1{x_i = x_j} and pi(x) ∝ exp(-beta H(x)), so that ``l_i(v | x_-i) = (beta / n) N_v``, N_v
    the number of other positions of colour v. With two colours it is Curie-Weiss at half this beta, because
    s_i s_j = 2 * 1{x_i = x_j} - 1.

    Args:
        colours: q, the size of the vocabulary, >= 2.
        beta: inverse temperature, finite, >= 0.
        allowed: bool [q], the colours that may be sampled; all if None. The law is then the one above restricted to
            states of allowed colours.

    Raises:
        UserError: fewer than two colours, a bad beta or a bad mask.
    """

    def __init__(self, colours: int, beta: float, allowed: Bool[Tensor, " V"] | None = None) -> None:
        if colours < 2:
            raise UserError("The Potts model needs at least two colours.")
        _check_beta(beta)
        self.vocab_size, self.beta = colours, beta
        self.allowed = allowed_mask(allowed, colours)

    @property
    def name(self) -> str:
        return f"Potts, {self.vocab_size} colours, beta {self.beta:g}"

    @cached_property
    def model_hash(self) -> str:
        return fingerprint("potts", self.vocab_size, self.beta, self.allowed)

    def __call__(self, states: Int[Tensor, "B n"], positions: Int[Tensor, " B"]) -> Float64[Tensor, "B V"]:
        """Logits of all colours, float64 [B, q], in nats up to a constant of the row; -inf where disallowed."""
        counts = self._counts(states)
        own = states.gather(1, positions[:, None])
        counts.scatter_add_(1, own, torch.full_like(own, -1, dtype=torch.float64))
        return bar(counts * (self.beta / states.shape[1]), self.allowed)

    def log_weight(self, states: Int[Tensor, "B n"]) -> Float64[Tensor, " B"]:
        """-beta H(x) in nats, float64 [B]: the log of the joint law up to a constant."""
        counts = self._counts(states)
        return (counts * (counts - 1)).sum(dim=1) / 2 * (self.beta / states.shape[1])

    def _counts(self, states: Int[Tensor, "B n"]) -> Float64[Tensor, "B V"]:
        zeros = torch.zeros(len(states), self.vocab_size, dtype=torch.float64)
        return zeros.scatter_add_(1, states, torch.ones_like(states, dtype=torch.float64))
