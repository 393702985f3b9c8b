"""Is this histogram a sample of that law? The one statistical judge of every sampler test.

The recipe: enumerate P of a small model, start many independent chains from one state, run T steps, and compare the
histogram of where they are with the start state's row of P^T. Never the successive states of one chain: they are
dependent, and a chi-square on them rejects a correct sampler. Never exp(-energy): conditionals need not have a joint.

The false-fail rate is declared, the seed fixed, and nothing is retried. Rare cells are pooled by the law alone, before
the counts are seen, until each expects ``MIN_EXPECTED``. Simulated with 400,000 correct samples each, the rate really
reached at a declared 1e-4 is 1.0e-4 to 1.3e-4 on laws like those of the tests, and 2.3e-4 at worst (five cells at the
pooling limit beside one large one; with the customary limit of 5 it would be 6.5e-4).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chisquare

FALSE_FAIL = 1e-4
MIN_EXPECTED = 20.0
CHAINS = 20_000


def p_value(counts: NDArray[np.int64], law: NDArray[np.float64]) -> float:
    """Chi-square p-value of ``counts`` [S] against the probabilities ``law`` [S].

    A count in a cell of probability 0 gives 0.0, whatever the rest; a law that is one point is judged by that alone.

    Raises:
        ValueError: arrays that do not fit, a law that does not sum to 1, or too few counts to judge anything.
    """
    if counts.shape != law.shape or counts.ndim != 1:
        raise ValueError("counts and law must be vectors of one length")
    if (law < 0).any() or abs(law.sum() - 1) > 1e-9:
        raise ValueError("law must be a probability vector")
    if counts[law == 0].any():
        return 0.0
    if (law > 0).sum() == 1:
        return 1.0
    observed, expected = pool(counts[law > 0], law[law > 0] * counts.sum())
    if len(expected) < 2:
        raise ValueError("too few counts: after pooling there is only one cell")
    return float(chisquare(observed, expected * (observed.sum() / expected.sum())).pvalue)


def pool(counts: NDArray[np.int64], expected: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Merge the cells that expect fewest into one until every cell expects ``MIN_EXPECTED``; ``expected`` decides."""
    order = np.argsort(expected, kind="stable")
    counts, expected = counts[order], expected[order]
    merged = int((expected < MIN_EXPECTED).sum())
    while 0 < merged < len(expected) and expected[:merged].sum() < MIN_EXPECTED:
        merged += 1
    if merged == 0:
        return counts, expected
    return (
        np.concatenate(([counts[:merged].sum()], counts[merged:])),
        np.concatenate(([expected[:merged].sum()], expected[merged:])),
    )


def assert_law(
    indices: NDArray[np.int64], law: NDArray[np.float64], false_fail: float = FALSE_FAIL, what: str = "sample"
) -> None:
    """Fail if independent draws ``indices`` (states 0 .. S - 1) do not follow ``law`` [S].

    Args:
        false_fail: how often a correct sampler fails, over seeds.
        what: named in the message.
    """
    p = p_value(np.bincount(indices, minlength=len(law)), law)
    assert p >= false_fail, f"{what}: p = {p:.3g} below the declared false-fail rate {false_fail:g}"


def rejects(indices: NDArray[np.int64], law: NDArray[np.float64], false_fail: float = FALSE_FAIL) -> bool:
    """True if ``assert_law`` would fail; for showing that a test can."""
    return p_value(np.bincount(indices, minlength=len(law)), law) < false_fail
