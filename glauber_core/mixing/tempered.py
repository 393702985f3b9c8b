"""Tempered conditionals at the canonical shape, each row a function of its own sentence and position alone."""

from __future__ import annotations

import torch
from jaxtyping import Float64, Int64
from torch import Tensor

from glauber_core.kernels import log_conditional
from glauber_core.service.cache import ConditionalCache, Key
from glauber_core.shape import EvaluationShape, fills_up, groups, threads
from glauber_core.types import Conditionals

CACHE_BYTES = 256 * 2**20


class Tempered:
    """p_i^tau(. | x_-i) of a model, in calls of exactly ``shape.rows`` rows; rows that were read before are kept.

    A row does not depend on what it is read together with, nor on whether it was found in the cache (``shape``).

    Args:
        conditionals: the model.
        shape: canonical evaluation shape.
        limit: bytes of rows kept at most; 0 keeps nothing. A cold pair asks for the same rows again and again.
    """

    def __init__(self, conditionals: Conditionals, shape: EvaluationShape, limit: int = CACHE_BYTES) -> None:
        self.conditionals, self.shape, self.cache = conditionals, shape, ConditionalCache(limit)

    def __call__(
        self, states: Int64[Tensor, "B n"], positions: Int64[Tensor, " B"], tau: Float64[Tensor, " B"]
    ) -> Float64[Tensor, "B V"]:
        """Probabilities float64 [B, V], on the model's device, B >= 1; ``tau`` float64 [B], >= 0."""
        if self.cache.limit == 0:
            return self._read(states, positions, tau)
        keys = _keys(states, positions, tau)
        found: dict[Key, Tensor] = {}
        missing: dict[Key, int] = {}
        for k, key in enumerate(keys):
            if key in found or key in missing:
                continue
            row = self.cache.get(key)
            if row is None:
                missing[key] = k
            else:
                found[key] = row
        if missing:
            rows = list(missing.values())
            for key, row in zip(missing, self._read(states[rows], positions[rows], tau[rows]), strict=True):
                found[key] = row
                self.cache.put(key, row)
        return torch.stack([found[key] for key in keys])

    def _read(
        self, states: Int64[Tensor, "B n"], positions: Int64[Tensor, " B"], tau: Float64[Tensor, " B"]
    ) -> Float64[Tensor, "B V"]:
        if fills_up(self.conditionals):
            logits = self.conditionals(states, positions)
            each = tau.to(logits.device)
            one = [log_conditional(logits[k : k + 1], each[k : k + 1]).exp() for k in range(len(logits))]
            return torch.cat(one)
        parts = []
        with threads(self.shape.threads):
            for rows, real in groups(len(states), self.shape.rows):
                logits = self.conditionals(states[rows], positions[rows])
                parts.append(log_conditional(logits, tau[rows].to(logits.device)).exp()[:real])
        return torch.cat(parts)


def _keys(states: Int64[Tensor, "B n"], positions: Int64[Tensor, " B"], tau: Float64[Tensor, " B"]) -> list[Key]:
    """What each row depends on: the token at the position it reads is not part of it."""
    others = states.to(torch.int32).clone()
    others[torch.arange(len(others)), positions] = -1
    tokens = [row.tobytes() for row in others.numpy()]
    return [Key("", repr(t), i, row) for t, i, row in zip(tau.tolist(), positions.tolist(), tokens, strict=True)]
