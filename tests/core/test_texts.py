"""Texts that users paste and upload: every kind of file becomes clean sentences, or one sentence of refusal."""

from __future__ import annotations

import codecs
import io
import os
import re
import time
import unicodedata
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glauber_core.errors import UserError
from glauber_core.models.vocabulary import MAX_CHARACTERS
from glauber_core.texts import MAX_BYTES, MAX_SENTENCES, Texts, from_file, from_pasted, from_path
from tests.core.uploads import refused, sentences

# -- pasted text ------------------------------------------------------------------------------------------------------


def test_one_sentence_a_line_trimmed_and_blank_lines_skipped() -> None:
    found = from_pasted("  the cat sat .\r\n\r\n\tthe  dog ran .\u00a0\n \t \nlast")
    assert found == Texts(("the cat sat .", "the  dog ran .", "last"), ())


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x85", "\u2028", "\u2029"])
def test_every_line_end_ends_a_line(end: str) -> None:
    assert from_pasted(f"one{end}two{end}{end}").sentences == ("one", "two")


def test_a_tab_inside_a_line_becomes_a_space() -> None:
    assert from_pasted("one\ttwo \t\x1f three").sentences == ("one two three",)


def test_control_characters_and_reordering_marks_vanish() -> None:
    assert from_pasted("\ufeffa\0b\x07c\x1b\x7f\x9fd \u202edrow\u2066").sentences == ("abcd drow",)


def test_lone_surrogates_become_question_marks() -> None:
    assert from_pasted("a \ud800 b\n\udfff").sentences == ("a ? b", "?")


def test_letters_of_all_scripts_and_joined_emoji_stay() -> None:
    line = "Ça va, 東京 می\u200cخواهم 👩\u200d🔬 e\u0301 [MASK]"
    assert from_pasted(line).sentences == (line,)


def test_lines_beyond_the_limit_are_counted_in_a_note() -> None:
    found = from_pasted("\n\n".join(f"line {i}" for i in range(500)))
    assert found.sentences == tuple(f"line {i}" for i in range(MAX_SENTENCES))
    assert found.notes == ("500 lines: the first 200 are used.",)


def test_a_limit_of_one_and_a_limit_just_reached() -> None:
    assert from_pasted("a\nb", 1) == Texts(("a",), ("2 lines: the first is used.",))
    assert from_pasted("a\nb", 2) == Texts(("a", "b"), ())
    refused(lambda: from_pasted("a", 0), "at least 1")


@pytest.mark.parametrize("text", ["", " \n\t\r\n", "\0\x01", "\ufeff", "\u200b\n\xad \u2060", "\U000e0020"])
def test_nothing_to_see_is_refused(text: str) -> None:
    refused(lambda: from_pasted(text), "no sentence", "paste")


def test_a_line_no_model_takes_is_left_out_with_a_note() -> None:
    fits = "x" * MAX_CHARACTERS
    found = from_pasted(f"{fits}y\n{fits}\nshort")
    assert found.sentences == (fits, "short")
    assert found.notes == ("1 line of more than 20,000 characters left out.",)
    refused(lambda: from_pasted(fits + "y"), "longer than 20,000")


# -- plain files: names, encodings, what is no text -------------------------------------------------------------------


def test_a_text_file_is_read_as_if_pasted() -> None:
    assert from_file("My notes.TXT", b"a, b\tc\r\n\r\nd") == Texts(("a, b c", "d"), ())


@pytest.mark.parametrize("name", ["a.xlsx", "a", "", "csv", "a.txt.gz", "\ud800\n\0", "x" * 5000])
def test_other_endings_are_refused_by_the_names_of_the_three(name: str) -> None:
    message = refused(lambda: from_file(name, b"text"), ".txt", ".csv", ".tsv")
    assert len(message) < 250 and "\0" not in message


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_unicode_encodings_need_no_note(encoding: str) -> None:
    assert from_file("a.txt", "naïve 東京\nzwei".encode(encoding)) == Texts(("naïve 東京", "zwei"), ())


def test_utf_16_of_either_byte_order() -> None:
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        found = from_file("a.csv", mark + "id;text\r\n1;grün, rot\r\n".encode(encoding))
        assert found.sentences == ("grün, rot",)


def test_other_bytes_are_windows_1252_with_a_note() -> None:
    found = from_file("old.txt", "“naïve” — café…".encode("cp1252"))
    assert found == Texts(("“naïve” — café…",), ("old.txt is not UTF-8; it was read as Windows-1252.",))


def test_a_few_control_characters_do_not_make_a_file_binary() -> None:
    assert sentences("a.txt", "a \x1b[31mred\x1b[0m word\0 and more") == ["a [31mred[0m word and more"]


def _zip() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    return file.getvalue()


BINARY = {
    "png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01",
    "xlsx": _zip(),
    "pdf": b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\n%%EOF\n",
    "nuls": b"caf\xe9\0\0 and more",
    "controls": bytes(range(1, 32)) * 20,
    "compressed": bytes(b for b in zlib.compress(str([i * i for i in range(3000)]).encode())[2:] if b),
    "utf-16 without a mark": "plain words".encode("utf-16-le"),
    "utf-16 cut short": "東京 plain words".encode("utf-16")[:-1],
}


