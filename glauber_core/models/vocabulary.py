"""From text to token ids and back to what is shown; which tokens may be sampled.

The state of a chain lives in ids. Text is tokenised once, when it comes in; what is shown is put together from the ids
and is never tokenised again.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

import torch
from jaxtyping import Bool
from tokenizers import Tokenizer
from torch import Tensor

from glauber_core.errors import UserError
from glauber_core.models.surface import Surface, join, spelling, surface

MAX_CHARACTERS = 20_000
_MASKS = re.compile(r"\s*(\[MASK\]|<mask>)")
# Unused entries, and stand-ins of a training set for private data (ModernBERT's |||EMAIL_ADDRESS|||).
_BARRED = re.compile(r"^(\[unused\d+\]|<unused\d+>|unused\d+|madeupword\d+|\|\|\|\w+\|\|\|)$", re.IGNORECASE)


@dataclass(frozen=True)
class Encoded:
    """Attributes:
    ids: token ids, the model's own [CLS]/[SEP] not among them.
    notes: sentences for the user about what the model cannot see as typed.
    """

    ids: tuple[int, ...]
    notes: tuple[str, ...] = field(default=())


def _with_barred_special(tokenizer: Tokenizer) -> str:
    """The tokenizer's JSON; added tokens that are never sampled are marked special, so that typing one is mere text."""
    data = json.loads(tokenizer.to_str())
    for added in data["added_tokens"]:
        added["special"] = bool(added["special"] or _BARRED.match(added["content"]))
    return json.dumps(data)


