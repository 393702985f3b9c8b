"""The rule itself: its words, and every value that is refused."""

from __future__ import annotations

import math

import pytest

from glauber_core.errors import UserError
from glauber_core.rectangle import Rule
from glauber_core.streams import MAX_SEED

NUMBERS = {"alternatives": 50, "pairs": 10_000, "distance": 10_000, "k": 1_000}
CASES: list[tuple[str, object]] = [
    *((name, value) for name in NUMBERS for value in (0, -1, True, False, 10**30)),
    *((name, most + 1) for name, most in NUMBERS.items()),
    *(("seed", value) for value in (-1, True, 2**63, 10**30)),
    *((name, value) for name in ("replacements", "positions") for value in ("", "Natural", "top", "ALL")),
    *((name, value) for name in NUMBERS for value in (math.nan, math.inf, 2.0, "3", None)),
    *(("seed", value) for value in (math.nan, 1.0, "1", None)),
    *((name, value) for name in ("replacements", "positions") for value in (None, 1)),
]


@pytest.mark.parametrize(("name", "value"), CASES)
def test_bad_values_are_refused_in_one_sentence(name: str, value: object) -> None:
    rule = object.__new__(Rule)  # past __init__, whose types are checked while tests run, and only then
    vars(rule)[name] = value
    with pytest.raises(UserError) as refused:
        rule.__post_init__()
    sentence = str(refused.value)
    assert name in sentence.lower()
    assert sentence[0].isupper() and sentence.endswith(".") and "\n" not in sentence and len(sentence) < 140


@pytest.mark.parametrize("values", [{"alternatives": 51}, {"k": 0}, {"pairs": True}, {"seed": -1}])
def test_a_bad_rule_cannot_be_made(values: dict[str, int]) -> None:
    with pytest.raises(UserError):
        Rule(**values)  # type: ignore[arg-type]


def test_limits_are_allowed() -> None:
    for name, most in NUMBERS.items():
        for value in (1, most):
            assert getattr(Rule(**{name: value}), name) == value  # type: ignore[arg-type]
    assert Rule(seed=MAX_SEED).seed == MAX_SEED and Rule(seed=0).seed == 0


def test_a_rule_says_what_it_draws() -> None:
    assert str(Rule()) == "natural replacements, all pairs, 1 alternative a position, seed 0"
    words = "top-7 replacements, 12 random pairs a sentence, 3 alternatives a position, seed 5"
    assert str(Rule("top-k", "random", alternatives=3, pairs=12, k=7, seed=5)) == words
    assert "1 random pair a sentence" in str(Rule(positions="random", pairs=1))
    assert "uniform replacements, adjacent pairs" in str(Rule("uniform", "adjacent"))
    assert "pairs at distance 4" in str(Rule(positions="distance", distance=4))


def test_two_rules_are_equal_if_they_draw_alike() -> None:
    assert Rule(seed=3) == Rule(seed=3) != Rule(seed=4) and len({Rule(), Rule(), Rule(k=9)}) == 2
