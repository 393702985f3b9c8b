"""The two interfaces that models, exact or neural, offer: one-position conditionals, or a joint law."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from jaxtyping import Bool, Float, Float64, Int
from torch import Tensor


@runtime_checkable
class Conditionals(Protocol):
    """One-position conditionals of a law on sentences, or of no law at all (arXiv 2605.16378, section 2).

    A state is a row of ``n`` token ids; the model's own fixed context ([CLS], [SEP], ...) is not part of it.

    Attributes:
        vocab_size: V, the number of token ids, disallowed ones included.
        allowed: bool [V], the tokens that may be sampled (V of MATH, the *allowed* vocabulary).
    """

    @property
    def vocab_size(self) -> int: ...

    @property
    def allowed(self) -> Bool[Tensor, " V"]: ...

    def __call__(self, states: Int[Tensor, "B n"], positions: Int[Tensor, " B"]) -> Float[Tensor, "B V"]:
        """Logits ``l_i(v | x_-i)``, in nats up to an additive constant of the row.

        Args:
            states: int64 [B, n], token ids; the token at the read position does not influence the result.
            positions: int64 [B], the position i that row b reads, 0 <= i < n.

        Returns:
            float [B, V], on the model's device; ``-inf`` exactly at the disallowed tokens.
        """
        ...


@runtime_checkable
class JointLaw(Protocol):
    """A law on sentences given outright; its conditionals follow, and every rectangle has curl 0 (MATH section 2).

    ``log p_i(a' | x_-i) - log p_i(a | x_-i) = log P(x^{i->a'}) - log P(x^{i->a})``. States are as in ``Conditionals``.

    Attributes:
        vocab_size: V, the number of token ids, disallowed ones included.
        allowed: bool [V], the tokens that may be sampled.
    """

    @property
    def vocab_size(self) -> int: ...

    @property
    def allowed(self) -> Bool[Tensor, " V"]: ...

    def log_joint(self, states: Int[Tensor, "B n"]) -> Float64[Tensor, " B"]:
        """Log P(x) of each row, in nats, up to a constant that sentences of one length share.

        Args:
            states: int64 [B, n], token ids in 0 .. V-1.

        Returns:
            float64 [B], on the CPU.
        """
        ...
