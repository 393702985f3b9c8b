"""The order of the training data: a pure function of (seed, epoch, batch index), which makes resuming exact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from glauber_core.training.data import Sentences, passages
from glauber_core.training.packing import Rows, lay_out, pack


class Stream:
    """Batches of packed rows, epoch after epoch.

    Every epoch holds each token of ``texts`` once and, if there are ``replay`` texts, a fresh random subset of their
    passages that makes up ``replay_share`` of the epoch's tokens (all of them if they are fewer).

    Args:
        texts: sentences per file.
        replay: sentences of files that the starting model has already seen.
        tokenizer: gives the ids of [CLS], [SEP] and [PAD].
        shape: (rows per batch, row length).
        replay_share: share of an epoch's tokens, 0 <= share < 1.
        single_share: share of the starts at which a sentence stands alone.
        seed: of the order.
    """

    def __init__(self, texts: Sequence[Sentences], replay: Sequence[Sentences], tokenizer: Any,
                 shape: tuple[int, int], replay_share: float, single_share: float, seed: int) -> None:  # fmt: skip
        self.shape = shape
        self._files = [*texts, *replay]
        self._fresh = len(texts)
        self._replay_share = replay_share
        self._single_share = single_share
        self._seed = seed
        self._special = (tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.pad_token_id)
        self._epoch = -1

    def batches(self, epoch: int) -> int:
        """Number of batches in an epoch; the last may end with empty rows."""
        self._prepare(epoch)
        return -(-len(self._rows) // self.shape[0])

    def batch(self, epoch: int, index: int) -> Rows:
        """Batch ``index`` of an epoch, 0 <= index < batches(epoch)."""
        self._prepare(epoch)
        rows = self._rows[index * self.shape[0] : (index + 1) * self.shape[0]]
        texts = [[self._files[self._where[p]].ids[self._spans[p, 0] : self._spans[p, 1]] for p in row] for row in rows]
        return lay_out(texts, self.shape, *self._special)

    def _prepare(self, epoch: int) -> None:
        if epoch == self._epoch:
            return
        rng = np.random.default_rng([self._seed, epoch])
        spans = [passages(file, 62, self._single_share, rng) for file in self._files]
        where = np.repeat(np.arange(len(spans)), [len(s) for s in spans])
        all_spans = np.concatenate(spans)
        order = rng.permutation(len(all_spans))
        lengths = (all_spans[:, 1] - all_spans[:, 0])[order]
        old = where[order] >= self._fresh
        wanted = lengths[~old].sum() * self._replay_share / (1 - self._replay_share)
        keep = ~old | (np.cumsum(np.where(old, lengths, 0)) <= wanted)
        order, lengths = order[keep], lengths[keep]
        rows = pack(lengths + 2, self.shape[1])
        # Packing sorts by length; without the shuffle an epoch would run from long passages to short ones.
        self._rows = [order[rows[r]].tolist() for r in rng.permutation(len(rows))]
        self._spans, self._where = all_spans, where
        self._epoch = epoch
