"""What must not matter, or must matter in a known way: the order of the corners, the start, the temperature."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from glauber_core.exact import ConditionalTable
from glauber_core.rectangle import Measured, Probe, Rectangles, join, measure_again, rectangle
from glauber_core.types import Conditionals
from tests.rectangle.plain import Divided, draw_rectangle, plain, put

NEAR = {"rel": 1e-12, "abs": 1e-12}
Case = tuple[Conditionals, list[int], int, int, int, int]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A random table, some of its tokens barred, and a rectangle on it."""
    n, size = draw(st.sampled_from([(2, 2), (2, 5), (3, 3), (3, 4), (4, 3), (5, 2)]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    allowed = torch.from_numpy(rng.random(size) < 0.7)
    allowed[torch.from_numpy(rng.choice(size, 2, replace=False))] = True
    table = ConditionalTable.random(n, size, rng, draw(st.sampled_from([0.01, 1.0, 30.0])), allowed)
    return table, *draw_rectangle(table, n, rng)


examples = settings(max_examples=80, deadline=None)


@examples
@given(cases())
def test_it_is_the_plain_rectangle(case: Case) -> None:
    found, wanted = rectangle(*case), plain(*case)
    for name in ("ratios", "l1", "l2", "curl", "delta"):
        assert getattr(found, name) == pytest.approx(getattr(wanted, name), **NEAR)
    assert 0 <= found.relative <= 1


@examples
@given(cases())
def test_to_swap_the_positions_turns_the_curl_round(case: Case) -> None:
    table, x, i, j, a_new, b_new = case
    one, other = rectangle(table, x, i, j, a_new, b_new), rectangle(table, x, j, i, b_new, a_new)
    assert (other.l1, other.l2) == (one.l2, one.l1) and other.curl == -one.curl
    assert other.delta == one.delta and other.relative == one.relative
    assert (other.x, other.y, other.w, other.z) == (one.x, one.w, one.y, one.z)


def assert_turned(one: Probe, other: Probe, sign: int) -> None:
    assert other.delta == pytest.approx(one.delta, **NEAR) and other.curl == pytest.approx(sign * one.curl, **NEAR)


@examples
@given(cases())
def test_from_the_far_corner_both_sums_change_sign(case: Case) -> None:
    table, x, i, j, a_new, b_new = case
    one = rectangle(table, x, i, j, a_new, b_new)
    back = rectangle(table, one.z, i, j, x[i], x[j])
    # Back along z -> w -> x is the second way turned round, z -> y -> x the first.
    assert (back.l1, back.l2) == pytest.approx((-one.l2, -one.l1), **NEAR)
    assert_turned(one, back, 1)
    assert back.relative == pytest.approx(one.relative, rel=1e-9, abs=1e-9)


@examples
@given(cases())
def test_from_a_near_corner_the_circle_runs_the_other_way(case: Case) -> None:
    table, x, i, j, a_new, b_new = case
    one = rectangle(table, x, i, j, a_new, b_new)
    assert_turned(one, rectangle(table, one.y, i, j, x[i], b_new), -1)
    assert_turned(one, rectangle(table, one.w, i, j, a_new, x[j]), -1)


@examples
@given(cases(), st.sampled_from([0.05, 0.7, 3.0, 100.0]))
def test_delta_at_a_temperature_is_that_of_divided_logits(case: Case, tau: float) -> None:
    table, *picked = case
    said, done = rectangle(table, *picked, tau=tau), rectangle(Divided(table, tau), *picked)  # type: ignore[arg-type]
    scale = 1 + abs(done.l1) + abs(done.l2)
    for name in ("ratios", "l1", "l2", "curl", "delta"):
        assert getattr(said, name) == pytest.approx(getattr(done, name), rel=1e-9, abs=1e-11 * scale), name
    assert said.relative == pytest.approx(done.relative, rel=1e-9, abs=1e-9)


@examples
@given(cases(), st.integers(1, 20), st.sampled_from([1, 2, 4, 16]))
def test_many_rectangles_are_each_measured_as_alone(case: Case, count: int, rows: int) -> None:
    table, x, *_ = case
    rng = np.random.default_rng(len(x) + count)
    sentences, columns = [], []
    for s in range(count):
        x, i, j, a_new, b_new = draw_rectangle(table, len(x), rng)
        sentences.append(x)
        columns.append([s, i, j, x[i], x[j], a_new, b_new])
    rectangles = Rectangles(*np.array(columns, dtype=np.int64).T)
    found = measure_again(table, sentences, rectangles, rows)
    for s, (_, i, j, _, _, a_new, b_new) in enumerate(columns):
        wanted = plain(table, sentences[s], i, j, a_new, b_new)
        assert found.ratios[s].tolist() == pytest.approx(wanted.ratios, **NEAR)
        assert found.delta[s] == pytest.approx(wanted.delta, **NEAR)


def test_circles_side_by_side_add_up() -> None:
    table = ConditionalTable.random(3, 4, np.random.default_rng(8))
    x, i, j, a_new, b_new = [0, 1, 2], 0, 2, 3, 0
    whole = rectangle(table, x, i, j, a_new, b_new)
    halves = rectangle(table, x, i, j, 1, b_new), rectangle(table, put(x, i, 1), i, j, a_new, b_new)
    assert whole.curl == pytest.approx(halves[0].curl + halves[1].curl, **NEAR)


def test_parts_join_in_the_order_of_their_sentences() -> None:
    def part(*sentences: int) -> Measured:
        columns = [np.array(sentences, dtype=np.int64)] + [np.arange(len(sentences))] * 6
        return Measured(Rectangles(*columns), np.array([[s, k, 0, 0] for k, s in enumerate(sentences)], dtype=float))

    whole = join([part(3, 3, 0), part(1), part(3, 2)])
    assert whole.rectangles.sentence.tolist() == [0, 1, 2, 3, 3, 3]
    assert whole.ratios[:, :2].tolist() == [[0, 2], [1, 0], [2, 1], [3, 0], [3, 1], [3, 0]]
    with pytest.raises(ValueError):
        join([])