class Vocabulary:
    """The tokenizer of a language model, frozen: safe to share between threads.

    Args:
        tokenizer: a ``tokenizers.Tokenizer``; a private copy is made, with special-token parsing, truncation and
            padding off, so that typed ``[SEP]`` is read as ordinary characters and nothing is cut silently.
        size: V, the number of rows of the model's output (ids above the tokenizer's own are never sampled).
        mask_id, unknown_id: ids of the mask and the unknown token (None if there is none).
        special_ids: every id that must never be sampled because it is special.
        positions: the longest row the model reads, in tokens, its own special tokens included.
        opening_id: stands before every sentence where the tokenizer itself puts nothing there (None: nothing does).

    Attributes:
        size, mask_id, unknown_id: as above.
        prefix, suffix: ids before and after every sentence.
        limit: the longest sentence in tokens, prefix and suffix not counted.
        style: ``surface.spelling`` of the tokenizer.
        allowed: bool [V], the tokens that may be sampled.

    Raises:
        UserError: no token may be sampled, or the tokenizer changes a sentence when it frames it.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        size: int,
        mask_id: int | None,
        unknown_id: int | None,
        special_ids: set[int],
        positions: int,
        opening_id: int | None = None,
    ) -> None:
        self._tokenizer = Tokenizer.from_str(_with_barred_special(tokenizer))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.size, self.mask_id, self.unknown_id = size, mask_id, unknown_id
        self.prefix, self.suffix = self._frame()
        if not self.prefix and opening_id is not None:
            self.prefix = (opening_id,)
        self.limit = positions - len(self.prefix) - len(self.suffix)
        self._tokenizer.encode_special_tokens = True
        raw = {i: t for t, i in self._tokenizer.get_vocab(with_added_tokens=True).items() if 0 <= i < size}
        special = special_ids | {i for i in (mask_id, unknown_id, opening_id) if i is not None}
        style = spelling(self._tokenizer)
        self.style = style
        self._surfaces = [
            surface(raw[i], style, i in special) if i in raw else Surface(f"⟨id {i}⟩", False) for i in range(size)
        ]
        banned = special | {i for i, t in raw.items() if _BARRED.match(t)}
        self.allowed: Bool[Tensor, " V"] = torch.tensor([i in raw and i not in banned for i in range(size)])
        if not bool(self.allowed.any()):
            raise UserError("This model's vocabulary holds no word that could be sampled.")
        self._special_spelling = {raw[i] for i in special if i in raw}
        self._raw_ids = {t: i for i, t in raw.items()}

    def _frame(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Ids the model puts before and after every sentence."""
        inner = self._tokenizer.encode("a", add_special_tokens=False).ids
        whole = self._tokenizer.encode("a", add_special_tokens=True).ids
        for start in range(len(whole) - len(inner) + 1):
            if whole[start : start + len(inner)] == inner:
                return tuple(whole[:start]), tuple(whole[start + len(inner) :])
        raise UserError("This model's tokenizer changes a sentence when it adds its special tokens; it cannot be used.")

    def encode(self, text: str, cap: int | None = None) -> Encoded:
        """Ids of a sentence a person typed.

        The rule for special tokens: ``[MASK]`` and ``<mask>`` become the model's own mask, if it has one; every other
        special token is read as the ordinary characters it is made of.

        Args:
            text: at most ``MAX_CHARACTERS`` characters.
            cap: a lower limit in tokens than the model's own.

        Raises:
            UserError: nothing but white space, too many characters, or more tokens than the limit.
        """
        if not text.strip():
            raise UserError("There is no word to work with: type a sentence, or choose a starter.")
        limit = self.limit if cap is None else min(cap, self.limit)
        if len(text) > MAX_CHARACTERS:
            raise UserError(
                f"That is {len(text):,} characters; paste at most {MAX_CHARACTERS:,}, a sentence or short passage."
            )
        ids: list[int] = []
        last = 0
        clean = text.encode("utf-8", "replace").decode("utf-8")  # lone surrogates become "?"
        if self.mask_id is not None:
            for hit in _MASKS.finditer(clean):
                ids += self._plain(clean[last : hit.start()], first=not ids)
                ids.append(self.mask_id)
                last = hit.end()
        ids += self._plain(clean[last:], first=not ids)
        if not ids:
            raise UserError("The model sees no word in this text: type a sentence, or choose a starter.")
        if len(ids) > limit:
            raise UserError(
                f"That is {len(ids):,} tokens; the limit here is {limit:,}. Shorten the text and try again."
            )
        return Encoded(tuple(ids), tuple(self._notes(clean, ids)))

    def _plain(self, text: str, first: bool) -> list[int]:
        text = text.strip() if first else text.rstrip()
        return self._ids(text) if text else []

    def _ids(self, text: str) -> list[int]:
        try:
            ids = list(self._tokenizer.encode(text, add_special_tokens=False).ids)
        except Exception:  # the tokenizers library raises bare Exception, for example without an [UNK] entry
            raise UserError("This model's tokenizer cannot read that text; try other words.") from None
        if ids and max(ids) >= self.size:
            raise UserError("This text holds a token that the model has no weights for; try other words.")
        return ids

    def _notes(self, text: str, ids: list[int]) -> list[str]:
        notes = []
        unknown = ids.count(self.unknown_id) if self.unknown_id is not None else 0
        if unknown:
            pieces = "1 piece is" if unknown == 1 else f"{unknown} pieces are"
            name = self.surface(self.unknown_id or 0).text
            notes.append(f"{pieces} unknown to this model; it sees {name} there.")
        masks = ids.count(self.mask_id) if self.mask_id is not None else 0
        if masks:
            notes.append(f"{'1 blank' if masks == 1 else f'{masks} blanks'} to be filled in by the chain.")
        blanks = ("[MASK]", "<mask>") if self.mask_id is not None else ()
        typed = sorted(s for s in self._special_spelling if s in text and s not in blanks)
        if typed:
            notes.append(f"{', '.join(typed)} is read as ordinary characters, not as a special token.")
        if len(ids) == 1:
            notes.append("One token alone: every step draws from the same distribution.")
        return notes

    def word_id(self, word: str, first: bool) -> int:
        """The id of one word typed by hand, in the form it takes inside a sentence.

        Args:
            word: what was typed; a WordPiece continuation may be typed as the vocabulary spells it ("##ing").
            first: True at the sentence's first position, where byte-level vocabularies take the form without a space.

        Raises:
            UserError: empty, several pieces (they are named), or a token outside the sampled vocabulary.
        """
        typed = word.strip()
        if not typed:
            raise UserError("Type a word to put there.")
        if len(typed) > 200:
            raise UserError("That is too long for one word.")
        if self.style == "wordpiece" and typed.startswith("##") and typed in self._raw_ids:
            ids = [self._raw_ids[typed]]
        else:
            clean = typed.encode("utf-8", "replace").decode("utf-8")
            spaced = clean if first or self.style != "bytes" else " " + clean
            ids = self._ids(spaced)
        if len(ids) == 0:
            raise UserError("The model sees no word in this text.")
        if len(ids) > 1:
            pieces = " + ".join(self.surface(i).text for i in ids[:6]) + (" + ..." if len(ids) > 6 else "")
            raise UserError(
                f"This model writes that as {len(ids)} tokens ({pieces}); only a single token can go there."
            )
        if not bool(self.allowed[ids[0]]):
            raise UserError("This model does not know that word; choose another.")
        return ids[0]

    @property
    def tokens(self) -> tuple[Surface, ...]:
        """Every id's surface, in id order: two models may exchange ids if theirs are equal."""
        return tuple(self._surfaces)

    def surface(self, token: int) -> Surface:
        """How one id is shown. Raises IndexError outside 0 .. V-1."""
        if token < 0:
            raise IndexError(token)
        return self._surfaces[token]

    def text(self, ids: list[int] | tuple[int, ...]) -> str:
        """The sentence as it is shown."""
        return join([self.surface(i) for i in ids])
