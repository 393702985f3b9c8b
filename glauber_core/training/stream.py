"""The order of the training data: a pure function of (seed, epoch, batch index), which makes resuming exact."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from glauber_core.training.config import Config
from glauber_core.training.data import Sentences, passages
from glauber_core.training.packing import Rows, lay_out, pack


class Stream:
    """Batches of packed rows, epoch after epoch.

    Every epoch holds each token of ``texts`` once and, if there are ``replay`` texts, a fresh random subset of their
    passages that makes up ``replay_share`` of the epoch's tokens (all of them if they are fewer).

    Args:
        texts: sentences per file, at least one file.
        replay: sentences of files that the starting model has already seen.
        tokenizer: gives the ids of [CLS], [SEP] and [PAD].
        config: shape of a batch, shares and seed.
    """

    def __init__(self, texts: Sequence[Sentences], replay: Sequence[Sentences], tokenizer: Any, config: Config) -> None:
        self._files = [*texts, *replay]
        self._fresh = len(texts)
        self._shape = (config.rows, config.length)
        self._config = config
        self._special = (tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.pad_token_id)
        self._epoch = -1

    @property
    def tokens(self) -> int:
        """Word pieces in all texts together, special tokens not counted."""
        return sum(len(file.ids) for file in self._files)

    @property
    def fingerprint(self) -> int:
        """CRC-32 over all ids and sentence bounds: tells whether a run is resumed on the same texts."""
        value = 0
        for file in self._files:
            value = zlib.crc32(file.bounds.tobytes(), zlib.crc32(file.ids.tobytes(), value))
        return value

    def batches(self, epoch: int) -> int:
        """Number of batches in an epoch; the last may end with empty rows."""
        self._prepare(epoch)
        return -(-len(self._rows) // self._shape[0])

    def batch(self, epoch: int, index: int) -> Rows:
        """Batch ``index`` of an epoch, 0 <= index < batches(epoch)."""
        self._prepare(epoch)
        rows = self._rows[index * self._shape[0] : (index + 1) * self._shape[0]]
        texts = [[self._files[self._where[p]].ids[self._spans[p, 0] : self._spans[p, 1]] for p in row] for row in rows]
        return lay_out(texts, self._shape, *self._special)

    def _prepare(self, epoch: int) -> None:
        if epoch == self._epoch:
            return
        config = self._config
        rng = np.random.default_rng([config.seed, epoch])
        spans = [passages(file, config.max_pieces, config.single_share, rng) for file in self._files]
        where = np.repeat(np.arange(len(spans)), [len(s) for s in spans])
        all_spans = np.concatenate(spans)
        order = rng.permutation(len(all_spans))
        lengths = (all_spans[:, 1] - all_spans[:, 0])[order]
        old = where[order] >= self._fresh
        wanted = lengths[~old].sum() * config.replay_share / (1 - config.replay_share)
        keep = ~old | (np.cumsum(np.where(old, lengths, 0)) <= wanted)
        order, lengths = order[keep], lengths[keep]
        rows = pack(lengths + 2, config.length)
        # Packing sorts by length; without the shuffle an epoch would run from long passages to short ones.
        self._rows = [order[rows[r]].tolist() for r in rng.permutation(len(rows))]
        self._spans, self._where = all_spans, where
        self._epoch = epoch
