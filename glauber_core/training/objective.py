"""The two losses: predict masked tokens from both sides, or the next token from the left."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Float32, Int64
from torch import Tensor, nn

from glauber_core.training.masking import IGNORED, mask
from glauber_core.training.packing import Rows, attention_mask


class MaskedObjective(nn.Module):
    """Mean cross-entropy at the masked positions of a BERT; only those pass through the vocabulary head."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(
        self,
        inputs: Int64[Tensor, "R L"],
        allowed: Float32[Tensor, "R 1 L L"],
        positions: Int64[Tensor, "R L"],
        chosen: Int64[Tensor, " K"],
        labels: Int64[Tensor, " K"],
    ) -> Float[Tensor, ""]:
        """Loss in nats, a scalar.

        Args:
            inputs: int64 [R, L], masked ids.
            allowed: float32 [R, 1, L, L], additive attention mask.
            positions: int64 [R, L], position ids.
            chosen: int64 [K], flat indices of the predicted positions.
            labels: int64 [K], IGNORED at unused places.
        """
        hidden = self.model.bert(input_ids=inputs, attention_mask=allowed, position_ids=positions)[0]
        logits = self.model.cls(hidden.flatten(0, 1)[chosen])
        return F.cross_entropy(logits.float(), labels, ignore_index=IGNORED)


class CausalObjective(nn.Module):
    """Mean cross-entropy of each token given those before it in its passage; [CLS] opens, [SEP] is predicted."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(
        self,
        inputs: Int64[Tensor, "R L"],
        allowed: Float32[Tensor, "R 1 L L"],
        positions: Int64[Tensor, "R L"],
        labels: Int64[Tensor, "R L"],
    ) -> Float[Tensor, ""]:
        """Loss in nats, a scalar; ``labels`` int64 [R, L] holds the next token, IGNORED where there is none."""
        hidden = self.model.transformer(
            input_ids=inputs, attention_mask=allowed, position_ids=positions, use_cache=False
        )[0]
        logits = self.model.lm_head(hidden)
        return F.cross_entropy(logits.flatten(0, 1).float(), labels.flatten(), ignore_index=IGNORED)


def masked_inputs(
    rows: Rows, tokenizer: Any, vocabulary: Int64[Tensor, " A"], rate: float, generator: torch.Generator
) -> dict[str, Tensor]:
    """Arguments of ``MaskedObjective`` for one batch; special tokens, [UNK] among them, are never predicted."""
    eligible = ~torch.isin(rows.ids, torch.tensor(tokenizer.all_special_ids))
    masked = mask(rows.ids, eligible, vocabulary, tokenizer.mask_token_id, rate, generator)
    return {
        "inputs": masked.inputs,
        "allowed": attention_mask(rows.segments),
        "positions": rows.positions,
        "chosen": masked.chosen,
        "labels": masked.labels,
    }


def causal_inputs(rows: Rows) -> dict[str, Tensor]:
    """Arguments of ``CausalObjective`` for one batch."""
    labels = torch.full_like(rows.ids, IGNORED)
    same = (rows.segments[:, 1:] == rows.segments[:, :-1]) & (rows.segments[:, 1:] >= 0)
    labels[:, :-1] = torch.where(same, rows.ids[:, 1:], IGNORED)
    return {
        "inputs": rows.ids,
        "allowed": attention_mask(rows.segments, causal=True),
        "positions": rows.positions,
        "labels": labels,
    }
