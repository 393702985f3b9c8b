"""Start sentences: two topics, cut or joined to n tokens; files; uniform and extreme states."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from glauber_core.errors import UserError
from glauber_core.exact import CurieWeiss, Potts
from glauber_core.mixing.starts import Texts, start_pairs, texts_of
from glauber_core.starters import STARTERS
from tests.exact.models import mask
from tests.models.checkpoints import model as checkpoint


def joined(words: tuple[int, ...], n: int) -> tuple[int, ...]:
    return (words * n)[:n]


@pytest.mark.parametrize("n", [4, 13, 30])
def test_two_topics_of_exactly_n_tokens(n: int) -> None:
    model = checkpoint("bert")
    x, y = start_pairs("topics", texts_of("topics"), model, n, 40, seed=3)
    assert x.shape == y.shape == (40, n) and x.dtype == torch.int64
    topics: dict[tuple[int, ...], set[str]] = {}
    for starter in STARTERS:
        topics.setdefault(model.vocabulary.encode(starter.text).ids[: min(n, 4)], set()).add(starter.topic)
    for a, b in zip(x.tolist(), y.tolist(), strict=True):
        first, second = topics[tuple(a[:4])], topics[tuple(b[:4])]
        assert len(first | second) > 1 and "paper" not in first & second
    assert len({tuple(row) for row in x.tolist()}) > 5


def test_short_sentences_are_joined_with_the_next_of_their_group() -> None:
    model = checkpoint("bert")
    texts = Texts(("the cat", "sat on", "a doctor"), ("a", "a", "b"))
    ids = [model.vocabulary.encode(text).ids for text in texts.sentences]
    x, y = start_pairs("topics", texts, model, 5, 30, seed=1)
    one, two, three = (ids[0] + ids[1] + ids[0])[:5], (ids[1] + ids[0] + ids[1])[:5], joined(ids[2], 5)
    expected = {(one, three), (three, one), (two, three), (three, two)}
    assert {(tuple(a), tuple(b)) for a, b in zip(x.tolist(), y.tolist(), strict=True)} == expected


def test_the_choice_is_a_function_of_the_seed() -> None:
    model, texts = checkpoint("bert"), texts_of("topics")
    first, again, other = (start_pairs("topics", texts, model, 8, 9, seed) for seed in (4, 4, 5))
    assert torch.equal(first[0], again[0]) and torch.equal(first[1], again[1])
    assert not torch.equal(first[0], other[0])


def test_a_file_of_passages(tmp_path: Path) -> None:
    path = tmp_path / "queries.tsv"
    path.write_text("1\twhere did the cat sit\n2\twhat did the doctor drink\n3\twho told the patient\n", "utf-8")
    texts = texts_of(f"file:{path}")
    assert len(texts.sentences) == 3 and set(texts.groups) == {""}
    model = checkpoint("bert")
    x, y = start_pairs(f"file:{path}", texts, model, 7, 20, seed=1)
    assert bool((x != y).any(dim=1).all())
    start = model.vocabulary.encode(texts.sentences[0]).ids
    assert any(tuple(row[: min(7, len(start))]) == start[:7] for row in x.tolist() + y.tolist())
    with pytest.raises(UserError, match="no file"):
        texts_of("file:nowhere.tsv")


def test_sentences_that_do_not_differ_are_refused() -> None:
    texts = Texts(("the cat sat", "the cat sat on"), ("", ""))
    with pytest.raises(UserError, match="two different sentences"):
        start_pairs("file:x", texts, checkpoint("bert"), 3, 2, seed=1)


def test_uniform_and_extreme_states_of_exact_models() -> None:
    model = Potts(4, 1.0, mask(0, 1, 1, 1))
    x, y = start_pairs("extremes", Texts(), model, 3, 2, seed=1)
    assert x.tolist() == [[1, 1, 1]] * 2 and y.tolist() == [[3, 3, 3]] * 2
    x, y = start_pairs("uniform", Texts(), model, 50, 40, seed=1)
    assert set(x.flatten().tolist()) == set(y.flatten().tolist()) == {1, 2, 3}
    assert not torch.equal(x, y)


def test_words_need_a_vocabulary_and_room() -> None:
    with pytest.raises(UserError, match="no words"):
        start_pairs("topics", texts_of("topics"), CurieWeiss(1.0), 4, 1, seed=1)
    model = checkpoint("bert")
    with pytest.raises(UserError, match="reads at most"):
        start_pairs("topics", texts_of("topics"), model, model.vocabulary.limit + 1, 1, seed=1)
