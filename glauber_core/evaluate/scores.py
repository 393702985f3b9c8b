"""Predictions of single tokens and their summary."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Float64, Int64
from torch import Tensor

MAX_PIECES = 62
MIN_PIECES = 3


@dataclass(frozen=True)
class Example:
    """One held-out sentence.

    Attributes:
        ids: token ids with the model's special tokens.
        position: index into ``ids`` of the piece to predict; -1 where every piece is predicted (causal models).
        pieces: length in word pieces, special tokens not counted.
        source: name of the text it comes from.
    """

    ids: tuple[int, ...]
    position: int
    pieces: int
    source: str


@dataclass(frozen=True)
class Scores:
    """Results per predicted piece.

    Attributes:
        loss: float64 [N], -log p(piece | context) in nats over the model's whole vocabulary.
        rank: int64 [N], number of pieces with a larger logit; 0 is a hit.
        example: int64 [N], index of the sentence.
    """

    loss: Float64[np.ndarray, " N"]
    rank: Int64[np.ndarray, " N"]
    example: Int64[np.ndarray, " N"]


@dataclass(frozen=True)
class Summary:
    """Figures of a set of predictions.

    Attributes:
        count: predictions.
        loss: mean in nats.
        loss_error: standard error of that mean; None for one prediction.
        top1, top5: shares in [0, 1] of the predictions with rank below 1 and below 5.
    """

    count: int
    loss: float
    loss_error: float | None
    top1: float
    top5: float


def summarise(scores: Scores, kept: Sequence[bool] | None = None) -> Summary:
    """Summary of the predictions of the sentences for which ``kept`` (by sentence index) is true; all without it.

    Raises:
        ValueError: nothing is left.
    """
    loss, rank = scores.loss, scores.rank
    if kept is not None:
        inside = np.asarray(kept, dtype=bool)[scores.example]
        loss, rank = loss[inside], rank[inside]
    if len(loss) == 0:
        raise ValueError("no predictions to summarise")
    error = float(loss.std(ddof=1)) / math.sqrt(len(loss)) if len(loss) > 1 else None
    return Summary(len(loss), float(loss.mean()), error, float((rank < 1).mean()), float((rank < 5).mean()))


def loss_and_rank(
    logits: Float[Tensor, "B V"], targets: Int64[Tensor, " B"]
) -> tuple[Float64[np.ndarray, " B"], Int64[np.ndarray, " B"]]:
    """-log softmax at the target (nats, computed in float64) and the number of larger logits, per row."""
    wide = logits.double()
    own = wide.gather(1, targets[:, None])
    return (wide.logsumexp(1) - own[:, 0]).numpy(), (wide > own).sum(1).numpy()


def framed(sentences: Sequence[str], tokenizer: Any) -> tuple[list[list[int]], int]:
    """(ids, added): token ids with special tokens, cut after MAX_PIECES pieces, and how many special tokens there are.

    The cut is made here because asking the tokenizer for it would change the tokenizer.
    """
    if not sentences:
        return [], 0
    added = tokenizer.num_special_tokens_to_add()
    encoded = tokenizer(list(sentences), verbose=False)["input_ids"]
    most, end = MAX_PIECES + added, (added + 1) // 2
    return [ids if len(ids) <= most else [*ids[: most - end], *ids[len(ids) - end :]] for ids in encoded], added


def padded(cases: Sequence[Example], pad_id: int) -> tuple[Int64[Tensor, "B L"], Int64[Tensor, "B L"]]:
    """(ids, attention): int64 [B, L], padded on the right; attention is 1 at real tokens."""
    length = max(len(case.ids) for case in cases)
    ids = torch.full((len(cases), length), pad_id, dtype=torch.int64)
    attention = torch.zeros_like(ids)
    for row, case in enumerate(cases):
        ids[row, : len(case.ids)] = torch.tensor(case.ids)
        attention[row, : len(case.ids)] = 1
    return ids, attention


def batches(cases: Sequence[Example], rows: int) -> list[list[int]]:
    """Indices of the cases in batches of similar length."""
    order = sorted(range(len(cases)), key=lambda i: len(cases[i].ids))
    return [order[start : start + rows] for start in range(0, len(order), rows)]
