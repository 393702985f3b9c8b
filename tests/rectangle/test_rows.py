"""Which model rows are evaluated, how many, in what company; and that the company changes nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch

from glauber_core.exact import Bigram, ConditionalTable, JointTable
from glauber_core.models import MaskedLM, load
from glauber_core.rectangle import Measured, Rectangles, Rule, measure_again, rectangle, survey, survey_parts
from tests.exact.models import random_bigram
from tests.models.checkpoints import FAMILIES, folder, model
from tests.rectangle.plain import Counting, Law, plain, some_sentences

BIGRAM: Bigram = random_bigram(9, 21)
TABLE = ConditionalTable.random(4, 6, np.random.default_rng(22))


def assert_economical(counting: Counting, rows: int) -> int:
    """Micro-batches of exactly ``rows``, dummies only in the last of a pass, no row in two; the number of rows."""
    seen: set[tuple[int, tuple[int, ...]]] = set()
    for batch in counting.batches:
        assert len(batch) == rows
        assert not seen & set(batch)
        seen |= set(batch)
        real = len(set(batch))
        assert batch[real:] == [batch[real - 1]] * (rows - real)
    short = sum(len(set(batch)) < rows for batch in counting.batches)
    assert short <= 2  # a pass over the sentences themselves, a pass over what is changed in them
    return len(seen)


@pytest.mark.parametrize("rows", [1, 3, 16])
@pytest.mark.parametrize(("n", "k"), [(2, 1), (3, 2), (5, 3), (6, 8)])
def test_rows_of_one_sentence_are_shared(n: int, k: int, rows: int) -> None:
    counting = Counting(BIGRAM)
    found = survey(counting, some_sentences(BIGRAM, [n]), Rule("top-k", alternatives=k, k=8), rows=rows)
    assert len(found) == n * (n - 1) // 2 * k * k
    assert assert_economical(counting, rows) == n + n * (n - 1) * k


def test_given_rectangles_share_rows_too() -> None:
    (x,) = some_sentences(TABLE, [4])
    found = survey(TABLE, [x], Rule("uniform", alternatives=2))
    counting = Counting(TABLE)
    again = measure_again(counting, [x], found.rectangles, 5)
    assert assert_economical(counting, 5) == 4 + 4 * 3 * 2
    assert np.array_equal(again.ratios, found.ratios)


def test_sentences_of_one_length_share_batches() -> None:
    counting = Counting(random_bigram(80, 25))  # so many words that no row of one sentence is one of another
    sentences = some_sentences(counting, [4] * 10 + [3] * 10, seed=1)
    survey(counting, sentences, Rule("top-k", alternatives=2, k=8), rows=16)
    rows = 10 * (4 + 12 * 2) + 10 * (3 + 6 * 2)
    assert sum(len(set(batch)) for batch in counting.batches) == rows
    assert len(counting.batches) <= -(-rows // 16) + 4


def test_a_proposer_reads_the_sentences_and_the_model_all_four_rows() -> None:
    model, proposer = Counting(TABLE), Counting(JointTable.random(4, 6, np.random.default_rng(23)))
    survey(model, some_sentences(TABLE, [4]), Rule("top-k", alternatives=2, k=3), proposer, rows=4)
    assert assert_economical(model, 4) == 4 + 4 * 3 * 2
    assert assert_economical(proposer, 4) == 4


def test_batches_of_a_joint_law_are_full_too() -> None:
    law = Law(JointTable.random(4, 6, np.random.default_rng(24)))
    found = survey(law, some_sentences(TABLE, [4] * 3), Rule("uniform", alternatives=2), TABLE, rows=5)
    assert set(law.calls) == {5} and len(law.calls) == -(-8 * len(found) // 5)


def assert_rectangles(one: Measured, other: Measured) -> None:
    for mine, yours in zip(one.rectangles.columns[1:], other.rectangles.columns[1:], strict=True):
        assert np.array_equal(mine, yours)


def of_sentence(found: Measured, sentence: int) -> Measured:
    return found.take(np.nonzero(found.rectangles.sentence == sentence)[0])


COMPANY = [(6,), (6, 2, 9, 6), (6, 6, 6, 6, 6, 6, 6), (6, 13, 5, 1, 6, 30)]


@pytest.mark.parametrize("rows", [1, 4, 16])
@pytest.mark.parametrize("family", FAMILIES)
def test_company_changes_no_bit(family: str, rows: int) -> None:
    lm, rule = model(family), Rule(positions="random", pairs=6, alternatives=2, seed=4)
    first = some_sentences(lm, [6], seed=5)
    alone: Measured | None = None
    for lengths in COMPANY:
        found = of_sentence(survey(lm, first + some_sentences(lm, lengths[1:], seed=6), rule, rows=rows), 0)
        alone = alone or found
        assert_rectangles(found, alone)
        assert np.array_equal(found.ratios, alone.ratios)


@pytest.mark.parametrize("family", FAMILIES)
def test_in_float64_the_batch_shape_changes_rounding_only(family: str) -> None:
    lm = load(str(folder(family)), dtype=torch.float64)
    sentences, rule = some_sentences(lm, [6, 3, 8, 6], seed=7), Rule(positions="adjacent")
    by_rows = [survey(lm, sentences, rule, rows=rows) for rows in (1, 4, 16)]
    for other in by_rows[1:]:
        assert_rectangles(other, by_rows[0])
        assert np.allclose(other.ratios, by_rows[0].ratios, rtol=0, atol=1e-11)
    assert_each_alone(lm, sentences, by_rows[2])


def assert_each_alone(lm: MaskedLM, sentences: Sequence[Sequence[int]], found: Measured) -> None:
    r = found.rectangles
    for row in range(0, len(found), 5):
        x = sentences[r.sentence[row]]
        picked = (int(r.i[row]), int(r.j[row]), int(r.a_new[row]), int(r.b_new[row]))
        assert found.ratios[row].tolist() == pytest.approx(rectangle(lm, x, *picked).ratios, rel=0, abs=1e-11)
        assert found.ratios[row].tolist() == pytest.approx(plain(lm, x, *picked).ratios, rel=0, abs=1e-10)


def test_measured_again_is_measured() -> None:
    lm = model("bert")
    sentences = some_sentences(lm, [4, 7, 4, 2, 7], seed=9)
    found = survey(lm, sentences, Rule(alternatives=2))
    order = np.random.default_rng(10).permutation(len(found))[:50]  # any order, several lengths at once
    again = measure_again(lm, sentences, found.rectangles.take(order))
    assert np.array_equal(again.ratios, found.ratios[order])
    nothing = measure_again(lm, sentences, found.rectangles.take(order[:0]))
    assert nothing.ratios.shape == (0, 4)


def test_positions_may_come_in_either_order() -> None:
    lm = model("modernbert")
    (x,) = some_sentences(lm, [7], seed=11)
    found = survey(lm, [x], Rule(alternatives=2))
    r = found.rectangles
    turned = Rectangles(r.sentence, r.j, r.i, r.b, r.a, r.b_new, r.a_new)
    again = measure_again(lm, [x], turned)
    assert np.array_equal(again.ratios, found.ratios[:, [2, 3, 0, 1]]) and np.array_equal(again.curl, -found.curl)


def test_parts_hold_every_sentence_once_and_share_rises_to_one() -> None:
    sentences = some_sentences(BIGRAM, [9] * 40 + [1, 0] + [5] * 40, seed=12)
    rule = Rule("uniform", "random", pairs=12)
    parts = list(survey_parts(BIGRAM, sentences, rule))
    assert len(parts) > 2
    names = np.concatenate([np.unique(part.measured.rectangles.sentence) for part in parts])
    assert sorted(names.tolist()) == [s for s in range(82) if s not in (40, 41)]
    shares = [part.share for part in parts]
    assert 0 < shares[0] and shares == sorted(set(shares)) and shares[-1] == pytest.approx(1)
    whole = survey(BIGRAM, sentences, rule)
    assert whole.rectangles.sentence.tolist() == sorted(whole.rectangles.sentence.tolist())
    assert len(whole) == sum(len(part.measured) for part in parts)
    for part in parts:
        name = int(part.measured.rectangles.sentence[0])
        assert np.array_equal(of_sentence(whole, name).ratios, of_sentence(part.measured, name).ratios)
