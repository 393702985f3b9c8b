"""One rectangle: against a plain loop, by hand, and against the joint laws of models that have one."""

from __future__ import annotations

import json
import math
from functools import cache

import numpy as np
import pytest
import torch

from glauber_core.errors import UserError
from glauber_core.exact import Bigram, ConditionalTable, CurieWeiss, JointTable, Potts
from glauber_core.models import MaskedLM, load
from glauber_core.rectangle import Probe, Rule, check, rectangle, survey
from glauber_core.types import Conditionals
from tests.exact.models import compatible, every, incompatible, mask
from tests.models.checkpoints import FAMILIES, folder, model, named
from tests.rectangle.plain import Counting, draw_rectangle, plain, some_sentences

FLAT = 1e-10  # nats: what a joint law's rectangles may read in float64


@cache
def precise(family: str) -> MaskedLM:
    return load(str(folder(family)), dtype=torch.float64)


def assert_same(found: Probe, model: Conditionals, tolerance: float) -> None:
    wanted = plain(model, found.x, found.i, found.j, found.y[found.i], found.w[found.j])
    near = {"rel": 0, "abs": tolerance}
    assert found.ratios == pytest.approx(wanted.ratios, **near)
    for name in ("l1", "l2", "curl", "delta"):
        assert getattr(found, name) == pytest.approx(getattr(wanted, name), **near), name
    if abs(wanted.l1) + abs(wanted.l2) > 1e-3:
        assert found.relative == pytest.approx(wanted.relative, rel=0, abs=tolerance * 1e4)


@pytest.mark.parametrize("name", every())
def test_a_rectangle_is_four_rows_one_at_a_time(name: str) -> None:
    model, n = every()[name]
    rng = np.random.default_rng(1)
    for _ in range(20):
        assert_same(rectangle(model, *draw_rectangle(model, n, rng)), model, 1e-13)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_rectangle_of_a_network(family: str) -> None:
    rng = np.random.default_rng(2)
    for n in (2, 5, 6, 11):
        picked = draw_rectangle(model(family), n, rng)
        exact = rectangle(precise(family), *picked)
        assert_same(exact, precise(family), 1e-10)
        assert exact.delta > 1e-3  # random weights contradict themselves
        single = rectangle(model(family), *picked)
        assert single.ratios == pytest.approx(exact.ratios, rel=0, abs=1e-4) and single.ratios != exact.ratios


def test_the_built_in_model_contradicts_itself() -> None:
    mini = named("glauber-mini")
    words = mini.vocabulary
    x = words.encode("she moved to new york when she was young .").ids
    found = rectangle(mini, x, 3, 4, words.word_id("los", False), words.word_id("angeles", False), floor=1e-3)
    assert_same(found, mini, 1e-3)
    assert found.delta > 0.5 and found.verdict == "contradiction"


def test_a_rectangle_costs_one_batch_of_four_rows() -> None:
    counting = Counting(every()["conditional"][0])
    rectangle(counting, [0, 1, 2], 2, 0, 1, 1)
    (batch,) = counting.batches
    assert sorted(batch) == [(0, (-1, 1, 1)), (0, (-1, 1, 2)), (2, (0, 1, -1)), (2, (1, 1, -1))]


def test_a_rectangle_by_hand() -> None:
    # Odds of 1 to 0: p_0 given x_1 = 0: 2, given 1: 3; p_1 given x_0 = 0: 5, given 1: 7. From x = (0, 0):
    # word 0 first: 2, then at x_0 = 1: 7, together 14. Word 1 first: 5, then at x_1 = 1: 3, together 15.
    odds = torch.tensor([[[1, 2], [1, 3]], [[1, 5], [1, 7]]], dtype=torch.float64)
    table = ConditionalTable(odds.log())
    found = rectangle(table, [0, 0], 0, 1, 1, 1, floor=0.05)
    assert (found.x, found.y, found.w, found.z) == ((0, 0), (1, 0), (0, 1), (1, 1))
    assert found.ratios == pytest.approx([math.log(k) for k in (2, 7, 5, 3)], abs=1e-15)
    assert (found.l1, found.l2) == pytest.approx((math.log(14), math.log(15)), abs=1e-15)
    assert found.curl == pytest.approx(math.log(14 / 15), abs=1e-15)
    assert found.delta == pytest.approx(math.log(15 / 14), abs=1e-15) and found.verdict == "contradiction"
    assert found.relative == pytest.approx(math.log(15 / 14) / math.log(210), abs=1e-15)
    back = rectangle(table, [1, 0], 0, 1, 0, 1)  # (1,0): 1/2 and 5 against 7 and 1/3
    assert back.curl == pytest.approx(math.log(5 / 2) - math.log(7 / 3), abs=1e-15)


