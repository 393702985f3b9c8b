"""What a user pastes or uploads, as sentences: plain lines, or the text column of a .csv or .tsv table."""

from __future__ import annotations

import codecs
import csv
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from glauber_core.errors import UserError
from glauber_core.models.vocabulary import MAX_CHARACTERS
from glauber_core.tables import text_column

MAX_SENTENCES = 200
MAX_BYTES = 5_000_000
ENDINGS = (".txt", ".csv", ".tsv")
TEXT_HEADERS = ("text", "sentence", "passage", "query", "question", "body", "content")  # the first that is there wins

_BINARY = (b"%PDF-", b"PK\x03\x04", b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"\x1f\x8b", b"\xd0\xcf\x11\xe0")
# Characters dropped everywhere: controls that are not white space, byte order marks, and the marks that reorder text.
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ufeff\u202a-\u202e\u2066-\u2069]")
_BREAKS = re.compile(r"[\t-\r\x1c-\x1f\x85\u2028\u2029]+")
_VISIBLE = re.compile(r"[^\s\xad\u180e\u200b-\u200f\u2060-\u206f\U000e0000-\U000e0fff]")


@dataclass(frozen=True)
class Texts:
    """Attributes:
    sentences: never blank, without line breaks or control characters, at most MAX_CHARACTERS long.
    notes: sentences for the user about what was chosen, changed or left out.
    """

    sentences: tuple[str, ...]
    notes: tuple[str, ...]


def from_pasted(text: str, limit: int = MAX_SENTENCES) -> Texts:
    """One sentence a line; every kind of line and page break ends a line, blank lines are skipped.

    Args:
        text: anything a text box may hold.
        limit: at least 1; the sentences after it are left out, with a note.

    Raises:
        UserError: no line holds a sentence, or every line is too long, or ``limit`` is below 1.
    """
    nothing = "There is no sentence here: type or paste at least one line of text."
    return _gather(_readable(text)[0].splitlines(), limit, "line", nothing)


def from_file(name: str, data: bytes, limit: int = MAX_SENTENCES) -> Texts:
    """The sentences of a file: the lines of a ``.txt``, or one column of a ``.csv`` or ``.tsv``.

    The column is the one with a header in TEXT_HEADERS, else the one with the longest text.

    Args:
        name: the file's name; its ending says how to read it.
        data: UTF-8, UTF-16 with a byte order mark, or else Windows-1252.
        limit: at least 1; the sentences after it are left out, with a note.

    Raises:
        UserError: another ending, more than MAX_BYTES, not text, nothing in it, or ``limit`` is below 1.
    """
    ending, shown = _ending(name), _shown(name)
    if len(data) > MAX_BYTES:
        raise _too_large(shown, len(data))
    text, notes = _decode(shown, data)
    if ending == ".txt":
        nothing = f"{shown} holds no sentence: write at least one line of text into it."
        found = _gather(text.splitlines(), limit, "line", nothing)
    else:
        found = _from_table(shown, text, ending == ".tsv", limit)
    return Texts(found.sentences, notes + found.notes)


def from_path(path: Path, limit: int = MAX_SENTENCES) -> Texts:
    """The sentences of a file on disk, of which at most MAX_BYTES + 1 bytes are read; else as ``from_file``.

    Raises:
        UserError: the file is missing, a folder or unreadable, or ``from_file`` refuses it.
    """
    shown = _shown(str(path))
    if not os.path.exists(path):  # unlike Path.exists, False too for what no path can be
        raise UserError(f"There is no file {shown}; check the path.")
    if not os.path.isfile(path):  # a folder, or a pipe that would be waited for
        raise UserError(f"{shown} is not a file; give the path of a .txt, .csv or .tsv file.")
    _ending(path.name)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
            size = max(len(data), os.fstat(file.fileno()).st_size)
    except OSError as error:
        raise UserError(f"{shown} cannot be read ({error.strerror}); check its permissions.") from None
    if size > MAX_BYTES:
        raise _too_large(shown, size)
    return from_file(path.name, data, limit)


def _ending(name: str) -> str:
    for ending in ENDINGS:
        if name.strip().lower().endswith(ending):
            return ending
    raise UserError(f"{_shown(name)} does not end in .txt, .csv or .tsv; save the sentences as one of these three.")


