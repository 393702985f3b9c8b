"""Models side by side: controls read what they must, in order, and the work can be cancelled."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from glauber_core.errors import UserError
from glauber_core.exact import JointTable
from glauber_core.models import load
from glauber_core.rectangle import Rule, Subject, bigram_control, compare, physics_controls, subject, summarize, survey
from tests.exact.models import random_bigram
from tests.models.checkpoints import causal, folder, model
from tests.rectangle.plain import Counting, Law, Rounded, some_sentences

JOINT = JointTable.random(4, 5, np.random.default_rng(81), 2.0)
SENTENCES = some_sentences(JOINT, [4] * 8)
RULES = [
    Rule(seed=2),
    Rule("top-k", alternatives=3, k=4),
    Rule("uniform", "random", pairs=2),
    Rule("uniform", "adjacent"),
]
TEXTS = ["the cat sat on the mat .", "the doctor told the patient to drink water ."]


def subjects() -> list[Subject]:
    """A table, the same as a law, and a Markov chain in float32."""
    chain = random_bigram(30, 82)
    return [
        Subject("table", "control", JOINT, SENTENCES),
        Subject("law", "by construction", Law(JOINT), SENTENCES, proposer=JOINT),
        Subject("rounded", "control", Rounded(chain), some_sentences(chain, [6] * 8), precise=chain),
    ]


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_physics_reads_zero_and_random_conditionals_do_not(rule: Rule) -> None:
    magnet, random = compare(physics_controls(rule), rule)
    assert (magnet.subject.kind, random.subject.kind) == ("control", "control")
    assert 0 < magnet.floor.value < 1e-11 and magnet.measured.delta.max() <= magnet.floor.value
    assert magnet.summary.above == 0 and np.abs(magnet.measured.ratios).max() > 0.1
    assert random.summary.median > 0.3 and random.summary.above > 0.99
    assert random.summary.intervals["median"][0] > 0.1
    assert magnet.summary.sentences == random.summary.sentences == 20


def test_the_seed_chooses_the_random_conditionals() -> None:
    def deltas(seed: int) -> list[float]:
        rule = Rule(seed=seed)
        control = physics_controls(rule)[1]
        return survey(control.model, control.sentences, Rule("uniform")).delta.tolist()

    assert deltas(1) == deltas(1) != deltas(2)


@pytest.mark.parametrize(("distance", "names"), [(3, 2), (4, 1), (12, 1), (70, 1)])
def test_controls_fit_a_rule_of_any_distance(distance: int, names: int) -> None:
    rule = Rule("natural", "distance", distance=distance)
    rows = compare(physics_controls(rule), rule)
    assert [row.subject.name for row in rows] == ["Curie-Weiss magnet", "random conditionals"][:names]
    assert all(row.measured.distance.tolist() == [distance] * len(row.measured) for row in rows)
    assert rows[0].summary.above == 0 and rows[0].summary.sentences == 20
    assert f"{max(12, distance + 1)} spins" in rows[0].subject.note


def test_a_language_model_comes_with_the_sentences_it_can_read() -> None:
    lm, wide = model("bert"), "a " * 65
    one = subject(lm, [TEXTS[0], wide, "", TEXTS[1]])
    assert one.kind == "masked" and one.sentences == [lm.vocabulary.encode(text).ids for text in TEXTS]
    with pytest.raises(UserError, match="none of the sentences"):
        subject(lm, ["", wide])


def test_a_causal_model_takes_words_from_a_masked_one_or_from_its_whole_vocabulary() -> None:
    lm, other = model("bert"), model("roberta")
    shared = subject(causal("gpt2-wordpiece"), TEXTS, [other, lm])
    assert shared.kind == "by construction" and shared.proposer is lm
    alone = subject(causal("gpt2"), TEXTS, [other, lm])
    rule = Rule("natural", "random", pairs=4, alternatives=5)
    for tested in (shared, alone):
        (row,) = compare([tested], rule)
        assert row.summary.above == 0 and row.measured.delta.max() < 1e-10
    # About 600 words: natural draws from their uniform law seldom repeat one.
    new = row.measured.rectangles.a_new
    assert len(set(new.tolist())) > 20 and bool(tested.model.allowed[torch.from_numpy(new)].all())


def test_rows_keep_the_order_and_say_what_was_measured() -> None:
    rule = Rule("uniform", alternatives=2, seed=3)
    tested = subjects()
    found = compare(tested, rule)
    assert [row.subject for row in found] == tested
    for row in found:
        one = row.subject
        wanted = survey(one.model, one.sentences, rule, one.proposer)
        assert np.array_equal(row.measured.ratios, wanted.ratios)
        assert row.summary == summarize(wanted, row.floor.value, rule.seed)
    table, law, rounded = found
    for mine, yours in zip(table.measured.rectangles.columns, law.measured.rectangles.columns, strict=True):
        assert np.array_equal(mine, yours)
    assert table.floor.dtype == "float64" and rounded.floor.dtype == "float32"
    assert rounded.floor.value > 1e3 * table.floor.value and rounded.summary.above == 0
    assert [row.subject.name for row in compare(tested[::-1], rule)] == ["rounded", "law", "table"]


def test_networks_and_controls_on_the_same_sentences() -> None:
    lm, twin = model("bert"), load(str(folder("bert")), dtype=torch.float64)
    sentences = [lm.vocabulary.encode(text).ids for text in TEXTS]
    rule = Rule("natural", "random", pairs=5)
    tested = [
        Subject("masked", "masked", lm, sentences, precise=twin),
        bigram_control(lm, sentences),
        Subject("causal", "by construction", causal("gpt2-wordpiece"), sentences, proposer=lm),
    ]
    masked, bigram, left = compare(tested, rule)
    assert masked.summary.above == 1 and masked.summary.mean > 0.01
    assert bigram.subject.kind == "control" and bigram.summary.above == 0 and bigram.measured.delta.max() < 1e-10
    assert left.summary.above == 0 and left.measured.delta.max() < 1e-10
    law = bigram.subject.model
    assert law.vocab_size == lm.vocab_size and torch.equal(law.allowed, lm.allowed)
    assert np.array_equal(masked.measured.rectangles.a_new, left.measured.rectangles.a_new)


def test_a_subject_that_offers_nothing_is_refused() -> None:
    with pytest.raises(UserError, match="two words"):
        compare([*subjects(), Subject("short", "control", JOINT, [[]])], Rule())
    assert compare([], Rule()) == []


# -- progress and cancelling ------------------------------------------------------------------------------------------


def test_progress_rises_within_each_subject_and_subjects_come_in_order() -> None:
    calls: list[tuple[int, float]] = []
    compare(subjects(), Rule("uniform", alternatives=2), lambda index, share: calls.append((index, share)))
    assert calls == sorted(calls)
    for index in range(3):
        shares = [share for k, share in calls if k == index]
        assert shares[0] == 0 and shares[-1] == 1 and max(shares) <= 1 and len(set(shares)) > 5


class Stop(Exception):
    pass


@pytest.mark.parametrize(("at", "share"), [(0, 0.0), (0, 0.5), (0, 0.92), (1, 0.0)])
def test_what_progress_raises_ends_the_work(at: int, share: float) -> None:
    first, second = Counting(JOINT), Counting(JOINT)
    whole = Counting(JOINT)
    rule = Rule("uniform", alternatives=2)

    def stop(index: int, done: float) -> None:
        if (index, done) >= (at, share):
            raise Stop

    compare([Subject("whole", "control", whole, SENTENCES)], rule)
    with pytest.raises(Stop):
        compare([Subject(name, "control", m, SENTENCES) for name, m in (("1", first), ("2", second))], rule, stop)
    assert second.batches == []
    done = len(first.batches) / len(whole.batches)
    assert {(0, 0.0): done == 0, (1, 0.0): done == 1}.get((at, share), 0 < done < 1)
