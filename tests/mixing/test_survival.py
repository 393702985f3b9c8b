"""Kaplan-Meier medians: by hand, against order statistics, coverage of the interval, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from glauber_core.errors import UserError
from glauber_core.mixing.survival import TooFew, kaplan_meier, median


def test_curve_by_hand() -> None:
    """Times 1, 2+, 3, 3, 4+, 6 (+: censored): the risk sets are 6, 5, 4, 2, 1."""
    times, observed = np.array([3, 1, 2, 6, 3, 4]), np.array([True, True, False, True, True, False])
    curve = kaplan_meier(times, observed)
    assert curve.times.tolist() == [1, 2, 3, 4, 6]
    assert np.allclose(curve.share, [5 / 6, 5 / 6, 5 / 6 * 2 / 4, 5 / 6 * 2 / 4, 0])
    with pytest.raises(TooFew) as error:
        median(times, observed)
    found = error.value.estimate
    assert found == median(times, observed, least=6)
    assert (found.value, found.times, found.events, found.beyond, found.censored) == (3.0, 6, 4, 6.0, False)


def test_dropping_what_is_unfinished_would_be_wrong() -> None:
    """Half of the pairs never meet within 100 steps: the median of those that do is no median."""
    times = np.array([5, 9, 14, 20, 30, 100, 100, 100, 100, 100, 100])
    found = median(times, times < 100)
    assert found.censored and found.beyond == 100 and math.isinf(found.high) and found.low < 100
    assert median(times[:5], times[:5] < 100, least=5).value == 14


def test_without_censoring_it_is_the_order_statistic() -> None:
    rng = np.random.default_rng(1)
    times = rng.geometric(0.01, 101)
    assert median(times, np.ones(101, dtype=bool)).value == np.sort(times)[50]
    even = np.arange(1, 11)
    assert median(even, np.ones(10, dtype=bool)).value == 5  # P(T > 5) is 1/2 exactly


@pytest.mark.parametrize("horizon", [90, 10**6])
def test_the_interval_covers_the_median_as_often_as_it_says(horizon: int) -> None:
    """Geometric times, median 69, cut at 90 (40 % censored) or not. 600 intervals of 40 times, nominal 95 %.

    Fails for a true coverage of 92 % or more in less than 1e-4 of the seeds, and for one below 84 % nearly always.
    """
    rng, inside, runs = np.random.default_rng(2), 0, 600
    exact = math.ceil(math.log(0.5) / math.log(0.99))
    for _ in range(runs):
        times = rng.geometric(0.01, 40)
        found = median(np.minimum(times, horizon), times <= horizon)
        inside += found.low <= exact <= found.high
    assert inside >= binom.ppf(1e-4, runs, 0.92)
    assert binom.cdf(binom.ppf(1e-4, runs, 0.92) - 1, runs, 0.84) > 0.9  # and the test can fail


def test_all_at_once_or_none() -> None:
    at_once = median(np.full(9, 4), np.ones(9, dtype=bool))
    assert at_once.value == at_once.low == 4 and math.isinf(at_once.high)
    none = median(np.full(9, 50), np.zeros(9, dtype=bool))
    assert none.censored and math.isinf(none.low) and none.events == 0
    assert median(np.zeros(9, dtype=np.int64), np.ones(9, dtype=bool)).value == 0


def test_too_few_and_bad_arguments() -> None:
    with pytest.raises(TooFew, match="only 1 pair was run") as error:
        median(np.array([3]), np.array([True]))
    assert error.value.estimate.value == 3 and isinstance(error.value, UserError)
    for times in (np.array([], dtype=np.int64), np.array([-1, 2])):
        with pytest.raises(UserError, match="at least one time"):
            kaplan_meier(times, np.ones(len(times), dtype=bool))
