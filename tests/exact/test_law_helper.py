"""The judge is just: it lets a correct sampler pass as often as declared, and a biased one never."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, kstest

from glauber_core.exact import ConditionalTable, distribution_after, stationary_law, transition_matrix
from tests.law import CHAINS, FALSE_FAIL, MIN_EXPECTED, assert_law, p_value, pool, rejects

TABLE = ConditionalTable.random(2, 4, np.random.default_rng(1))


def chains(matrix: np.ndarray, start: int, steps: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """Where ``count`` independent chains of ``matrix`` are after ``steps`` steps: an independent, slow simulator."""
    cdf = matrix.cumsum(axis=1)
    cdf[:, -1] = 1.0
    at = np.full(count, start)
    for _ in range(steps):
        at = (rng.random(count)[:, None] < cdf[at]).argmax(axis=1)
    return at


def test_correct_sampler_passes_and_its_p_values_are_uniform() -> None:
    matrix = transition_matrix(TABLE, 2, 1.0)
    law = distribution_after(matrix, 5, 4)
    rng = np.random.default_rng(2)
    values = [p_value(np.bincount(chains(matrix, 5, 4, 2_000, rng), minlength=16), law) for _ in range(400)]
    assert kstest(values, "uniform").pvalue >= FALSE_FAIL
    low = sum(v < 0.01 for v in values)  # nominal 1 %
    assert binom.sf(low - 1, len(values), 0.01) >= FALSE_FAIL


def test_fifteen_per_cent_in_one_odds_is_always_rejected() -> None:
    matrix = transition_matrix(TABLE, 2, 1.0)
    biased = ConditionalTable.random(2, 4, np.random.default_rng(1))
    biased._logits[:, :, 2] += np.log(1.15)  # the odds of token 2 against each other token
    wrong = transition_matrix(biased, 2, 1.0)
    law = distribution_after(matrix, 5, 6)
    for seed in range(20):
        rng = np.random.default_rng([3, seed])
        assert rejects(chains(wrong, 5, 6, CHAINS, rng), law)
        assert_law(chains(matrix, 5, 6, CHAINS, rng), law)


def test_successive_states_of_one_chain_are_no_sample() -> None:
    matrix = transition_matrix(ConditionalTable.random(4, 2, np.random.default_rng(1)), 4, 1.0)
    law = stationary_law(matrix)
    rng = np.random.default_rng(4)
    cdf = matrix.cumsum(axis=1)
    rejected = 0
    for _ in range(10):
        at, seen = 0, np.zeros(16, dtype=np.int64)
        for u in rng.random(5_000):
            at = min(int(np.searchsorted(cdf[at], u, side="right")), 15)
            seen[at] += 1
        rejected += p_value(seen, law) < 0.01
    assert rejected >= 5  # of 10 runs of a correct sampler: why the recipe takes independent chains


def test_pooling_looks_at_the_law_only() -> None:
    expected = np.array([0.5, 100.0, 15.0, 30.0, 1.0])
    first = pool(np.array([9, 1, 2, 3, 4]), expected)
    assert first[1].tolist() == [46.5, 100.0] and first[0].tolist() == [18, 1]
    assert pool(np.array([0, 0, 0, 0, 146]), expected)[1].tolist() == first[1].tolist()
    assert pool(np.array([40, 60]), np.array([50.0, 50.0]))[1].tolist() == [50.0, 50.0]
    assert min(pool(np.ones(9, dtype=np.int64), np.linspace(1, 30, 9))[1]) >= MIN_EXPECTED


def test_impossible_cell_and_point_law() -> None:
    assert p_value(np.array([500, 500, 1]), np.array([0.5, 0.5, 0.0])) == 0.0
    assert p_value(np.array([0, 7, 0]), np.array([0.0, 1.0, 0.0])) == 1.0
    assert p_value(np.array([1, 6, 0]), np.array([0.0, 1.0, 0.0])) == 0.0


def test_refuses_what_it_cannot_judge() -> None:
    with pytest.raises(ValueError, match="only one cell"):
        p_value(np.array([20_000, 0]), np.array([1 - 1e-7, 1e-7]))
    with pytest.raises(ValueError, match="probability vector"):
        p_value(np.array([1, 2]), np.array([0.6, 0.6]))
    with pytest.raises(ValueError, match="one length"):
        p_value(np.array([1, 2]), np.array([1.0]))
