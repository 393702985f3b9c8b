"""How well a causal model predicts each word piece of a sentence from those before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from glauber_core.evaluate.scores import MIN_PIECES, Example, Scores, batches, framed, loss_and_rank, padded


def examples(sentences: Sequence[str], tokenizer: Any, source: str) -> list[Example]:
    """One example per sentence of at least MIN_PIECES pieces, cut after MAX_PIECES; every piece is predicted."""
    encoded, added = framed(sentences, tokenizer)
    return [Example(tuple(ids), -1, len(ids) - added, source) for ids in encoded if len(ids) - added >= MIN_PIECES]


def score(model: Any, cases: Sequence[Example], pad_id: int, rows: int = 16) -> Scores:
    """Score every token after the first ([CLS]) given those before it, [SEP] included.

    Args:
        model: a transformers causal language model in eval mode, or any callable with ``input_ids`` and
            ``attention_mask`` whose result has ``logits`` float [B, L, V].
        cases: sentences.
        pad_id: id of the padding token.
        rows: sentences per forward pass.
    """
    losses, ranks, owners = [], [], []
    for batch in batches(cases, rows):
        ids, attention = padded([cases[i] for i in batch], pad_id)
        with torch.inference_mode():
            logits = model(input_ids=ids, attention_mask=attention).logits[:, :-1]
        real = attention[:, 1:].bool()
        loss, rank = loss_and_rank(logits[real], ids[:, 1:][real])
        losses.append(loss)
        ranks.append(rank)
        owners.append(np.repeat(np.asarray(batch, dtype=np.int64), real.sum(1).numpy()))
    if not losses:
        return Scores(np.empty(0), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
    return Scores(np.concatenate(losses), np.concatenate(ranks), np.concatenate(owners))
