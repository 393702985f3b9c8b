"""How well a masked model predicts one hidden word piece per sentence."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from glauber_core.evaluate.scores import MIN_PIECES, Example, Scores, batches, framed, loss_and_rank, padded


def examples(sentences: Sequence[str], tokenizer: Any, source: str, seed: int = 0) -> list[Example]:
    """One example per sentence of at least MIN_PIECES pieces that can be hidden; sentences are cut after MAX_PIECES.

    The position is uniform over the pieces that are not special tokens ([UNK] is one), drawn from a generator keyed by
    (seed, CRC-32 of the sentence): it depends neither on the order nor on the other sentences.

    Args:
        sentences: text.
        tokenizer: a transformers tokenizer that adds special tokens at both ends.
        source: name of the text.
        seed: of the positions.
    """
    special = set(tokenizer.all_special_ids)
    encoded, added = framed(sentences, tokenizer)
    found = []
    for sentence, ids in zip(sentences, encoded, strict=True):
        places = [i for i, token in enumerate(ids) if token not in special]
        if len(places) >= MIN_PIECES:
            rng = np.random.default_rng([seed, zlib.crc32(sentence.encode())])
            position = places[int(rng.integers(len(places)))]
            found.append(Example(tuple(ids), position, len(ids) - added, source))
    return found


def score(model: Any, cases: Sequence[Example], mask_id: int, pad_id: int, rows: int = 32) -> Scores:
    """Score every example with its position masked; one prediction per example, in their order.

    Args:
        model: a transformers masked language model in eval mode, or any callable with ``input_ids`` and
            ``attention_mask`` whose result has ``logits`` float [B, L, V].
        cases: sentences with a position.
        mask_id, pad_id: ids of the mask and the padding token.
        rows: sentences per forward pass.
    """
    loss = np.empty(len(cases), dtype=np.float64)
    rank = np.empty(len(cases), dtype=np.int64)
    for batch in batches(cases, rows):
        ids, attention = padded([cases[i] for i in batch], pad_id)
        at = torch.arange(len(batch)), torch.tensor([cases[i].position for i in batch])
        targets = ids[at].clone()
        ids[at] = mask_id
        with torch.inference_mode():
            if head := getattr(model, "cls", getattr(model, "lm_head", None)):
                # BERT's and RoBERTa's head acts per position: all but one row of each sentence would be wasted.
                logits = head(model.base_model(input_ids=ids, attention_mask=attention)[0][at])
            else:
                logits = model(input_ids=ids, attention_mask=attention).logits[at]
        loss[batch], rank[batch] = loss_and_rank(logits, targets)
    return Scores(loss, rank, np.arange(len(cases), dtype=np.int64))