def wide_bigram() -> Bigram:
    """3,000 tokens, every seventh never written."""
    rng = np.random.default_rng(3)
    text = [(3000 * rng.random(12) ** 3).astype(np.int64).tolist() for _ in range(300)]
    return Bigram.from_sequences(text, 3000, torch.arange(3000) % 7 != 3)


FLAT_MODELS: dict[str, tuple[Conditionals, int]] = {
    **compatible(),
    "curie-weiss-long": (CurieWeiss(1.2), 12),
    "potts-long": (Potts(5, 4.0, mask(1, 1, 0, 1, 1)), 9),
    "bigram-wide": (wide_bigram(), 8),
}


@pytest.mark.parametrize("replacements", ["natural", "top-k", "uniform"])
@pytest.mark.parametrize("name", FLAT_MODELS)
def test_a_joint_law_has_flat_rectangles(name: str, replacements: str) -> None:
    model, n = FLAT_MODELS[name]
    found = survey(model, some_sentences(model, [n] * 6), Rule(replacements, alternatives=3))  # type: ignore[arg-type]
    assert len(found) >= 6 * n * (n - 1) / 2 and found.delta.max() < FLAT
    assert np.abs(found.ratios).max() > 0.1  # flat, but not because nothing was measured


@pytest.mark.parametrize("name", incompatible())
def test_conditionals_of_no_law_do_not(name: str) -> None:
    model, n = incompatible()[name]
    found = survey(model, some_sentences(model, [n] * 6), Rule("uniform", alternatives=2))
    assert found.delta.min() > 1e-6 and np.median(found.delta) > 0.1


def test_both_sums_are_the_log_ratio_of_the_joint_law() -> None:
    rng = np.random.default_rng(4)
    law = JointTable.random(4, 4, rng, 2.0, mask(1, 1, 0, 1))
    for _ in range(30):
        found = rectangle(law, *draw_rectangle(law, 4, rng))
        x, z = law.log_weight(torch.tensor([found.x, found.z])).tolist()
        assert (found.l1, found.l2) == pytest.approx((z - x, z - x), abs=1e-12)


def test_numbers_at_a_temperature() -> None:
    table, n = incompatible()["conditional"]
    picked = draw_rectangle(table, n, np.random.default_rng(5))
    one, hot = rectangle(table, *picked, floor=1e-3), rectangle(table, *picked, tau=2.5, floor=1e-3)
    assert hot.tau == 2.5 and hot.floor == 1e-3 / 2.5 and hot.verdict == one.verdict == "contradiction"
    for name in ("l1", "l2", "curl", "delta"):
        assert getattr(hot, name) == pytest.approx(getattr(one, name) / 2.5, rel=1e-12)
    assert hot.ratios == pytest.approx([r / 2.5 for r in one.ratios], rel=1e-12) and hot.relative == one.relative


@pytest.mark.parametrize("tau", [1e-100, 1e-3, 1.0, 1e6, 1e308])
def test_the_verdict_does_not_depend_on_the_temperature(tau: float) -> None:
    law, table = every()["joint"][0], every()["conditional"][0]
    assert rectangle(table, [0, 1, 2], 0, 1, 2, 0, tau=tau, floor=1e-12).verdict == "contradiction"
    assert rectangle(law, [0, 1, 2], 0, 1, 2, 0, tau=tau, floor=1e-12).verdict == "agree"
    assert rectangle(law, [0, 1, 2], 0, 1, 2, 0, tau=tau).verdict == "unknown"
    assert math.isfinite(rectangle(table, [0, 1, 2], 0, 1, 2, 0, tau=tau).l1)


