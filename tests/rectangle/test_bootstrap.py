"""Intervals by bootstrap over sentences: rectangles of one sentence are not independent."""

from __future__ import annotations

import math

import numpy as np
import pytest

from glauber_core.rectangle import by_distance, summarize
from glauber_core.rectangle.statistics import MIN_SENTENCES
from tests.rectangle.plain import binomial_tolerance
from tests.rectangle.surveys import made

NAMES = {"mean", "median", "q25", "q75", "q90", "q99", "relative_median", "above"}


def clustered(
    rng: np.random.Generator, sentences: int, each: int, spread: float = 0.1
) -> tuple[np.ndarray, np.ndarray]:
    """Deltas around a level of their own sentence, levels exponential with mean 1; and whose they are."""
    level = rng.exponential(1.0, sentences)
    delta = np.abs(np.repeat(level, each) + spread * rng.standard_normal(sentences * each))
    return delta, np.repeat(np.arange(sentences), each)


def test_intervals_hold_the_figures_they_are_of() -> None:
    found = made(*clustered(np.random.default_rng(1), 40, 6))
    summary = summarize(found, 0.5)
    assert set(summary.intervals) == NAMES
    for name, (low, high) in summary.intervals.items():
        assert low <= getattr(summary, name) <= high and low < high, name


def test_intervals_are_over_sentences() -> None:
    sentences, each = 20, 200
    delta, owner = clustered(np.random.default_rng(2), sentences, each, spread=0.01)
    low, high = summarize(made(delta, owner), None, resamples=2000).intervals["mean"]
    levels = delta.reshape(sentences, each).mean(axis=1)
    honest = 2 * 1.96 * levels.std() / math.sqrt(sentences)  # what resampling the sentence means tends to
    by_rectangle = 2 * 1.96 * delta.std() / math.sqrt(len(delta))
    assert high - low == pytest.approx(honest, rel=0.1)
    assert high - low > 10 * by_rectangle


def test_the_bootstrap_against_a_plain_one() -> None:
    rng = np.random.default_rng(3)
    delta, owner = clustered(rng, 12, 5)
    delta, owner = delta[:-3], owner[:-3]  # sentences with different numbers of rectangles
    summary = summarize(made(delta, owner), 0.7, resamples=4000)
    plain: dict[str, list[float]] = {"mean": [], "median": [], "above": []}
    for _ in range(4000):
        drawn = np.concatenate([delta[owner == s] for s in rng.integers(0, 12, 12)])
        plain["mean"].append(drawn.mean())
        plain["median"].append(np.quantile(drawn, 0.5, method="inverted_cdf"))
        plain["above"].append((drawn > 0.7).mean())
    for name, values in plain.items():
        width = np.std(values)
        wanted = np.quantile(values, [0.025, 0.975])
        # Both ends are quantiles of 4,000 draws: off by about 0.04 standard deviations each, 0.05 in the difference.
        assert summary.intervals[name] == pytest.approx(wanted.tolist(), abs=0.3 * width), name


def test_the_intervals_cover_the_mean() -> None:
    """200 surveys of 40 sentences: a nominal 95 % interval must cover the true mean in 85 to 98.5 % of them.

    A percentile interval of a skewed law covers less than it says: 91.8 % here (20,000 simulated). The limits are 3.4
    standard deviations wide, so a correct one falls outside for one seed in 1,500; rectangles resampled cover 66 %.
    """
    rng, covered, trials = np.random.default_rng(4), 0, 200
    for trial in range(trials):
        delta, owner = clustered(rng, 40, 4, spread=0.0)
        low, high = summarize(made(delta, owner), None, seed=trial, resamples=200).intervals["mean"]
        covered += low <= 1.0 <= high
    assert abs(covered / trials - 0.918) <= binomial_tolerance(0.918, trials, 3.4)


@pytest.mark.parametrize("sentences", range(1, MIN_SENTENCES + 2))
def test_few_sentences_have_no_interval(sentences: int) -> None:
    found = made(*clustered(np.random.default_rng(5), sentences, 30))
    assert set(summarize(found, 0.1).intervals) == (NAMES if sentences >= MIN_SENTENCES else set())
    assert MIN_SENTENCES == 5


def test_no_resample_no_interval() -> None:
    found = made(*clustered(np.random.default_rng(6), 10, 3))
    assert summarize(found, 0.1, resamples=0).intervals == {}
    assert all(s.intervals == {} for s in by_distance(found, 0.1).values())
    assert all(set(s.intervals) == NAMES for s in by_distance(found, 0.1, resamples=20).values())


def test_the_seed_decides() -> None:
    found = made(*clustered(np.random.default_rng(7), 15, 4))
    assert summarize(found, 0.5, seed=3) == summarize(found, 0.5, seed=3)
    one, other = (summarize(found, 0.5, seed=s) for s in (3, 4))
    assert one.intervals != other.intervals and one.mean == other.mean


def test_sentence_numbers_are_only_names() -> None:
    delta, owner = clustered(np.random.default_rng(8), 8, 4)
    assert summarize(made(delta, owner), 0.5) == summarize(made(delta, owner * 100 + 7), 0.5)


def test_without_a_floor_the_share_above_it_is_unknown_everywhere() -> None:
    summary = summarize(made(*clustered(np.random.default_rng(9), 8, 4)), None)
    assert math.isnan(summary.above) and all(map(math.isnan, summary.intervals["above"]))


def test_equal_sentences_have_an_interval_of_no_width() -> None:
    found = made(np.full(24, 0.5), np.repeat(np.arange(6), 4))
    summary = summarize(found, 0.1)
    assert summary.intervals["mean"] == (0.5, 0.5) and summary.intervals["above"] == (1.0, 1.0)