@pytest.mark.parametrize("data", BINARY.values(), ids=BINARY)
@pytest.mark.parametrize("name", ["a.txt", "a.csv", "a.tsv"])
def test_binary_files_are_refused(name: str, data: bytes) -> None:
    refused(lambda: from_file(name, data), f"{name} is not a text file")


def test_a_large_file_is_refused_unread() -> None:
    class Undecodable(bytes):
        def decode(self, *_: object) -> str:
            raise AssertionError("decoded")

    refused(lambda: from_file("a.txt", Undecodable(MAX_BYTES + 1)), "5,000,001", "5,000,000")
    assert from_file("a.txt", b"a " * (MAX_BYTES // 2 - 4) + b"\nshort").sentences == ("short",)


@pytest.mark.parametrize("name", ["a.txt", "a.csv", "a.tsv"])
@pytest.mark.parametrize("data", [b"", b"\n\n", b" \t\r\n", codecs.BOM_UTF8, codecs.BOM_UTF16_LE, b",,\n,,\n"])
def test_files_without_a_word_are_refused(name: str, data: bytes) -> None:
    if name == "a.csv" or b"," not in data:
        refused(lambda: from_file(name, data), name)


# -- from disk --------------------------------------------------------------------------------------------------------


def test_a_path_is_read_like_an_upload(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"id,text\n1,one\n2,two\n")
    assert from_path(path, 1) == from_file("a.csv", path.read_bytes(), 1)


def test_a_large_file_on_disk_is_refused_by_its_real_size(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with path.open("wb") as file:
        file.truncate(3 * MAX_BYTES)
    refused(lambda: from_path(path), "15,000,000", "5,000,000")


def test_no_file_a_folder_or_a_pipe(tmp_path: Path) -> None:
    refused(lambda: from_path(tmp_path / "none.txt"), "There is no file")
    refused(lambda: from_path(Path("a\0b.txt")), "There is no file")
    (tmp_path / "folder.txt").mkdir()
    refused(lambda: from_path(tmp_path / "folder.txt"), "is not a file")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.txt")
        refused(lambda: from_path(tmp_path / "pipe.txt"), "is not a file")
    (tmp_path / "a.json").write_text("{}")
    refused(lambda: from_path(tmp_path / "a.json"), ".txt, .csv or .tsv")


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"text")

    def deny(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", deny)
    refused(lambda: from_path(path), "cannot be read (Permission denied)")


# -- anything at all --------------------------------------------------------------------------------------------------

SIGNS = st.characters(categories=("Cc", "Cf", "Cs", "Ll", "Zs", "Zl", "Zp", "So", "Nd"))
TABLE_TEXT = st.lists(
    st.one_of(st.sampled_from(['"', '""', ",", ";", "\t", "|", "\n", "\r\n", "\r", " ", "text", "12", "a b"]), SIGNS),
    max_size=60,
).map("".join)
FILE_NAMES = st.one_of(st.sampled_from(["a.txt", "b.csv", "c.tsv"]), st.text(SIGNS, max_size=9))
FILES = st.one_of(
    st.binary(max_size=200),
    TABLE_TEXT.map(lambda text: text.encode("utf-8", "replace")),
    TABLE_TEXT.map(lambda text: text.encode("utf-16", "replace")),
    TABLE_TEXT.map(lambda text: text.encode("cp1252", "replace") + b" \xe9"),
)


INVISIBLE = re.compile(r"[\s\xad\u200b-\u200f\u2060-\u206f\ufeff\U000e0001-\U000e007f]*")


def check(call: Callable[[], Texts], limit: int) -> None:
    """Either clean sentences, the same ones each time, or a UserError of one line."""
    try:
        found = call()
    except UserError as error:
        assert str(error).endswith(".") and re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", str(error)) is None
        return
    assert 1 <= len(found.sentences) <= limit and found == call()
    for line in found.sentences + found.notes:
        assert line == line.strip() != "" and len(line.splitlines()) == 1 and len(line) <= MAX_CHARACTERS
        assert not {unicodedata.category(sign) for sign in line} & {"Cc", "Cs", "Zl", "Zp"}
        assert INVISIBLE.fullmatch(line) is None


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(SIGNS), TABLE_TEXT), st.integers(1, 5))
def test_any_pasted_text(text: str, limit: int) -> None:
    check(lambda: from_pasted(text, limit), limit)


@settings(max_examples=600, deadline=None)
@given(FILE_NAMES, FILES, st.integers(1, 5))
def test_any_file(name: str, data: bytes, limit: int) -> None:
    check(lambda: from_file(name, data, limit), limit)


@pytest.mark.parametrize("name", ["a.txt", "a.csv", "a.tsv"])
@pytest.mark.parametrize(
    "unit", ['"', '""\t', ",", " ", "\t ", "\v", "1" * 1000, '7\t"So", he said, so it is; so be it.\n']
)
def test_the_time_for_the_largest_file_stays_in_proportion(name: str, unit: str) -> None:
    data = (unit * (MAX_BYTES // len(unit) - 1)).encode() + b"\na"
    began = time.process_time()
    try:
        from_file(name, data)
    except UserError:
        pass
    assert time.process_time() - began < 20  # about 2; anything quadratic takes hours
