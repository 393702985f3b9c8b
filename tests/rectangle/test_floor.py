"""The noise floor: rounding and batch shapes, against deltas computed one row at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch

from glauber_core.exact import ConditionalTable, CurieWeiss
from glauber_core.models import load
from glauber_core.rectangle import Measured, Rule, noise_floor, probe, rectangle, survey
from glauber_core.rectangle.floor import SAMPLE, SHAPES
from glauber_core.types import Conditionals
from tests.exact.models import compatible, incompatible, random_bigram
from tests.models.checkpoints import FAMILIES, folder, model
from tests.rectangle.plain import Counting, Fixed, Jittery, Law, Rounded, plain, some_sentences

TABLE = ConditionalTable.random(4, 5, np.random.default_rng(61), 3.0)
SENTENCES = some_sentences(TABLE, [4] * 4, seed=1)
FOUND = survey(TABLE, SENTENCES, Rule("uniform", alternatives=2))  # 96 rectangles
EVERY = 10_000


def plain_deltas(lm: Conditionals, sentences: Sequence[Sequence[int]], found: Measured) -> np.ndarray:
    r = found.rectangles
    picked = zip(r.sentence.tolist(), r.i.tolist(), r.j.tolist(), r.a_new.tolist(), r.b_new.tolist(), strict=True)
    return np.array([plain(lm, sentences[s], i, j, a, b).delta for s, i, j, a, b in picked])


def test_rounding_to_float32_sets_the_floor() -> None:
    rounded = Rounded(TABLE)
    found = survey(rounded, SENTENCES, Rule("uniform", alternatives=2))
    floor = noise_floor(rounded, TABLE, SENTENCES, found, sample=EVERY)
    gap = np.abs(plain_deltas(rounded, SENTENCES, found) - plain_deltas(TABLE, SENTENCES, found)).max()
    assert floor.precision == pytest.approx(gap, rel=1e-6) and floor.jitter == 0
    assert floor.value == floor.precision + floor.arithmetic and floor.arithmetic < 1e-11
    # Eight logits of up to 2^3..2^4 nats, each off by at most 2^-24 of that.
    assert 1e-8 < floor.value <= 8 * 16 * 2**-24
    assert (floor.rectangles, floor.dtype) == (len(found), "float32")


@pytest.mark.parametrize("seed", range(5))
def test_the_floor_is_never_below_the_largest_gap(seed: int) -> None:
    table = ConditionalTable.random(3, 4, np.random.default_rng(seed), 10.0)
    sentences = some_sentences(table, [3] * 5, seed)
    found = survey(Rounded(table), sentences, Rule("uniform", alternatives=3))
    floor = noise_floor(Rounded(table), table, sentences, found, sample=len(found))
    exact = survey(table, sentences, Rule("uniform", alternatives=3))
    assert floor.value >= np.abs(found.delta - exact.delta).max() > 0


@pytest.mark.parametrize("name", [*compatible(), "curie-weiss-12", "bigram-wide"])
def test_in_float64_the_floor_is_tiny_and_controls_lie_below(name: str) -> None:
    more: dict[str, tuple[Conditionals, int]] = {
        "curie-weiss-12": (CurieWeiss(1.2), 12),
        "bigram-wide": (random_bigram(300, 62), 10),
    }
    exact, n = (compatible() | more)[name]
    sentences = some_sentences(exact, [n] * 6, seed=2)
    found = survey(exact, sentences, Rule("uniform", alternatives=3))
    floor = noise_floor(exact, None, sentences, found, sample=EVERY)
    assert 0 < floor.value < 1e-11 and floor.dtype == "float64" and floor.precision == 0
    assert found.delta.max() <= floor.value


def test_in_float64_contradictions_lie_above() -> None:
    for exact, n in incompatible().values():
        sentences = some_sentences(exact, [n] * 4, seed=3)
        found = survey(exact, sentences, Rule("uniform"))
        assert found.delta.min() > noise_floor(exact, None, sentences, found).value


def test_a_rounded_law_reads_below_its_floor() -> None:
    law = random_bigram(30, 63)
    sentences = some_sentences(law, [7] * 3, seed=4)
    found = survey(Rounded(law), sentences, Rule("uniform"))
    floor = noise_floor(Rounded(law), law, sentences, found, sample=EVERY)
    assert 0 < found.delta.max() <= floor.value < 1e-5
    for row in range(len(found)):  # by the width of float64's rounding: precision alone is less than the largest delta
        assert probe(found, row, sentences[found.rectangles.sentence[row]], floor=floor.value).verdict == "agree"


def test_batch_shapes_count_as_jitter() -> None:
    shaky = Jittery(TABLE, 1e-7)
    found = survey(shaky, SENTENCES, Rule("uniform", alternatives=2))
    floor = noise_floor(shaky, TABLE, SENTENCES, found, sample=EVERY)
    deltas = {rows: plain_deltas(Fixed(shaky, rows), SENTENCES, found) for rows in (1, 4, 16)}
    exact = plain_deltas(TABLE, SENTENCES, found)
    assert found.delta.tolist() == pytest.approx(deltas[16].tolist(), abs=1e-12)
    jitter = max(np.abs(deltas[rows] - deltas[16]).max() for rows in SHAPES)
    assert floor.jitter == pytest.approx(jitter, abs=1e-12) and 1e-8 < jitter < 2 * 8 * shaky.size
    # No way of computing is farther from the truth than the floor says, one rectangle by four rows included.
    worst = max(np.abs(deltas[rows] - exact).max() for rows in (1, 4, 16))
    assert floor.precision == pytest.approx(worst, abs=1e-12) and floor.value >= worst - 1e-12
    r = found.rectangles
    for row in range(0, len(found), 7):
        x = SENTENCES[r.sentence[row]]
        one = rectangle(shaky, x, int(r.i[row]), int(r.j[row]), int(r.a_new[row]), int(r.b_new[row]))
        assert abs(one.delta - exact[row]) <= floor.value + 1e-12


@pytest.mark.parametrize("family", FAMILIES)
def test_the_floor_of_a_network(family: str) -> None:
    lm, twin = model(family), load(str(folder(family)), dtype=torch.float64)
    sentences = some_sentences(lm, [5, 8], seed=5)
    rule = Rule("natural", "random", pairs=6)
    found, exact = survey(lm, sentences, rule), survey(twin, sentences, rule)
    floor = noise_floor(lm, twin, sentences, found)
    assert floor.dtype == "float32" and floor.rectangles == len(found) == 12
    assert np.array_equal(exact.rectangles.a_new, found.rectangles.a_new)
    assert 1e-8 < floor.value < 1e-3 and floor.value >= np.abs(found.delta - exact.delta).max() - 1e-11
    assert np.median(found.delta) > 100 * floor.value
    alone = noise_floor(twin, None, sentences, exact)
    assert alone.dtype == "float64" and 0 < alone.value < 1e-10


def test_a_sample_holds_the_largest_delta() -> None:
    found = FOUND
    for sample in (1, 2, 10):
        counting = Counting(TABLE)
        assert noise_floor(counting, None, SENTENCES, found, sample=sample).rectangles == sample
        top = int(np.argmax(found.delta))
        r = found.rectangles
        x = list(SENTENCES[r.sentence[top]])
        x[r.j[top]] = int(r.b_new[top])  # the row that reads i beside b'
        x[r.i[top]] = -1
        assert (int(r.i[top]), tuple(x)) in {row for batch in counting.batches for row in batch}
    assert noise_floor(TABLE, None, SENTENCES, found).rectangles == SAMPLE < len(found)


def test_the_seed_chooses_the_sample() -> None:
    def rows(seed: int) -> set[tuple[int, tuple[int, ...]]]:
        counting = Counting(TABLE)
        noise_floor(counting, None, SENTENCES, FOUND, sample=5, seed=seed)
        return {row for batch in counting.batches for row in batch}

    assert rows(1) == rows(1) != rows(2)


def test_rectangles_that_are_there_are_not_touched() -> None:
    before = FOUND.ratios.copy()
    noise_floor(TABLE, TABLE, SENTENCES, FOUND)
    assert np.array_equal(FOUND.ratios, before)


class Stop(Exception):
    pass


def test_progress_rises_to_one_and_can_cancel() -> None:
    shares: list[float] = []
    whole = Counting(TABLE)
    noise_floor(whole, TABLE, SENTENCES, FOUND, progress=shares.append)
    assert shares[0] == 0 and shares == sorted(shares) and shares[-1] == pytest.approx(1)

    def stop(share: float) -> None:
        if share > 0.1:
            raise Stop

    cut = Counting(TABLE)
    with pytest.raises(Stop):
        noise_floor(cut, TABLE, SENTENCES, FOUND, progress=stop)
    assert 0 < len(cut.batches) < len(whole.batches) / 4


def test_a_law_has_a_floor() -> None:
    joint, n = compatible()["joint"]
    sentences = some_sentences(joint, [n] * 4, seed=6)
    found = survey(Law(joint), sentences, Rule("uniform", alternatives=2), joint)
    floor = noise_floor(Law(joint), None, sentences, found)
    assert 0 < floor.value < 1e-11 and found.delta.max() <= floor.value and floor.jitter == 0
