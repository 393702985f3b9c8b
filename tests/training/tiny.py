"""A tokenizer of a few words, texts in it, and models small enough to train in a test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from transformers import BertTokenizer

from glauber_core.training.config import Config
from glauber_core.training.data import Sentences, encode
from glauber_core.training.models import fresh_model
from glauber_core.training.stream import Stream

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused1]"]
WORDS = "the a cat dog bird man sister child saw liked found heard river ball house apple tree red big green . ##s ##ed"
SUBJECTS = ["the cat", "the dog", "a big bird", "the red man", "a sister"]
OBJECTS = ["the river", "a red ball", "the big house", "an apple", "the green trees"]


def tokenizer() -> Any:
    """A WordPiece tokenizer of 29 entries."""
    return BertTokenizer(vocab={word: i for i, word in enumerate(SPECIAL + WORDS.split())})


def sentences(count: int, seed: int = 0) -> list[str]:
    """Short sentences; "an" is unknown to the tokenizer."""
    rng = np.random.default_rng(seed)
    verbs = ["saw", "liked", "found", "heard"]
    picked = ((rng.choice(SUBJECTS), rng.choice(verbs), rng.choice(OBJECTS)) for _ in range(count))
    return [" ".join([*words, "."]) for words in picked]


def text_file(path: Path, count: int = 300, seed: int = 0) -> Path:
    path.write_text("\n".join(sentences(count, seed)), encoding="utf-8")
    return path


def encoded(count: int, seed: int = 0, max_pieces: int = 20) -> Sentences:
    return encode(sentences(count, seed), tokenizer(), max_pieces)


def config(**changes: Any) -> Config:
    """A configuration for 30 steps of a few milliseconds."""
    defaults: dict[str, Any] = {"rows": 4, "length": 32, "max_pieces": 20, "tokens": 3500.0, "minutes": 10.0}
    defaults |= {"compile": False, "warmup_steps": 5, "average_decay": 0.9}
    defaults |= {"head_rate": 5e-3, "encoder_rate": 5e-3, "embedding_rate": 5e-3}
    return Config(**(defaults | changes))


def model(settings: Config) -> Any:
    return fresh_model(tokenizer(), settings, width=16, layers=1, heads=2)


def stream(settings: Config, count: int = 300) -> Stream:
    return Stream([encoded(count)], [], tokenizer(), settings)
