"""Passages packed into rows of one fixed length, so that one compiled shape serves every step and little is padded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float32, Int64, UInt16
from torch import Tensor


class Rows(NamedTuple):
    """Rows of packed passages.

    Attributes:
        ids: int64 [R, L], padded with the pad id.
        segments: int64 [R, L], which passage of its row a position belongs to; -1 at padding.
        positions: int64 [R, L], position within its passage, counted from 0 at [CLS]; 0 at padding.
    """

    ids: Int64[Tensor, "R L"]
    segments: Int64[Tensor, "R L"]
    positions: Int64[Tensor, "R L"]


def pack(lengths: Int64[np.ndarray, " P"], capacity: int) -> list[list[int]]:
    """Best-fit decreasing bin packing (Johnson 1974, "Fast algorithms for bin packing").

    Args:
        lengths: int64 [P], each between 1 and ``capacity``.
        capacity: row length.

    Returns:
        Rows as lists of indices into ``lengths``; every index occurs exactly once, no row exceeds the capacity.

    Raises:
        ValueError: a length lies outside 1..capacity.
    """
    if len(lengths) and (lengths.min() < 1 or lengths.max() > capacity):
        raise ValueError(f"lengths must lie between 1 and {capacity}")
    rows: list[list[int]] = []
    open_rows: list[list[int]] = [[] for _ in range(capacity + 1)]  # by free space
    for index in np.argsort(-lengths, kind="stable").tolist():
        need = int(lengths[index])
        free = next((space for space in range(need, capacity + 1) if open_rows[space]), None)
        if free is None:
            rows.append([index])
            row, free = len(rows) - 1, capacity
        else:
            row = open_rows[free].pop()
            rows[row].append(index)
        if free > need:
            open_rows[free - need].append(row)
    return rows


def lay_out(
    rows: Sequence[Sequence[UInt16[np.ndarray, " _"]]], shape: tuple[int, int], cls: int, sep: int, pad: int
) -> Rows:
    """Write passages into rows, each between its own [CLS] and [SEP] as the tokenizer would.

    Args:
        rows: at most R rows of passages (ids without special tokens) that fit.
        shape: (R, L); missing rows are all padding.
        cls, sep, pad: ids of the special tokens.
    """
    ids = np.full(shape, pad, dtype=np.int64)
    segments = np.full(shape, -1, dtype=np.int64)
    positions = np.zeros(shape, dtype=np.int64)
    for r, row in enumerate(rows):
        at = 0
        for s, passage in enumerate(row):
            end = at + len(passage) + 2
            ids[r, at], ids[r, end - 1] = cls, sep
            ids[r, at + 1 : end - 1] = passage
            segments[r, at:end] = s
            positions[r, at:end] = np.arange(end - at)
            at = end
    return Rows(torch.from_numpy(ids), torch.from_numpy(segments), torch.from_numpy(positions))


def attention_mask(segments: Int64[Tensor, "R L"], causal: bool = False) -> Float32[Tensor, "R 1 L L"]:
    """Which position may read which: those of its own passage, and with ``causal`` none that come later.

    Padding reads padding, so that no softmax runs over an empty set.

    Args:
        segments: int64 [R, L], as in ``Rows``.
        causal: for a model that predicts the next token.

    Returns:
        float32 [R, 1, L, L], added to the attention scores: 0 where query (third axis) may read key (last axis),
        -inf elsewhere.
    """
    readable = segments[:, None, :, None] == segments[:, None, None, :]
    if causal:
        length = segments.shape[1]
        readable = readable & torch.ones(length, length, dtype=torch.bool).tril()
    return torch.zeros(readable.shape).masked_fill(~readable, float("-inf"))
