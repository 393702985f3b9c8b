"""A conditional as a person looks at it: the best tokens, the present one, and how spread it is."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from glauber_core.kernels import log_conditional


class Candidate(NamedTuple):
    """One token of a conditional: id, probability at the chain's tau and at tau = 1, rank (1 = most likely)."""

    token: int
    prob: float
    prob_one: float
    rank: int


class ConditionalView(NamedTuple):
    """A conditional as a person looks at it.

    Attributes:
        top: the most likely tokens, best first.
        current: the present token, or None where it lies outside V.
        entropy, entropy_one: nats, at the chain's tau and at tau = 1.
        other: probability at tau outside ``top``.
        tau: the temperature.
    """

    top: list[Candidate]
    current: Candidate | None
    entropy: float
    entropy_one: float
    other: float
    tau: float


def view(logits: Float[Tensor, "1 V"], own: int, allowed: bool, tau: float, top: int) -> ConditionalView:
    """The view of one conditional.

    Args:
        logits: float [1, V], nats, in main memory.
        own: the present token, and ``allowed``, whether it lies in V.
        tau: the temperature.
        top: how many of the most likely tokens to list.
    """
    both = log_conditional(logits.expand(2, -1), torch.tensor([tau, 1.0], dtype=torch.float64)).exp()
    order = torch.sort(logits[0], descending=True, stable=True).indices
    rank = torch.empty_like(order)
    rank[order] = torch.arange(1, len(order) + 1)
    best = [int(i) for i in order[:top] if bool(torch.isfinite(logits[0, i]))]
    entropy = torch.special.entr(both).sum(dim=1)

    def candidate(token: int) -> Candidate:
        return Candidate(token, float(both[0, token]), float(both[1, token]), int(rank[token]))

    rest = both[0].clone()
    rest[best] = 0.0
    return ConditionalView(
        [candidate(i) for i in best],
        candidate(own) if allowed else None,
        float(entropy[0]),
        float(entropy[1]),
        float(rest.sum()),
        tau,
    )
