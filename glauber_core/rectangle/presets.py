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
        "strong: a concert of the band",
        "the band played its oldest songs at the end of the concert .",
        ("band", "choir"),
        ("concert", "day"),
    ),
    Preset(
        "weak: bread and butter",
        "we ate bread and butter for breakfast .",
        ("bread", "toast"),
        ("butter", "jam"),
    ),
    Preset(
        "weak: a match in extra time",
        "the match ended in a draw after extra time .",
        ("match", "game"),
        ("time", "minutes"),
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
