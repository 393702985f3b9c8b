"""Exponential average of the weights (Polyak & Juditsky 1992, with forgetting)."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Average:
    """``a <- d a + (1 - d) w`` per step, applied every few steps with ``d**every`` to save memory traffic.

    Args:
        model: its present parameters are the first average.
        decay: d, per step, in [0, 1).
        every: steps between updates.

    Attributes:
        weights: the averages, by parameter name.
    """

    def __init__(self, model: nn.Module, decay: float, every: int = 4) -> None:
        self.weights: dict[str, Tensor] = {name: p.detach().clone() for name, p in model.named_parameters()}
        self._decay = decay
        self._every = every

    @torch.no_grad()
    def update(self, model: nn.Module, step: int) -> None:
        """Take in the weights after ``step`` steps."""
        if step % self._every:
            return
        for name, parameter in model.named_parameters():
            self.weights[name].lerp_(parameter, 1 - self._decay**self._every)

    def load(self, weights: dict[str, Tensor]) -> None:
        """Continue from stored averages. Raises KeyError for a name that the model does not have."""
        for name, value in weights.items():
            self.weights[name].copy_(value)