def test_a_delta_at_the_floor_is_no_contradiction() -> None:
    table = every()["conditional"][0]
    delta = rectangle(table, [0, 1, 2], 0, 1, 2, 0).delta
    for tau in [1.0 + k / 8 for k in range(40)]:  # to divide both by tau could make them equal
        assert rectangle(table, [0, 1, 2], 0, 1, 2, 0, tau, floor=delta).verdict == "agree"
        assert rectangle(table, [0, 1, 2], 0, 1, 2, 0, tau, floor=math.nextafter(delta, 0)).verdict == "contradiction"


@pytest.mark.parametrize("tau", [0, 0.0, -0.0, -1.0, math.nan, math.inf, 5e-324, 1e-101])
def test_temperatures_that_are_refused(tau: float) -> None:
    with pytest.raises(UserError, match="temperature"):
        rectangle(every()["joint"][0], [0, 1, 2], 0, 1, 2, 0, tau=tau)


def test_where_all_sums_are_zero_the_relative_delta_is_zero() -> None:
    still = ConditionalTable(torch.zeros(2, 2, 2, dtype=torch.float64))
    found = rectangle(still, [0, 1], 0, 1, 1, 0)
    assert (found.l1, found.l2, found.delta, found.relative) == (0, 0, 0, 0)


def test_a_probe_is_ready_for_json() -> None:
    found = rectangle(every()["conditional"][0], np.array([0, 1, 2]).tolist(), 0, 2, 2, 0)
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert list(data["ratios"]) == ["xy", "yz", "xw", "wz"] and list(data["ratios"].values()) == list(found.ratios)
    assert data["x"] == [0, 1, 2] and data["z"] == [2, 1, 0] and data["floor"] is None and data["verdict"] == "unknown"


BAD = [
    ([0], 0, 0, 1, 1, "type a longer sentence"),
    ([], 0, 1, 1, 1, "type a longer sentence"),
    ([0, 1, 3], 3, 0, 1, 1, "no word 4: the sentence has 3 tokens"),
    ([0, 1, 3], 0, -1, 1, 1, "no word 0: the sentence has 3 tokens"),
    ([0, 1, 3], 1, 1, 0, 0, "the same word"),
    ([0, 2, 3], 0, 1, 1, 1, "Word 2 is not one the model writes"),
    ([0, -1, 3], 1, 0, 1, 1, "Word 2 is not one the model writes"),
    ([0, 4, 3], 1, 0, 1, 1, "Word 2 is not one the model writes"),
    ([0, 1, 3], 0, 1, 2, 0, "never writes the replacement of word 1"),
    ([0, 1, 3], 0, 1, 4, 0, "never writes the replacement of word 1"),
    ([0, 1, 3], 0, 1, 1, -1, "never writes the replacement of word 2"),
    ([0, 1, 3], 0, 1, 0, 0, "Word 1 already stands there"),
    ([0, 1, 3], 0, 1, 1, 1, "Word 2 already stands there"),
]


@pytest.mark.parametrize(("x", "i", "j", "a_new", "b_new", "words"), BAD)
def test_what_is_no_rectangle_is_refused_in_one_sentence(
    x: list[int], i: int, j: int, a_new: int, b_new: int, words: str
) -> None:
    table = every()["conditional-barred"][0]  # token 2 is never written
    with pytest.raises(UserError) as refused:
        check(table.allowed, x, i, j, a_new, b_new)
    sentence = str(refused.value)
    assert words in sentence and sentence[0].isupper() and sentence.endswith(".") and "\n" not in sentence
    with pytest.raises(UserError, match=words):
        rectangle(table, x, i, j, a_new, b_new)


def test_a_token_never_written_may_stand_beside_the_corners() -> None:
    table = every()["conditional-barred"][0]
    assert_same(rectangle(table, [0, 2, 3], 2, 0, 1, 3), table, 1e-13)
