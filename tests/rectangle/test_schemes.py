"""Which rectangles are drawn: the law of replacements and pairs.

Declared false-fail rate: 1e-4 for each comparison with a law (``tests.law``), seeds fixed, no retry; there are 13.
"""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from glauber_core.exact import ConditionalTable, JointTable
from glauber_core.rectangle import Rule, survey
from glauber_core.rectangle.schemes import build, draw, generator, pairs_of
from tests.exact.models import mask
from tests.law import CHAINS, assert_law, rejects
from tests.rectangle.plain import log_p

ALLOWED = mask(1, 1, 0, 1, 1, 1)
TABLE = ConditionalTable.random(2, 6, np.random.default_rng(31), 1.5, ALLOWED)
DRAWS = 6_000
STATE = [3, 5]  # 5 is the last allowed token: where an inverse CDF clamps


def given_a_change(position: int, state: list[int]) -> np.ndarray:
    """float64 [V]: the conditional at one position, its own token left out."""
    law = log_p(TABLE, state, position).exp()
    law[state[position]] = 0
    return (law / law.sum()).numpy()


def drawn(rule: Rule, count: int, position: int = 0, state: list[int] = STATE, seed: int = 1) -> np.ndarray:
    """int64 [count, alternatives]: independent draws at one position."""
    logits = TABLE(torch.tensor([state]), torch.tensor([position])).expand(count, -1)
    uniform = np.random.default_rng(seed).random((count, rule.alternatives))
    return draw(logits, np.full(count, state[position]), ALLOWED, uniform, rule)


