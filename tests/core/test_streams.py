"""The random streams: Philox itself, addressable at any step, one a chain."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest

from glauber_core.errors import UserError
from glauber_core.streams import MAX_SEED, UniformStream, check_seed, uniforms, wait_uniforms

WORD = 2**64


def philox(counter: list[int], key: list[int]) -> list[int]:
    """Philox 4x64-10 as the paper writes it, in Python's own integers."""
    for _ in range(10):
        a, b = counter[0] * 0xD2E7470EE14C6C93, counter[2] * 0xCA5A826395121157
        counter = [(b // WORD) ^ counter[1] ^ key[0], b % WORD, (a // WORD) ^ counter[3] ^ key[1], a % WORD]
        key = [(key[0] + 0x9E3779B97F4A7C15) % WORD, (key[1] + 0xBB67AE8584CAA73B) % WORD]
    return counter


@pytest.mark.parametrize("seed, chain, step", [(0, 0, 0), (7, 3, 1000), (MAX_SEED, 5, 2**62), (1, MAX_SEED, 255)])
def test_a_step_is_one_philox_block(seed: int, chain: int, step: int) -> None:
    words = philox([step + 1, 0, 0, 0], [seed, chain])[:2]
    assert uniforms(seed, chain, step, 1)[0].tolist() == [(w >> 11) * 2.0**-53 for w in words]


@given(st.integers(0, MAX_SEED), st.integers(0, 1000), st.integers(0, 10**6), st.integers(1, 600))
def test_any_block_is_a_part_of_the_same_stream(seed: int, chain: int, start: int, count: int) -> None:
    block = uniforms(seed, chain, start, count)
    assert block.shape == (count, 2) and block.dtype == np.float64
    assert ((block >= 0) & (block < 1)).all()
    last = start + count - 1
    assert (block[-1] == uniforms(seed, chain, last, 1)[0]).all()
    assert (block[-1] == UniformStream(seed, chain, block=7).at(last)).all()


def test_a_stream_can_be_read_in_any_order() -> None:
    stream, wanted = UniformStream(3, 1), uniforms(3, 1, 0, 1000)
    for step in (999, 0, 255, 256, 257, 511, 512, 0, 999):  # forth and back over the borders of its blocks
        assert (stream.at(step) == wanted[step]).all()


def test_different_keys_give_different_streams() -> None:
    keys = [(0, 0), (0, 1), (1, 0), (1, 1), (2**32, 0), (0, 2**32), (MAX_SEED, MAX_SEED)]
    first = {tuple(uniforms(seed, chain, 0, 4).ravel()) for seed, chain in keys}
    assert len(first) == len(keys)
    assert len(np.unique(uniforms(0, 0, 0, 10_000))) == 20_000


def test_draws_are_uniform_and_their_columns_uncorrelated() -> None:
    draws = np.concatenate([uniforms(seed, chain, 0, 500) for seed in range(20) for chain in range(4)])  # 40,000 steps
    for column in draws.T:
        assert kstest(column, "uniform").pvalue > 1e-4
    bound = 4 / np.sqrt(len(draws))  # four standard deviations
    assert abs(np.corrcoef(draws.T)[0, 1]) < bound
    assert abs(np.corrcoef(draws[:-1, 1], draws[1:, 0])[0, 1]) < bound


def test_global_generators_are_untouched() -> None:
    torch.manual_seed(1)
    np.random.seed(1)
    before = torch.get_rng_state(), np.random.get_state()[1].copy()  # type: ignore[index]
    UniformStream(4, 2).at(17)
    assert torch.equal(torch.get_rng_state(), before[0])
    assert (np.random.get_state()[1] == before[1]).all()  # type: ignore[index]


@pytest.mark.parametrize("seed", [-1, 2**63, 1.0, "7", None, True, float("nan"), [1]])
def test_bad_seeds_are_refused(seed: object) -> None:
    with pytest.raises(UserError, match="whole number from 0"):
        check_seed(seed)


def test_a_stream_checks_its_key() -> None:
    for seed, chain in ((-1, 0), (0, -1), (2**63, 0), (0, 2**63)):
        with pytest.raises(UserError):
            UniformStream(seed, chain)


def test_good_seeds() -> None:
    assert [check_seed(s) for s in (0, MAX_SEED, np.int64(5))] == [0, MAX_SEED, 5]
    assert type(check_seed(np.int32(5))) is int


@pytest.mark.parametrize("seed, chain, move", [(0, 0, 0), (7, 3, 1000), (MAX_SEED, 5, 2**62)])
def test_a_rejection_free_move_is_one_philox_block_of_another_counter_word(seed: int, chain: int, move: int) -> None:
    words = philox([move + 1, 1, 0, 0], [seed, chain])[:3]
    assert wait_uniforms(seed, chain, move, 1)[0].tolist() == [(w >> 11) * 2.0**-53 for w in words]


def test_steps_and_waits_of_one_key_are_uncorrelated() -> None:
    keys = [(seed, chain) for seed in range(20) for chain in range(4)]
    steps, waits = (np.concatenate([draw(*key, 0, 500) for key in keys]) for draw in (uniforms, wait_uniforms))
    assert not np.isin(steps, waits).any()
    found = np.corrcoef(np.hstack([steps, waits]).T)
    assert abs(found - np.eye(5)).max() < 5 / np.sqrt(len(steps))  # ten numbers: beyond it in 6 of a million seeds
    assert all(kstest(column, "uniform").pvalue > 1e-4 for column in waits.T)
    stream = UniformStream(3, 1, 7, wait_uniforms)
    assert (stream.at(20) == wait_uniforms(3, 1, 20, 1)[0]).all()
