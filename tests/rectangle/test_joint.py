"""Laws given outright: rectangles that close by construction, replacements from a proposer."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from glauber_core.errors import UserError
from glauber_core.exact import Bigram, ConditionalTable, JointTable
from glauber_core.rectangle import Measured, Rule, measure_again, noise_floor, rectangle, survey
from glauber_core.types import Conditionals, JointLaw
from tests.exact.models import compatible, mask, random_bigram
from tests.models.checkpoints import causal, model
from tests.rectangle.plain import Law, Wrapped, draw_rectangle, plain, put, some_sentences

JOINT = JointTable.random(4, 5, np.random.default_rng(51), 2.0)
RULE = Rule("uniform", alternatives=2, seed=2)


def assert_from_joint(law: JointLaw, x: list[int], found: Measured, row: int, tolerance: float) -> None:
    """The four ratios as differences of log P of whole sentences, each corner alone."""
    r = found.rectangles
    i, j, a_new, b_new = (int(column[row]) for column in (r.i, r.j, r.a_new, r.b_new))
    y, w = put(x, i, a_new), put(x, j, b_new)
    corners = {"x": x, "y": y, "w": w, "z": put(y, j, b_new)}
    log = {name: float(law.log_joint(torch.tensor([state]))[0]) for name, state in corners.items()}
    wanted = [log["y"] - log["x"], log["z"] - log["y"], log["w"] - log["x"], log["z"] - log["w"]]
    assert found.ratios[row].tolist() == pytest.approx(wanted, rel=0, abs=tolerance)


def test_a_law_is_not_taken_for_conditionals() -> None:
    assert isinstance(Law(JOINT), JointLaw) and not isinstance(Law(JOINT), Conditionals)


@pytest.mark.parametrize("name", compatible())
def test_the_joint_path_agrees_with_the_conditionals(name: str) -> None:
    exact, n = compatible()[name]
    rng = np.random.default_rng(52)
    for _ in range(10):
        picked = draw_rectangle(exact, n, rng)
        found, wanted = rectangle(Law(exact), *picked), plain(exact, *picked)
        assert found.ratios == pytest.approx(wanted.ratios, abs=1e-12)
        assert found.delta < 1e-13 * (1 + abs(found.l1) + abs(found.l2)) and found.verdict == "zero"
        x, z = exact.log_weight(torch.tensor([found.x, found.z])).tolist()
        assert (found.l1, found.l2) == pytest.approx((z - x, z - x), abs=1e-12)


def test_a_survey_draws_the_same_rectangles_on_both_paths() -> None:
    sentences = some_sentences(JOINT, [4] * 5)
    one, other = survey(JOINT, sentences, RULE), survey(Law(JOINT), sentences, RULE, JOINT)
    for mine, yours in zip(one.rectangles.columns, other.rectangles.columns, strict=True):
        assert np.array_equal(mine, yours)
    assert np.allclose(one.ratios, other.ratios, rtol=0, atol=1e-12)


def test_sentences_of_several_lengths() -> None:
    law = Law(random_bigram(6, 53, mask(1, 1, 0, 1, 1, 1)))
    sentences = some_sentences(law.model, [5, 2, 7, 2, 5], seed=3)
    found = survey(law, sentences, Rule("uniform"), law.model)
    for row in range(len(found)):
        assert_from_joint(law, sentences[found.rectangles.sentence[row]], found, row, 1e-12)


def test_a_law_needs_a_proposer() -> None:
    with pytest.raises(UserError, match="must be drawn from a masked language model"):
        survey(Law(JOINT), [[0, 1, 2, 3]], RULE)


def test_a_proposer_of_another_vocabulary_is_refused() -> None:
    for proposer in (
        JointTable.random(4, 4, np.random.default_rng(0)),
        JointTable.random(4, 6, np.random.default_rng(0)),
    ):
        with pytest.raises(UserError, match="the same vocabulary"):
            survey(Law(JOINT), [[0, 1, 2, 3]], RULE, proposer)


class Favourite(Wrapped):
    """Whatever the sentence, token 4, else token 3."""

    def __call__(self, states: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        return torch.tensor([0.0, 1.0, 2.0, 8.0, 9.0], dtype=torch.float64).repeat(len(states), 1)


@pytest.mark.parametrize("tested", [Law(JOINT), ConditionalTable.random(4, 5, np.random.default_rng(54))])
def test_replacements_come_from_the_proposer(tested: Conditionals | JointLaw) -> None:
    found = survey(tested, [[0, 4, 1, 4]], Rule("top-k", k=1), Favourite(JOINT)).rectangles
    assert [(int(a), int(new)) for a, new in zip(found.a, found.a_new, strict=True)] == [
        (a, 3 if a == 4 else 4) for a in found.a
    ]
    assert found.b_new.tolist() == [3 if b == 4 else 4 for b in found.b]


@pytest.mark.parametrize("replacements", ["natural", "top-k", "uniform"])
def test_a_proposed_word_that_the_law_never_writes_is_not_taken(replacements: str) -> None:
    narrow = Law(JOINT, mask(1, 1, 1, 1, 0))
    rule = Rule(replacements, alternatives=6, k=2)  # type: ignore[arg-type]
    r = survey(narrow, [[0, 1, 2, 3], [4, 1, 1, 2]], rule, Favourite(JOINT)).rectangles
    assert not {4} & {*r.a.tolist(), *r.b.tolist(), *r.a_new.tolist(), *r.b_new.tolist()}
    if replacements == "top-k":
        assert {*r.a_new.tolist(), *r.b_new.tolist()} == {1, 2, 3}  # the two likeliest of those that are left
    table = ConditionalTable.random(4, 5, np.random.default_rng(55), allowed=mask(1, 1, 1, 1, 0))
    assert np.isfinite(survey(table, [[0, 1, 2, 3]], rule, JOINT).ratios).all()


def test_a_law_and_a_proposer_with_one_common_word_have_no_rectangle() -> None:
    law = Law(JOINT, mask(1, 1, 0, 0, 0))
    proposer = Bigram.from_sequences([[1, 2, 3]], 5, mask(0, 1, 1, 1, 0))
    found = survey(law, [[1, 1, 1, 1]], RULE, proposer)  # pairs there are, but nothing to put in
    assert len(found) == 0 and found.ratios.shape == (0, 4)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_causal_network_closes_every_rectangle(dtype: torch.dtype) -> None:
    lm, proposer = causal("gpt2-wordpiece", dtype), model("bert")
    sentences = some_sentences(lm, [5, 9, 5], seed=4)
    rule = Rule("natural", "random", alternatives=2, pairs=6)
    found = survey(lm, sentences, rule, proposer)
    assert len(found) == 3 * 6 * 4 and found.delta.max() < 1e-12 and np.abs(found.ratios).max() > 0.5
    for row in range(0, len(found), 9):
        assert_from_joint(
            lm, sentences[found.rectangles.sentence[row]], found, row, 1e-4 if dtype.itemsize == 4 else 1e-10
        )
    drawn = survey(proposer, sentences, rule).rectangles
    assert np.array_equal(drawn.a_new, found.rectangles.a_new) and np.array_equal(drawn.b_new, found.rectangles.b_new)
    floor = noise_floor(lm, None, sentences, found)
    assert floor.dtype == str(dtype).removeprefix("torch.") and found.delta.max() <= floor.value


def test_one_rectangle_of_a_causal_network() -> None:
    lm = causal("gpt2-wordpiece")
    probe = rectangle(lm, *draw_rectangle(lm, 6, np.random.default_rng(56)), floor=1e-9)
    assert probe.verdict == "zero" and probe.delta < 1e-12 and probe.floor == 1e-9


def test_a_law_can_measure_what_conditionals_drew() -> None:
    sentences = some_sentences(JOINT, [4] * 3, seed=5)
    found = survey(ConditionalTable.random(4, 5, np.random.default_rng(57)), sentences, RULE)
    again = measure_again(Law(JOINT), sentences, found.rectangles)
    assert found.delta.min() > 1e-6 and again.delta.max() < 1e-12
    assert np.allclose(again.ratios, measure_again(JOINT, sentences, found.rectangles).ratios, rtol=0, atol=1e-12)
