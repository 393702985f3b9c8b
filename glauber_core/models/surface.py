"""What one token id looks like on a screen: its characters, and whether it continues the word before it."""

from __future__ import annotations

import json
import unicodedata
from typing import NamedTuple

from tokenizers import Tokenizer

_UNSEEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs")


class Surface(NamedTuple):
    """Attributes:
    text: the token's characters, control characters made visible; never empty.
    glued: True if it continues the word to its left (no space between them).
    """

    text: str
    glued: bool


def visible(text: str) -> str:
    """``text`` with white space, control and direction characters replaced by a visible name."""
    out = []
    for char in text:
        if char == "\n":
            out.append("⏎")
        elif char == "\t":
            out.append("⇥")
        elif char != " " and unicodedata.category(char) in _UNSEEN:
            out.append(f"⟨{ord(char):04x}⟩")
        else:
            out.append(char)
    return "".join(out) if text.strip() else "␣" * text.count(" ") + "".join(c for c in out if c != " ")


def _byte_table() -> dict[str, int]:
    """Byte-level BPE writes each byte as one printable character (GPT-2); the inverse of that table."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    shifted = (b for b in range(256) if b not in set(printable))
    return {chr(b): b for b in printable} | {chr(256 + k): b for k, b in enumerate(shifted)}


_BYTES = _byte_table()


def spelling(tokenizer: Tokenizer) -> str:
    """``wordpiece``, ``bytes``, ``metaspace`` or ``plain``: how this tokenizer marks word boundaries."""
    decoder = json.loads(tokenizer.to_str()).get("decoder") or {}
    kinds = [decoder.get("type"), *(d.get("type") for d in decoder.get("decoders") or [])]
    for kind, name in (("WordPiece", "wordpiece"), ("ByteLevel", "bytes"), ("Metaspace", "metaspace")):
        if kind in kinds:
            return name
    return "plain"


def surface(raw: str, style: str, special: bool) -> Surface:
    """Surface of one vocabulary entry.

    Args:
        raw: the entry as the vocabulary spells it ("##ing", "Ġthe").
        style: ``spelling`` of its tokenizer.
        special: special entries ([MASK], </s>) are shown as they are, and are never glued.
    """
    if special:
        return Surface(visible(raw), False)
    if style == "wordpiece":
        glued = raw.startswith("##") and len(raw) > 2
        return Surface(visible(raw[2:] if glued else raw), glued)
    if style == "bytes":
        if any(char not in _BYTES for char in raw):  # an added token, spelt as itself
            return Surface(visible(raw), not raw.startswith(" "))
        data = bytes(_BYTES[char] for char in raw)
        spaced = data.startswith(b" ") and len(data) > 1
        body = data[1:] if spaced else data
        try:
            return Surface(visible(body.decode("utf-8")), not spaced)
        except UnicodeDecodeError:
            return Surface("⟨" + body.hex(" ") + "⟩", not spaced)
    if style == "metaspace":
        spaced = raw.startswith("▁")
        return Surface(visible(raw[1:] or " ") if spaced else visible(raw), not spaced)
    return Surface(visible(raw), False)


def join(surfaces: list[Surface]) -> str:
    """The sentence as it is shown: pieces glued where they continue a word, single spaces elsewhere."""
    parts: list[str] = []
    for k, piece in enumerate(surfaces):
        parts.append(piece.text if piece.glued or k == 0 else " " + piece.text)
    return "".join(parts)
