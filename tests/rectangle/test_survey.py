"""A survey of many sentences: their streams, what is context only, what is left out, progress and cancelling."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from glauber_core.errors import UserError
from glauber_core.exact import Bigram, ConditionalTable
from glauber_core.rectangle import Measured, Rule, survey, survey_parts
from tests.exact.models import mask, random_bigram
from tests.models.checkpoints import model
from tests.rectangle.plain import Counting, Law, plain, some_sentences

BIGRAM: Bigram = random_bigram(9, 41, mask(1, 1, 1, 0, 1, 1, 1, 0, 1))
RULES = [
    Rule(alternatives=2, seed=6),
    Rule("top-k", "random", alternatives=2, pairs=3, k=4, seed=6),
    Rule("uniform", "adjacent", seed=6),
    Rule("natural", "distance", distance=2, seed=6),
]


def of_sentence(found: Measured, sentence: int) -> list[list[float]]:
    """Everything about one sentence's rectangles, its own number left out."""
    mine = found.rectangles.sentence == sentence
    columns = [*found.rectangles.columns[1:], *found.ratios.T]
    return np.stack([column[mine] for column in columns], axis=1).tolist()


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_a_survey_is_its_rectangles_one_by_one(rule: Rule) -> None:
    sentences = some_sentences(BIGRAM, [5, 3, 7, 5], seed=1)
    found = survey(BIGRAM, sentences, rule)
    r = found.rectangles
    assert len(found) > 8 and found.distance.tolist() == np.abs(r.i - r.j).tolist()
    for row in range(len(found)):
        x = sentences[r.sentence[row]]
        assert (r.a[row], r.b[row]) == (x[r.i[row]], x[r.j[row]]) and r.i[row] < r.j[row]
        wanted = plain(BIGRAM, x, int(r.i[row]), int(r.j[row]), int(r.a_new[row]), int(r.b_new[row]))
        assert found.ratios[row].tolist() == pytest.approx(wanted.ratios, abs=1e-12)
        assert found.l1[row] == pytest.approx(wanted.l1, abs=1e-12)
        assert found.l2[row] == pytest.approx(wanted.l2, abs=1e-12)
        assert found.delta[row] == pytest.approx(wanted.delta, abs=1e-12)
        assert found.relative[row] == pytest.approx(wanted.relative, abs=1e-9)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_a_sentence_draws_the_same_whatever_the_others_are(rule: Rule) -> None:
    first, mine = some_sentences(BIGRAM, [6, 6], seed=2)
    alike = survey(BIGRAM, [first, mine], rule)
    for lengths in ([6], [3, 6], [9, 2, 6, 6, 30], [1, 0]):
        others = some_sentences(BIGRAM, lengths, seed=3)
        found = survey(BIGRAM, [others[0], mine, *others[1:]], rule)
        assert of_sentence(found, 1) == of_sentence(alike, 1) != []


def test_equal_sentences_draw_differently() -> None:
    (x,) = some_sentences(BIGRAM, [6], seed=4)
    found = survey(BIGRAM, [x, x, x], RULES[0])
    assert of_sentence(found, 0) != of_sentence(found, 1) != of_sentence(found, 2)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_the_seed_decides(rule: Rule) -> None:
    sentences = some_sentences(BIGRAM, [6, 4], seed=5)
    one, again = survey(BIGRAM, sentences, rule), survey(BIGRAM, sentences, rule)
    other = survey(BIGRAM, sentences, Rule(**{**rule.__dict__, "seed": 7}))
    assert of_sentence(one, 0) == of_sentence(again, 0) != of_sentence(other, 0)


def test_more_alternatives_do_not_change_the_pairs() -> None:
    sentences = some_sentences(BIGRAM, [8], seed=6)
    few, many = (survey(BIGRAM, sentences, Rule("natural", "random", alternatives=k, pairs=4)) for k in (1, 3))
    pairs = [sorted(set(zip(f.rectangles.i.tolist(), f.rectangles.j.tolist(), strict=True))) for f in (few, many)]
    assert pairs[0] == pairs[1] and len(pairs[0]) == 4


