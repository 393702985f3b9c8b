"""Rectangles to begin with: a strong and a weak contradiction. The sentences are our own."""

from __future__ import annotations

from typing import NamedTuple

from glauber_core.errors import UserError
from glauber_core.models.vocabulary import Vocabulary


class Preset(NamedTuple):
    """Attributes:
    name: what it shows with the built-in model.
    text: the sentence.
    first, second: (word, replacement) at i and at j; the word's first occurrence is meant.
    """

    name: str
    text: str
    first: tuple[str, str]
    second: tuple[str, str]


PRESETS = (
    Preset(
        "strong: new york, los angeles",
        "she moved to new york when she was young .",
        ("new", "los"),
        ("york", "angeles"),
    ),
    Preset(
        "strong: united states, soviet union",
        "the president of the united states gave a speech .",
        ("united", "soviet"),
        ("states", "union"),
    ),
    Preset(
        "weak: king and queen, prince and princess",
        "the king and the queen lived in a castle .",
        ("king", "prince"),
        ("queen", "princess"),
    ),
    Preset(
        "weak: told to drink, asked to eat",
        "the doctor told the patient to drink more water .",
        ("told", "asked"),
        ("drink", "eat"),
    ),
)


def corner(preset: Preset, vocabulary: Vocabulary) -> tuple[int, int, int, int] | None:
    """Positions i and j and the ids of a' and b'; None where this vocabulary spells one of the words in pieces."""
    ids = vocabulary.encode(preset.text).ids
    shown = [vocabulary.surface(token).text for token in ids]
    try:
        i, j = (shown.index(word) for word, _ in (preset.first, preset.second))
        a, b = (vocabulary.word_id(new, at == 0) for at, (_, new) in ((i, preset.first), (j, preset.second)))
    except (ValueError, UserError):
        return None
    return i, j, a, b
