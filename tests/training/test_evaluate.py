"""Held-out figures against cases computed by hand."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import Tensor

from glauber_core.evaluate import next_token, single_mask
from glauber_core.evaluate.report import breakdown, table
from glauber_core.evaluate.scores import Example, Scores, framed, summarise
from tests.training import tiny


class Table:
    """A "model" whose logits depend on nothing but what its table says: ``logits[b, p] = row``."""

    def __init__(self, row: list[float]) -> None:
        self.row = torch.tensor(row)
        self.seen: list[Tensor] = []

    def __call__(self, input_ids: Tensor, attention_mask: Tensor) -> SimpleNamespace:
        self.seen.append(input_ids.clone())
        return SimpleNamespace(logits=self.row.expand(*input_ids.shape, -1))


ROW = [0.0, 1.0, 2.0, 3.0]
TOTAL = sum(math.exp(v) for v in ROW)


def test_single_mask_by_hand() -> None:
    cases = [Example((3, 1, 2, 2), 1, 2, "a"), Example((3, 3, 2), 1, 1, "b"), Example((3, 0, 3, 2), 2, 2, "b")]
    model = Table(ROW)
    found = single_mask.score(model, cases, mask_id=9, pad_id=8, rows=2)
    assert found.loss == pytest.approx([math.log(TOTAL) - v for v in (1.0, 3.0, 3.0)])
    assert found.rank.tolist() == [2, 0, 0]
    # One mask a row, at its place, and padding only after the end; the shortest sentences go first.
    assert [rows.tolist() for rows in model.seen] == [[[3, 9, 2, 8], [3, 9, 2, 2]], [[3, 0, 9, 2]]]

    parts = breakdown(found, cases)
    assert parts["all"]["all"].top1 == pytest.approx(2 / 3)
    assert parts["all"]["all"].top5 == 1.0
    assert parts["source"]["b"].count == 2
    assert parts["source"]["b"].loss == pytest.approx(math.log(TOTAL) - 3.0)
    assert "| b | 2 |" in table(parts)


def test_next_token_by_hand() -> None:
    cases = [Example((3, 1, 2), -1, 1, "a"), Example((3, 0, 1, 2), -1, 2, "a")]
    found = next_token.score(Table(ROW), cases, pad_id=3)
    by_case = [sorted(found.loss[found.example == k].tolist()) for k in (0, 1)]
    expected = [[math.log(TOTAL) - v for v in values] for values in ((2.0, 1.0), (2.0, 1.0, 0.0))]
    assert by_case[0] == pytest.approx(expected[0])
    assert by_case[1] == pytest.approx(expected[1])


def test_summary_has_mean_error_and_shares() -> None:
    scores = Scores(np.asarray([1.0, 3.0, 5.0]), np.asarray([0, 4, 5]), np.asarray([0, 1, 1]))
    whole = summarise(scores)
    assert (whole.count, whole.loss) == (3, 3.0)
    assert [whole.top1, whole.top5] == pytest.approx([1 / 3, 2 / 3])
    assert whole.loss_error == pytest.approx(2.0 / math.sqrt(3))
    assert summarise(scores, [False, True]).loss == 4.0
    assert summarise(scores, [True, False]).loss_error is None  # JSON has no nan
    with pytest.raises(ValueError, match="no predictions"):
        summarise(scores, [False, False])


def test_positions_depend_on_the_sentence_alone() -> None:
    lines = tiny.sentences(60)
    forward = single_mask.examples(lines, tiny.tokenizer(), "a")
    backward = single_mask.examples(lines[::-1], tiny.tokenizer(), "a")
    assert forward == backward[::-1]
    other = single_mask.examples(lines, tiny.tokenizer(), "a", seed=1)
    assert [case.position for case in forward] != [case.position for case in other]


def test_special_tokens_are_never_predicted_and_every_other_place_is() -> None:
    tokenizer = tiny.tokenizer()
    line = "the cat saw an apple ."  # "an" is [UNK]
    found = {single_mask.examples([line], tokenizer, "a", seed)[0].position for seed in range(200)}
    assert found == {1, 2, 3, 5, 6}
    assert single_mask.examples(["cat ."], tokenizer, "a") == []


def test_long_sentences_are_cut_and_framed_without_changing_the_tokenizer() -> None:
    tokenizer = tiny.tokenizer()
    before = tokenizer.backend_tokenizer.to_str()
    ids, added = framed([" ".join(["cat"] * 100), "the cat ."], tokenizer)
    assert added == 2
    assert len(ids[0]) == 64 and ids[0][0] == tokenizer.cls_token_id and ids[0][-1] == tokenizer.sep_token_id
    assert ids[1] == tokenizer("the cat .")["input_ids"]
    assert tokenizer.backend_tokenizer.to_str() == before


def test_a_head_applied_to_one_row_gives_the_full_pass() -> None:
    settings = tiny.config()
    model, tokenizer = tiny.model(settings).eval(), tiny.tokenizer()
    cases = single_mask.examples(tiny.sentences(20), tokenizer, "a")
    sliced = single_mask.score(model, cases, tokenizer.mask_token_id, tokenizer.pad_token_id)
    whole = single_mask.score(lambda **kw: model(**kw), cases, tokenizer.mask_token_id, tokenizer.pad_token_id)
    assert sliced.loss == pytest.approx(whole.loss, abs=1e-5)
    assert sliced.rank.tolist() == whole.rank.tolist()