def test_tokens_the_model_never_writes_are_context_only() -> None:
    x = [0, 3, 1, 7, 2]  # 3 and 7 are barred
    found = survey(BIGRAM, [x], Rule("uniform", alternatives=2))
    r = found.rectangles
    assert sorted(set(zip(r.i.tolist(), r.j.tolist(), strict=True))) == [(0, 2), (0, 4), (2, 4)]
    assert not {3, 7} & {*r.a_new.tolist(), *r.b_new.tolist()} and np.isfinite(found.ratios).all()
    other = survey(BIGRAM, [[0, 7, 1, 3, 2]], Rule("uniform", alternatives=2))
    assert np.array_equal(other.rectangles.a_new, r.a_new) and not np.allclose(other.ratios, found.ratios)  # but read
    adjacent = survey(BIGRAM, [[0, 3, 1, 2]], Rule(positions="adjacent")).rectangles
    assert (adjacent.i.tolist(), adjacent.j.tolist()) == ([2], [3])  # 0 and 1 are no neighbours


def test_a_blank_of_a_network_is_context_only() -> None:
    lm = model("bert")
    x = lm.vocabulary.encode("the cat [MASK] on the mat").ids
    found = survey(lm, [x], Rule(alternatives=2))
    blank = x.index(lm.vocabulary.mask_id)
    assert blank not in {*found.rectangles.i.tolist(), *found.rectangles.j.tolist()}
    assert len(found) == 10 * 4 and np.isfinite(found.ratios).all()
    assert bool(lm.allowed[torch.from_numpy(found.rectangles.a_new)].all())


def test_sentences_without_a_pair_are_left_out() -> None:
    short = [[], [2], [3, 0, 7], [0, 1], [7, 3]]
    found = survey(BIGRAM, short, Rule("uniform"))
    assert found.rectangles.sentence.tolist() == [3]
    far = survey(BIGRAM, [[0, 1, 2], [0, 1, 2, 4, 5]], Rule(positions="distance", distance=4))
    assert far.rectangles.sentence.tolist() == [1]


@pytest.mark.parametrize("sentences", [[], [[]], [[1]], [[3, 7, 3]], [[0, 3], [7, 1]]])
def test_nothing_at_all_is_refused(sentences: list[list[int]]) -> None:
    with pytest.raises(UserError, match="two words that the model knows"):
        survey(BIGRAM, sentences, Rule())


def test_no_pair_at_that_distance_is_refused() -> None:
    for rule in (Rule(positions="distance", distance=3), Rule(positions="adjacent")):
        with pytest.raises(UserError, match="No two words stand at that distance"):
            survey(BIGRAM, [[0, 3, 1], [2]], rule)


# -- progress and cancelling ------------------------------------------------------------------------------------------


class Stop(Exception):
    pass


def stop_at(share: float) -> Callable[[float], None]:
    def progress(done: float) -> None:
        if done >= share:
            raise Stop

    return progress


LONG = some_sentences(BIGRAM, [7] * 60 + [4] * 20, seed=7)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_progress_rises_from_zero_to_one(rule: Rule) -> None:
    shares: list[float] = []
    survey(BIGRAM, LONG, rule, progress=shares.append)
    assert shares[0] == 0 and shares == sorted(shares) and shares[-1] == pytest.approx(1, abs=1e-12)
    assert max(shares) <= 1 + 1e-12 and len(set(shares)) > 10


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_a_survey_can_be_cancelled(share: float) -> None:
    whole, cut = Counting(BIGRAM), Counting(BIGRAM)
    survey(whole, LONG, RULES[0])
    with pytest.raises(Stop):
        survey(cut, LONG, RULES[0], progress=stop_at(share))
    assert len(cut.batches) <= (share + 0.1) * len(whole.batches)
    if share == 0:
        assert cut.batches == []


def test_parts_done_before_the_cancelling_stay() -> None:
    kept = []
    with pytest.raises(Stop):
        for part in survey_parts(BIGRAM, LONG, RULES[0], progress=stop_at(0.7)):
            kept.append(part)
    assert kept and kept[-1].share <= 0.7
    whole = survey(BIGRAM, LONG, RULES[0])
    for part in kept:
        for sentence in set(part.measured.rectangles.sentence.tolist()):
            assert of_sentence(part.measured, sentence) == of_sentence(whole, sentence)


def test_a_survey_of_a_joint_law_can_be_cancelled() -> None:
    whole, cut = Law(BIGRAM), Law(BIGRAM)
    survey(whole, LONG, RULES[0], BIGRAM)
    with pytest.raises(Stop):
        survey(cut, LONG, RULES[0], BIGRAM, progress=stop_at(0.3))
    assert 0 < len(cut.calls) < 0.4 * len(whole.calls)


def test_nothing_is_evaluated_before_the_first_part_is_asked_for() -> None:
    counting = Counting(ConditionalTable.random(3, 3, np.random.default_rng(42)))
    parts = survey_parts(counting, [[0, 1, 2]], Rule())
    assert counting.batches == []
    assert len(list(parts)) == 1 and counting.batches
