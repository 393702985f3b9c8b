"""Text files to token sentences, and sentences to short passages."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glauber_core.errors import UserError


@dataclass(frozen=True)
class Sentences:
    """Token sentences of one text file, end to end.

    Attributes:
        ids: uint16 [T], word-piece ids without [CLS] and [SEP].
        bounds: int64 [S + 1], sentence s is ``ids[bounds[s]:bounds[s + 1]]``, never empty.
    """

    ids: NDArray[np.uint16]
    bounds: NDArray[np.int64]

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
    except (OSError, EOFError) as error:
        raise UserError(f"{path} cannot be read as text ({error}).") from None
    if not lines:
        raise UserError(f"{path} holds no text; give a file with at least one sentence.")
    return lines


def encode(lines: list[str], tokenizer: Any, max_pieces: int, name: str = "the text") -> Sentences:
    """Tokenize lines; a line above ``max_pieces`` is cut into pieces of that length, so no text is lost.

    Args:
        lines: sentences.
        tokenizer: a fast transformers tokenizer with at most 65,536 ids.
        max_pieces: longest sentence kept whole, in word pieces, special tokens not counted.
        name: what the message calls the text.

    Raises:
        UserError: no line holds a word piece.
    """
    chunks: list[NDArray[np.uint16]] = []
    lengths: list[int] = []
    for start in range(0, len(lines), 20_000):
        batch = tokenizer(lines[start : start + 20_000], add_special_tokens=False, return_attention_mask=False,
                          return_token_type_ids=False, verbose=False)["input_ids"]  # fmt: skip
        for row in batch:
            for cut in range(0, len(row), max_pieces):
                chunks.append(np.asarray(row[cut : cut + max_pieces], dtype=np.uint16))
                lengths.append(len(chunks[-1]))
    if not chunks:
        raise UserError(f"{name} holds no words that the tokenizer knows; give a text with at least one sentence.")
    return Sentences(np.concatenate(chunks), np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))


def passages(sentences: Sentences, max_pieces: int, single_share: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Cut one file into sentences and short passages; together they cover every token once.

    From each start, with probability ``single_share`` the sentence stands alone; else the sentences after it join it
    while the whole stays within ``max_pieces``.

    Returns:
        int64 [P, 2], begin and end of each passage in ``sentences.ids``.
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
