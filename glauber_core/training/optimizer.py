"""AdamW with a learning rate per part of the model."""

from __future__ import annotations

from typing import Any

import torch

from glauber_core.training.config import Config


def build_optimizer(model: Any, config: Config) -> torch.optim.AdamW:
    """AdamW(0.9, 0.98) with the peak rate of each group under ``peak``; vectors (biases, norms) do not decay.

    Embedding tables, tied output matrix included, form one group; the rest of the vocabulary head another.
    """
    tables = {id(p) for m in model.modules() if isinstance(m, torch.nn.Embedding) for p in m.parameters()}
    body = {id(p) for p in model.base_model.parameters()}
    groups: dict[tuple[float, float], list[torch.nn.Parameter]] = {}
    for parameter in model.parameters():
        if id(parameter) in tables:
            rate = config.embedding_rate
        else:
            rate = config.encoder_rate if id(parameter) in body else config.head_rate
        decay = config.weight_decay if parameter.ndim > 1 else 0.0
        groups.setdefault((rate, decay), []).append(parameter)
    return torch.optim.AdamW(
        [{"params": p, "lr": rate, "peak": rate, "weight_decay": decay} for (rate, decay), p in groups.items()],
        betas=(0.9, 0.98), eps=1e-8, fused=True,
    )  # fmt: skip
