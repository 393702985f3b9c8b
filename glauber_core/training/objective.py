"""The two losses: predict masked tokens from both sides, or the next token from the left."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from glauber_core.training.masking import IGNORED, mask
from glauber_core.training.packing import Rows, attention_mask


class MaskedObjective(nn.Module):
    """Mean cross-entropy at the masked positions; only those pass through the vocabulary head."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, inputs: Tensor, allowed: Tensor, positions: Tensor, chosen: Tensor, labels: Tensor) -> Tensor:
        """Loss in nats, a scalar.

        Args:
            inputs: int64 [R, L], masked ids.
            allowed: bool [R, 1, L, L], who reads whom.
            positions: int64 [R, L].
            chosen: int64 [K], flat indices.
            labels: int64 [K], IGNORED at unused places.
        """
        hidden = self.model.base_model(input_ids=inputs, attention_mask=allowed, position_ids=positions)[0]
        logits = vocabulary_head(self.model)(hidden.flatten(0, 1)[chosen])
        return F.cross_entropy(logits.float(), labels, ignore_index=IGNORED)


class CausalObjective(nn.Module):
    """Mean cross-entropy of each token given those before it in its passage; [CLS] opens, [SEP] is predicted."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, inputs: Tensor, allowed: Tensor, positions: Tensor, labels: Tensor) -> Tensor:
        """Loss in nats, a scalar; ``labels`` int64 [R, L] holds the next token, IGNORED where there is none."""
        hidden = self.model.base_model(input_ids=inputs, attention_mask=allowed, position_ids=positions)[0]
        logits = self.model.lm_head(hidden)
        return F.cross_entropy(logits.flatten(0, 1).float(), labels.flatten(), ignore_index=IGNORED)


def vocabulary_head(model: Any) -> nn.Module:
    """The map from hidden states to vocabulary logits, whatever the architecture calls it (BERT: ``cls``)."""
    for name in ("cls", "lm_head"):
        if hasattr(model, name):
            return getattr(model, name)
    raise TypeError(f"{type(model).__name__} has no known vocabulary head")


def masked_inputs(rows: Rows, tokenizer: Any, vocabulary: Tensor, rate: float,
                  generator: torch.Generator) -> dict[str, Tensor]:  # fmt: skip
    """Arguments of :class:`MaskedObjective` for one batch; special tokens and [UNK] are never predicted."""
    eligible = ~torch.isin(rows.ids, torch.tensor(tokenizer.all_special_ids))
    masked = mask(rows.ids, eligible, vocabulary, tokenizer.mask_token_id, rate, generator)
    return {"inputs": masked.inputs, "allowed": attention_mask(rows.segments), "positions": rows.positions,
            "chosen": masked.chosen, "labels": masked.labels}  # fmt: skip


def causal_inputs(rows: Rows) -> dict[str, Tensor]:
    """Arguments of :class:`CausalObjective` for one batch."""
    labels = torch.full_like(rows.ids, IGNORED)
    same = (rows.segments[:, 1:] == rows.segments[:, :-1]) & (rows.segments[:, 1:] >= 0)
    labels[:, :-1] = torch.where(same, rows.ids[:, 1:], IGNORED)
    return {"inputs": rows.ids, "allowed": attention_mask(rows.segments, causal=True), "positions": rows.positions,
            "labels": labels}  # fmt: skip
