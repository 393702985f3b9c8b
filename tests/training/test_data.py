from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from glauber_core.errors import UserError
from glauber_core.training.data import encode, passages, read_lines, split
from tests.training import tiny


def test_lines_of_plain_and_zipped_text(tmp_path: Path) -> None:
    plain, zipped = tmp_path / "a.txt", tmp_path / "a.txt.gz"
    plain.write_text("one\n\n  two  \n", encoding="utf-8")
    zipped.write_bytes(gzip.compress(plain.read_bytes()))
    assert read_lines(plain) == read_lines(zipped) == ["one", "two"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", b"\n \n", "holds no text"),
        ("a.txt", b"\xff\xfe\x00", "not UTF-8"),
        ("a.txt.gz", b"not zipped", "cannot be read"),
        ("a.txt.gz", gzip.compress(b"words " * 100)[:-9], "cannot be read"),
        ("a.txt", None, "no text file"),
    ],
)
def test_unusable_text_is_named(tmp_path: Path, name: str, content: bytes | None, message: str) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UserError, match=message):
        read_lines(path)


def test_a_folder_is_not_a_text(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        read_lines(tmp_path)


def test_long_lines_are_cut_without_loss() -> None:
    line = " ".join(["cat", "dog", "bird"] * 7)
    found = encode([line, "the cat ."], tiny.tokenizer(), max_pieces=8)
    assert np.diff(found.bounds).tolist() == [8, 8, 5, 3]
    assert found.ids.tolist() == tiny.tokenizer()(f"{line} the cat .", add_special_tokens=False)["input_ids"]


def test_lines_without_a_word_are_refused() -> None:
    with pytest.raises(UserError, match=r"no words.*sentence"):
        encode(["\u200b", "\x01"], tiny.tokenizer(), max_pieces=8)


@pytest.mark.parametrize("single_share", [0.0, 0.5, 1.0])
def test_passages_cover_every_token_once(single_share: float) -> None:
    text = tiny.encoded(200)
    spans = passages(text, 20, single_share, np.random.default_rng(1))
    assert spans[0, 0] == 0 and spans[-1, 1] == len(text.ids)
    assert (spans[1:, 0] == spans[:-1, 1]).all()
    assert (spans[:, 1] - spans[:, 0]).max() <= 20
    assert np.isin(spans, text.bounds).all()
    assert (len(spans) == len(text)) == (single_share == 1.0)


def test_split_keeps_repeated_lines_on_one_side() -> None:
    lines = tiny.sentences(500)
    kept, held = split(lines, one_in=5)
    assert len(kept) + len(held) == 500 and held
    assert not set(kept) & set(held)


def test_split_never_takes_everything() -> None:
    assert split(["one line"], one_in=1) == (["one line"], [])
