"""Numbers and verdicts in plain words."""

from __future__ import annotations

import math

import numpy as np
import pytest

from glauber_core.profile import StateProfile, Verdict
from pages.ui.words import badge, count, dwell


def figures(log_exit: float, tau: float = 0.5, n: int = 4) -> StateProfile:
    zeros = np.zeros(n)
    return StateProfile(zeros, zeros, zeros + 1, np.ones(n, dtype=bool), np.ones(n, dtype=bool), log_exit, tau)


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        (1.0, "1.0"),
        (3.25, "3.2"),
        (47.2, "47"),
        (32_140.0, "32,000"),
        (4.1e6, "4.1 million"),
        (7.0e9, "7.0 billion"),
        (1e14, "10^14"),
        (math.inf, "for ever"),
    ],
)
def test_counts_are_short(steps: float, words: str) -> None:
    assert count(steps) == words


def test_dwell_says_what_is_certain() -> None:
    assert dwell(figures(math.log(1 / 200)), 0) == "expected to stay 200 steps"
    assert dwell(figures(math.log(1 / 200)), 1) == "expected to stay 200 steps at most"
    assert dwell(figures(-math.inf, tau=0.0), 0) == "never leaves"
    assert dwell(figures(-math.inf, tau=0.0), 2) == "still to be filled in"  # a blank changes when it is picked
    assert dwell(figures(-2000.0), 0) == "expected to stay more than 10^300 steps"


def test_badges_name_kind_reason_and_certainty() -> None:
    held = badge(figures(math.log(1e-3)), Verdict("perfect", "margins", 0), 12)
    assert held["kind"] == "perfect" and held["text"] == "perfect trap, expected to stay 1,000 steps"
    assert "Exact" in str(held["tip"]) and "q = 0.001" in str(held["tip"]) and held["step"] == 12
    warm = badge(figures(math.log(0.5)), Verdict("perfect", "margins", 0), 0)
    assert "too warm to hold" in str(warm["text"])
    partly = badge(figures(math.log(1e-3)), Verdict("perfect", "margins", 2), 0)
    assert "Exact" not in str(partly["tip"]) and "q at least 0.001" in str(partly["tip"])
    deep = badge(figures(-2302.6), Verdict("perfect", "margins", 0), 0)
    assert "q = 10^-1000" in str(deep["tip"])
    assert badge(figures(math.nan), Verdict("unknown", "none", 4), 0)["text"] == "not yet known"
