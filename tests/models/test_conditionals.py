"""The logits of each family against a plain, full forward pass of the same checkpoint."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
import torch
from transformers import AutoModelForMaskedLM

from glauber_core.models import MaskedLM, load
from glauber_core.models.loading import padded_length
from glauber_core.types import Conditionals
from tests.models.checkpoints import FAMILIES, folder, model

TOLERANCE = 1e-6  # nats; ModernBERT's eager attention takes its softmax in float32
LENGTHS = (1, 2, 3, 6, 7, 13, 31, 40)  # with [CLS] and [SEP]: padded (3, 4, 5, ...) and not (8, 15 + 1, ...)


@cache
def reference(family: str) -> Any:
    """The checkpoint as Transformers itself runs it, in float64 and without fused attention."""
    network = AutoModelForMaskedLM.from_pretrained(folder(family), dtype=torch.float64, attn_implementation="eager")
    return network.eval()


@cache
def exact(family: str) -> MaskedLM:
    return load(str(folder(family)), dtype=torch.float64)


def some_states(lm: MaskedLM, count: int, n: int, seed: int = 0) -> torch.Tensor:
    """int64 [count, n] of allowed tokens."""
    allowed = torch.nonzero(lm.allowed)[:, 0]
    return allowed[torch.randint(len(allowed), (count, n), generator=torch.Generator().manual_seed(seed))]


def full_pass(family: str, state: torch.Tensor, position: int) -> torch.Tensor:
    """float64 [V]: one sentence, no padding, exactly one position masked, logits at every position."""
    vocabulary = model(family).vocabulary
    ids = [*vocabulary.prefix, *state.tolist(), *vocabulary.suffix]
    read = len(vocabulary.prefix) + position
    ids[read] = vocabulary.mask_id
    with torch.inference_mode():
        return reference(family)(input_ids=torch.tensor([ids])).logits[0, read]


@pytest.mark.parametrize("family", FAMILIES)
def test_is_a_conditionals(family: str) -> None:
    lm = model(family)
    assert isinstance(lm, Conditionals)
    assert lm.allowed.shape == (lm.vocab_size,) and lm.allowed.dtype == torch.bool


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("family", FAMILIES)
def test_rows_are_the_full_pass_at_the_masked_position(family: str, n: int) -> None:
    lm = exact(family)
    states = some_states(lm, 3, n, seed=n)
    for position in sorted({0, n // 2, n - 1}):
        rows = lm(states, torch.full((3,), position))
        wanted = torch.stack([full_pass(family, s, position) for s in states])
        assert torch.allclose(rows[:, lm.allowed], wanted[:, lm.allowed], rtol=0, atol=TOLERANCE)
        single = model(family)(states, torch.full((3,), position))
        assert torch.allclose(single[:, lm.allowed].double(), wanted[:, lm.allowed], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("family", FAMILIES)
def test_rows_may_read_different_positions(family: str) -> None:
    lm = exact(family)
    states, positions = some_states(lm, 5, 9), torch.tensor([0, 8, 3, 3, 5])
    rows = lm(states, positions)
    for row, state, position in zip(rows, states, positions.tolist(), strict=True):
        assert torch.allclose(row[lm.allowed], full_pass(family, state, position)[lm.allowed], rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("family", FAMILIES)
def test_only_the_other_tokens_matter_and_each_of_them_does(family: str) -> None:
    lm = model(family)
    state = some_states(lm, 1, 6)
    states = state.expand(6, -1).clone()
    other = torch.nonzero(lm.allowed)[7, 0]
    states[torch.arange(6), torch.arange(6)] = torch.where(state[0] == other, other + 1, other)
    for position in range(6):
        reads = torch.tensor([position])
        rows = torch.cat([lm(s[None], reads) for s in states])
        base = lm(state, reads)[0]
        same = (rows == base).all(dim=1)
        assert same.tolist() == [k == position for k in range(6)]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_token_outside_the_vocabulary_at_the_read_position_changes_nothing(family: str) -> None:
    lm = model(family)
    state = some_states(lm, 1, 4)
    masked = state.clone()
    masked[0, 2] = lm.vocabulary.mask_id
    assert torch.equal(lm(state, torch.tensor([2])), lm(masked, torch.tensor([2])))
    assert not torch.equal(lm(state, torch.tensor([1])), lm(masked, torch.tensor([1])))


@pytest.mark.parametrize("family", FAMILIES)
def test_disallowed_tokens_are_at_minus_infinity_exactly(family: str) -> None:
    lm = model(family)
    rows = lm(some_states(lm, 4, 5), torch.tensor([0, 1, 2, 4]))
    assert rows.dtype == torch.float32
    assert bool((rows[:, ~lm.allowed] == -torch.inf).all())
    assert bool(torch.isfinite(rows[:, lm.allowed]).all())


@pytest.mark.parametrize("family", FAMILIES)
def test_inputs_are_not_mutated(family: str) -> None:
    lm = model(family)
    states, positions = some_states(lm, 2, 5), torch.tensor([1, 4])
    before = states.clone(), positions.clone()
    lm(states, positions)
    assert torch.equal(states, before[0]) and torch.equal(positions, before[1])


@pytest.mark.parametrize("family", FAMILIES)
def test_the_longest_sentence_is_read_whole(family: str) -> None:
    lm = exact(family)
    state = some_states(lm, 1, lm.vocabulary.limit)
    for position in (0, lm.vocabulary.limit - 1):
        row = lm(state, torch.tensor([position]))[0]
        assert torch.allclose(
            row[lm.allowed], full_pass(family, state[0], position)[lm.allowed], rtol=0, atol=TOLERANCE
        )


def test_padded_length_depends_on_the_length_alone() -> None:
    assert [padded_length(k, 512) for k in (3, 4, 5, 31, 32, 33, 40, 127, 128, 129, 161)] == [
        *(4, 4, 8, 32, 32, 40, 40, 128, 128, 160, 192)
    ]
    assert padded_length(511, 512) == 512 and padded_length(510, 511) == 511  # never past the model's positions
    assert all(padded_length(k, 512) >= k for k in range(1, 513))


def test_the_hash_is_that_of_the_weights() -> None:
    import hashlib

    lm = model("bert")
    assert lm.model_hash == hashlib.sha256((folder("bert") / "model.safetensors").read_bytes()).hexdigest()
    assert lm.model_hash != model("roberta").model_hash