def _shown(name: str) -> str:
    """A file's name as messages show it: printable, its end kept if it is long."""
    clean = _clean(_readable(name)[0]) or "The file"
    return clean if len(clean) <= 80 else "…" + clean[-79:]


def _too_large(shown: str, size: int) -> UserError:
    return UserError(
        f"{shown} has {size:,} bytes and the limit is {MAX_BYTES:,}; give a file with its first lines only."
    )


def _readable(text: str) -> tuple[str, int]:
    """The text without control characters, lone surrogates as "?"; and how many characters were dropped."""
    return _CONTROLS.subn("", text.encode("utf-8", "replace").decode("utf-8"))


def _clean(text: str) -> str:
    """One readable line: breaks and tabs inside become one space. Empty if nothing in it can be seen."""
    parts = (part.strip() for part in _BREAKS.split(text))
    return " ".join(filter(None, parts)) if _VISIBLE.search(text) else ""


def _decode(shown: str, data: bytes) -> tuple[str, tuple[str, ...]]:
    """The readable text of a file, and a note if its encoding had to be guessed."""
    refusal = UserError(f"{shown} is not a text file that can be read; save it as plain text in UTF-8 and try again.")
    marked = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    guessed = False
    if data.startswith(_BINARY):
        raise refusal
    try:
        text = data.decode("utf-16" if marked else "utf-8-sig")
    except UnicodeDecodeError:
        if marked or b"\0" in data:
            raise refusal from None
        text, guessed = data.decode("cp1252", "replace"), True
    clean, dropped = _readable(text)
    # Nearly every byte is a character of Windows-1252; compressed data shows by its controls alone, about one in nine.
    if dropped + (clean.count("\ufffd") if guessed else 0) > len(text) * (0.05 if guessed else 0.3):
        raise refusal
    return clean, (f"{shown} is not UTF-8; it was read as Windows-1252.",) if guessed else ()


def _from_table(shown: str, text: str, tabs: bool, limit: int) -> Texts:
    column = text_column(text, tabs, TEXT_HEADERS)
    if column is None:
        raise UserError(f"{shown} holds no column of text; put one sentence on a row and try again.")
    where = "below its header" if column.header else "in any row"
    found = _gather(column.cells, limit, "row", f"{shown} holds no sentence {where}; add at least one row of text.")
    notes = []
    if column.width > 1:
        title, place = _clean(column.title), f"{column.number:,} of {column.width:,}"
        notes.append(f'Column "{title}" ({place}) was read.' if title else f"Column {place} was read.")
    if column.overfull:
        notes.append("Some rows have more fields than columns; the extra ones were kept as part of the text.")
    if column.broken:
        notes.append(
            "Every line was read as a row: a quote does not pair up, "
            f"or a field has more than {csv.field_size_limit():,} characters."
        )
    return Texts(found.sentences, tuple(notes) + found.notes)


def _gather(pieces: Iterable[str], limit: int, unit: str, nothing: str) -> Texts:
    """The first ``limit`` sentences; lines and rows with nothing visible are no sentences."""
    if limit < 1:
        raise UserError("The number of sentences to use must be at least 1.")
    kept: list[str] = []
    total = long = empty = 0
    for piece in pieces:
        if not _VISIBLE.search(piece):
            empty += 1
            continue
        total += 1
        if len(kept) < limit:
            sentence = _clean(piece)
            fits = len(sentence) <= MAX_CHARACTERS
            long += not fits
            kept += [sentence] if fits else []
    if not kept:
        too_long = f"Every {unit} is longer than {MAX_CHARACTERS:,} characters; put one sentence on a {unit}."
        raise UserError(too_long if total else nothing)
    notes = []
    if long:
        notes.append(f"{_count(long, unit)} of more than {MAX_CHARACTERS:,} characters left out.")
    if empty and unit == "row":  # blank lines between lines of text are a matter of course
        notes.append(f"{_count(empty, unit)} without a sentence skipped.")
    if total > len(kept) + long:
        first = "first is" if limit == 1 else f"first {limit:,} are"
        notes.append(f"{_count(total, unit)}: the {first} used.")
    return Texts(tuple(kept), tuple(notes))


def _count(number: int, unit: str) -> str:
    return f"{number:,} {unit}" if number == 1 else f"{number:,} {unit}s"
