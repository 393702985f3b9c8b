"""Masking: exact counts exactly, random shares by exact binomial and chi-square tests at seeds fixed here.

Each statistical assertion fails a correct sampler with probability 1e-4.
"""

from __future__ import annotations

import pytest
import torch
from scipy import stats

from glauber_core.training.masking import IGNORED, Masked, mask, ordinary_ids
from tests.training import tiny

FALSE_FAIL = 1e-4
MASK = 4
WORDS = torch.arange(6, 106)


def masked(rate: float = 0.25, seed: int = 0, **shares: float) -> tuple[torch.Tensor, torch.Tensor, Masked]:
    """(ids, eligible, result) on 200 rows of 128, whose last 28 positions and every fifth one are special."""
    ids = torch.randint(6, 106, (200, 128), generator=torch.Generator().manual_seed(99))
    eligible = torch.ones_like(ids, dtype=torch.bool)
    eligible[:, 100:] = False
    eligible[:, ::5] = False
    ids[~eligible] = 2
    generator = torch.Generator().manual_seed(seed)
    return ids, eligible, mask(ids, eligible, WORDS, MASK, rate, generator, **shares)


def share_is(hits: int, total: int, share: float) -> bool:
    return stats.binomtest(hits, total, share).pvalue > FALSE_FAIL


@pytest.mark.parametrize("rate", [0.1, 0.25, 1.0])
def test_exactly_the_stated_share_is_chosen_and_nothing_special(rate: float) -> None:
    ids, eligible, result = masked(rate)
    used = result.labels != IGNORED
    chosen = result.chosen[used]
    assert len(chosen) == round(rate * int(eligible.sum()))
    assert len(chosen.unique()) == len(chosen)
    assert bool(eligible.flatten()[chosen].all())
    assert torch.equal(result.labels[used], ids.flatten()[chosen])
    untouched = torch.ones(ids.numel(), dtype=torch.bool)
    untouched[chosen] = False
    assert torch.equal(result.inputs.flatten()[untouched], ids.flatten()[untouched])


def test_number_of_predictions_depends_on_the_shape_only() -> None:
    ids, eligible, full = masked()
    few = mask(ids, eligible & (torch.arange(128) < 10), WORDS, MASK, 0.25, torch.Generator().manual_seed(1))
    assert full.chosen.shape == few.chosen.shape == full.labels.shape == few.labels.shape


def test_nothing_to_mask() -> None:
    ids = torch.full((2, 8), 2)
    result = mask(ids, torch.zeros_like(ids, dtype=torch.bool), WORDS, MASK, 0.25, torch.Generator().manual_seed(0))
    assert torch.equal(result.inputs, ids)
    assert bool((result.labels == IGNORED).all())


def fates(result: Masked) -> tuple[int, int, int]:
    """(masked, changed to another word, kept)."""
    used = result.labels != IGNORED
    shown, original = result.inputs.flatten()[result.chosen[used]], result.labels[used]
    as_mask, kept = int((shown == MASK).sum()), int((shown == original).sum())
    return as_mask, len(shown) - as_mask - kept, kept


def test_shares_of_mask_random_and_kept() -> None:
    as_mask, changed, kept = fates(masked(1.0)[2])
    total = as_mask + changed + kept
    assert share_is(as_mask, total, 0.88)
    assert share_is(changed, total, 0.07 * 0.99)  # one random draw in 100 hits the original
    assert share_is(kept, total, 0.05 + 0.07 * 0.01)


def test_the_shares_test_can_fail() -> None:
    as_mask, changed, kept = fates(masked(1.0, mask_share=0.80, random_share=0.10)[2])
    assert not share_is(as_mask, as_mask + changed + kept, 0.88)


def test_positions_are_uniform() -> None:
    _, eligible, _ = masked()
    hits = torch.zeros(128)
    for seed in range(20):
        _, _, result = masked(0.1, seed)
        hits += torch.bincount(result.chosen[result.labels != IGNORED] % 128, minlength=128)
    counted = hits[eligible[0]]
    # Without replacement the counts vary a little less than multinomial ones: the test errs on the lenient side.
    assert stats.chisquare(counted.numpy()).pvalue > FALSE_FAIL


def test_random_words_are_uniform() -> None:
    _, _, result = masked(1.0, mask_share=0.0, random_share=1.0)
    drawn = result.inputs.flatten()[result.chosen[result.labels != IGNORED]]
    assert stats.chisquare(torch.bincount(drawn, minlength=106)[6:].numpy()).pvalue > FALSE_FAIL


def test_same_generator_state_same_masking() -> None:
    one, two, other = masked(seed=5)[2], masked(seed=5)[2], masked(seed=6)[2]
    assert torch.equal(one.inputs, two.inputs)
    assert not torch.equal(one.inputs, other.inputs)


def test_ordinary_ids_leave_out_special_and_unused() -> None:
    assert ordinary_ids(tiny.tokenizer()).tolist() == list(range(len(tiny.SPECIAL), 29))
