"""Text files to token sentences, and sentences to short passages."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int64, UInt16

from glauber_core.errors import UserError

LARGEST_VOCABULARY = 2**16  # ids are kept in 16 bits: a corpus of 20 million tokens takes 40 MB


@dataclass(frozen=True)
class Sentences:
    """Token sentences of one text file, end to end.

    Attributes:
        ids: uint16 [T], word-piece ids without special tokens.
        bounds: int64 [S + 1], sentence s is ``ids[bounds[s]:bounds[s + 1]]``, never empty.
    """

    ids: UInt16[np.ndarray, " T"]
    bounds: Int64[np.ndarray, " S1"]

    def __len__(self) -> int:
        return len(self.bounds) - 1


def read_lines(path: Path) -> list[str]:
    """The non-empty lines of a UTF-8 text file, plain or ``.gz``: one sentence or short paragraph each.

    Raises:
        UserError: the file is missing, unreadable, not UTF-8 or holds no text.
    """
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            lines = [line for line in (raw.strip() for raw in file) if line]
    except FileNotFoundError:
        raise UserError(f"There is no text file {path}; check the path.") from None
    except UnicodeDecodeError:
        raise UserError(f"{path} is not UTF-8 text; convert it to UTF-8 first.") from None
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(f"{path} cannot be read as text ({error}).") from None
    if not lines:
        raise UserError(f"{path} holds no text; give a file with at least one sentence.")
    return lines


def encode(lines: Sequence[str], tokenizer: Any, max_pieces: int, name: str = "the text") -> Sentences:
    """Tokenize lines; a line above ``max_pieces`` is cut into stretches of that length, so no text is lost.

    Args:
        lines: sentences.
        tokenizer: a fast transformers tokenizer with at most LARGEST_VOCABULARY ids.
        max_pieces: longest sentence kept whole, in word pieces, special tokens not counted.
        name: what the message calls the text.

    Raises:
        UserError: no line holds a word piece.
    """
    chunks: list[UInt16[np.ndarray, " _"]] = []
    for start in range(0, len(lines), 20_000):
        batch = tokenizer(
            list(lines[start : start + 20_000]),
            add_special_tokens=False,
            return_attention_mask=False,
            return_token_type_ids=False,
            verbose=False,  # it would warn about lines longer than the model's limit, which are cut here
        )["input_ids"]
        for row in batch:
            ids = np.asarray(row, dtype=np.uint16)
            chunks.extend(ids[cut : cut + max_pieces] for cut in range(0, len(ids), max_pieces))
    if not chunks:
        raise UserError(f"{name} holds no words that the tokenizer knows; give a text with at least one sentence.")
    return Sentences(np.concatenate(chunks), np.cumsum([0, *map(len, chunks)], dtype=np.int64))


def passages(
    sentences: Sentences, max_pieces: int, single_share: float, rng: np.random.Generator
) -> Int64[np.ndarray, "P 2"]:
    """Cut one file into sentences and short passages; together they cover every token once.

    From each start, with probability ``single_share`` the sentence stands alone; else the sentences after it join it
    while the whole stays within ``max_pieces``.

    Args:
        sentences: none of them longer than ``max_pieces``.
        max_pieces: longest passage in word pieces.
        single_share: probability in [0, 1].
        rng: the only source of randomness.

    Returns:
        int64 [P, 2], begin and end of each passage in ``sentences.ids``, in text order.
    """
    bounds = sentences.bounds.tolist()
    alone = rng.random(len(sentences)) < single_share
    spans: list[tuple[int, int]] = []
    start = 0
    while start < len(sentences):
        end = start + 1
        if not alone[start]:
            while end < len(sentences) and bounds[end + 1] - bounds[start] <= max_pieces:
                end += 1
        spans.append((bounds[start], bounds[end]))
        start = end
    return np.asarray(spans, dtype=np.int64)


def split(lines: Sequence[str], one_in: int) -> tuple[list[str], list[str]]:
    """(training lines, held-out lines): about one line in ``one_in`` is held out, chosen by the CRC-32 of its text.

    Repeated lines therefore fall on one side. The training side is never empty: a text of which every line would be
    held out is not split.
    """
    held = [zlib.crc32(line.encode()) % one_in == 0 for line in lines]
    if all(held):
        return list(lines), []
    return (
        [line for line, out in zip(lines, held, strict=True) if not out],
        [line for line, out in zip(lines, held, strict=True) if out],
    )