@pytest.mark.parametrize("position", [0, 1])
def test_natural_draws_follow_the_conditional_given_a_change(position: int) -> None:
    tokens = drawn(Rule(alternatives=20), CHAINS // 20, position)
    law = given_a_change(position, STATE)
    assert_law(tokens.ravel(), law)
    assert rejects(tokens.ravel(), given_a_change(position, [4, 4]))  # other conditionals are told apart


def test_natural_alternatives_are_independent() -> None:
    tokens = drawn(Rule(alternatives=2), CHAINS)
    law = given_a_change(0, STATE)
    assert_law(tokens[:, 0] * 6 + tokens[:, 1], np.outer(law, law).ravel())


def test_a_survey_draws_both_corners_so_and_independently() -> None:
    found = survey(TABLE, [STATE] * DRAWS, Rule(seed=8), rows=1024)
    assert len(found) == DRAWS
    both = found.rectangles.a_new * 6 + found.rectangles.b_new
    assert_law(both, np.outer(given_a_change(0, STATE), given_a_change(1, STATE)).ravel())


@pytest.mark.parametrize("k", [1, 2, 3, 4, 9])
def test_top_k_is_uniform_on_the_likeliest_others(k: int) -> None:
    rule = Rule("top-k", alternatives=2, k=k)
    tokens = drawn(rule, DRAWS if k > 1 else 100)
    order = [int(t) for t in np.argsort(-log_p(TABLE, STATE, 0).numpy()) if t != STATE[0] and ALLOWED[t]][:k]
    if k == 1:
        assert (tokens == [order[0], -1]).all()
        return
    law = np.zeros(36)
    for one, other in permutations(order, 2):
        law[one * 6 + other] = 1 / (len(order) * (len(order) - 1))
    assert_law(tokens[:, 0] * 6 + tokens[:, 1], law)


def test_uniform_is_uniform_on_all_other_allowed_tokens() -> None:
    tokens = drawn(Rule("uniform", alternatives=3), CHAINS)
    law = np.zeros(216)
    for a, b, c in permutations([0, 1, 4, 5], 3):
        law[a * 36 + b * 6 + c] = 1 / 24
    assert_law(tokens @ [36, 6, 1], law)


def test_too_many_distinct_alternatives_leave_gaps() -> None:
    for rule in (Rule("uniform", alternatives=7), Rule("top-k", alternatives=7, k=50)):
        tokens = drawn(rule, 50)
        assert (np.sort(tokens[:, :4], axis=1) == [0, 1, 4, 5]).all() and (tokens[:, 4:] == -1).all()
        found = survey(TABLE, [STATE], rule)
        assert len(found) == 16 and (found.rectangles.a_new >= 0).all()


@pytest.mark.parametrize("replacements", ["natural", "top-k", "uniform"])
def test_without_another_token_there_is_no_replacement(replacements: str) -> None:
    rule = Rule(replacements, alternatives=2)  # type: ignore[arg-type]
    logits = torch.tensor([[0.0, 1.0, 2.0], [0.0, 1.0, 2.0]])
    tokens = draw(logits, np.array([1, 0]), mask(0, 1, 0), np.full((2, 2), 0.5), rule)
    assert tokens[0].tolist() == [-1, -1] and tokens[1, 0] == 1


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_never_the_present_token_never_a_disallowed_one(data: st.DataObject) -> None:
    size = data.draw(st.integers(2, 9))
    flags = data.draw(st.lists(st.booleans(), min_size=size, max_size=size).filter(lambda f: sum(f) >= 2))
    allowed = torch.tensor(flags)
    current = data.draw(st.sampled_from([k for k in range(size) if flags[k]]))
    values = data.draw(st.lists(st.sampled_from([-900.0, -40.0, 0.0, 1.0, 37.0, 900.0]), min_size=size, max_size=size))
    logits = torch.tensor([values]).masked_fill(~allowed, -torch.inf)
    rule = data.draw(st.builds(Rule, st.sampled_from(["natural", "top-k", "uniform"]), k=st.integers(1, 12)))
    edge = st.sampled_from([0.0, 2.0**-53, 0.5, 1 - 2.0**-53])
    uniform = np.array([data.draw(st.lists(edge | st.floats(0, 1 - 2.0**-53), min_size=6, max_size=6))])
    tokens = draw(logits, np.array([current]), allowed, uniform, rule)[0]
    real = tokens[tokens >= 0].tolist()
    assert real and all(flags[t] and t != current for t in real)
    if rule.replacements != "natural":
        pool = sum(flags) - 1
        assert len(set(real)) == len(real) == min(6, pool, rule.k if rule.replacements == "top-k" else pool)
        lowest = min(logits[0, t] for t in real)
        beaten = sum(bool(logits[0, t] > lowest) for t in range(size) if t != current)
        assert rule.replacements == "uniform" or beaten < rule.k


# -- pairs ------------------------------------------------------------------------------------------------------------

PLACES = np.array([0, 2, 3, 7])  # the words between are no corners


def named_pairs(rule: Rule, places: np.ndarray = PLACES) -> list[list[int]]:
    return pairs_of(places, rule, np.random.default_rng(0)).tolist()


def test_pairs() -> None:
    assert named_pairs(Rule()) == [[0, 2], [0, 3], [0, 7], [2, 3], [2, 7], [3, 7]]
    assert named_pairs(Rule(positions="adjacent")) == [[2, 3]]
    assert named_pairs(Rule(positions="distance", distance=1)) == [[2, 3]]
    assert named_pairs(Rule(positions="distance", distance=4)) == [[3, 7]]
    assert named_pairs(Rule(positions="distance", distance=6)) == []
    assert named_pairs(Rule(positions="random", pairs=6)) == named_pairs(Rule())
    assert named_pairs(Rule(), PLACES[:1]) == named_pairs(Rule(), PLACES[:0]) == []


def test_random_pairs_are_a_uniform_set_without_repetition() -> None:
    rule, pairs = Rule(positions="random", pairs=2), list(combinations(range(6), 2))
    name = {tuple(p): k for k, p in enumerate(named_pairs(Rule()))}
    code = {pair: k for k, pair in enumerate(pairs)}
    count = DRAWS
    sets = [pairs_of(PLACES, rule, generator(9, s)).tolist() for s in range(count)]
    found = np.array([code[tuple(sorted(name[tuple(p)] for p in chosen))] for chosen in sets])  # type: ignore[index]
    assert_law(found, np.full(15, 1 / 15))


def test_a_pair_gives_all_combinations_of_its_alternatives() -> None:
    replacements = np.array([[5, 6], [-1, -1], [7, -1], [8, 9]])
    built = build(4, [0, 1, 2, 3], np.array([[0, 2], [0, 3]]), replacements)
    rows = np.stack(built.columns, axis=1).tolist()
    # sentence, i, j, a, b, a', b'
    assert rows == [
        [4, 0, 2, 0, 2, 5, 7],
        [4, 0, 2, 0, 2, 6, 7],
        [4, 0, 3, 0, 3, 5, 8],
        [4, 0, 3, 0, 3, 5, 9],
        [4, 0, 3, 0, 3, 6, 8],
        [4, 0, 3, 0, 3, 6, 9],
    ]


def test_replacements_of_a_position_serve_all_its_pairs() -> None:
    law = JointTable.random(4, 5, np.random.default_rng(32))
    found = survey(law, [[0, 1, 2, 3]], Rule("uniform", alternatives=2, seed=3)).rectangles
    for place in range(4):
        sets = {
            frozenset(new[(where == place) & (other == partner)].tolist())
            for where, other, new in ((found.i, found.j, found.a_new), (found.j, found.i, found.b_new))
            for partner in range(4)
        } - {frozenset()}
        assert len(sets) == 1 and len(next(iter(sets))) == 2
