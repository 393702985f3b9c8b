"""Each model's conditionals against its definition, written out again by hand or by brute force."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from scipy.special import logsumexp

from glauber_core.exact import (
    Bigram,
    ConditionalTable,
    CurieWeiss,
    JointTable,
    Potts,
    SmoothedCounts,
    StateSpace,
    Transitions,
)
from glauber_core.types import Conditionals
from tests.exact.models import TEXT, compatible, every, mask, random_bigram

EVERY = every()
SPINS = (-1, 1)


def conditionals_of(model: Conditionals, states: torch.Tensor, position: int) -> np.ndarray:
    """Probabilities [B, V] at tau = 1."""
    logits = model(states, torch.full((len(states),), position)).numpy()
    return np.exp(logits - logsumexp(logits, axis=1, keepdims=True))


def all_states(vocab_size: int, n: int) -> torch.Tensor:
    return torch.tensor(list(itertools.product(range(vocab_size), repeat=n)))


@pytest.mark.parametrize("name", EVERY)
def test_every_model_keeps_the_protocol(name: str) -> None:
    model, n = EVERY[name]
    assert isinstance(model, Conditionals)
    states = all_states(model.vocab_size, n)  # disallowed tokens included: a chain may start on one
    before = states.clone()
    for i in range(n):
        logits = model(states, torch.full((len(states),), i))
        assert logits.dtype == torch.float64 and logits.shape == (len(states), model.vocab_size)
        assert bool((logits == -torch.inf).eq(~model.allowed).all())  # -inf exactly there
        assert bool(torch.isfinite(logits[:, model.allowed]).all())
        other = states.clone()
        other[:, i] = (other[:, i] + 1) % model.vocab_size
        assert torch.equal(logits, model(other, torch.full((len(states),), i)))  # its own token is not seen
    assert torch.equal(states, before)


@pytest.mark.parametrize("name", EVERY)
def test_rows_do_not_depend_on_their_company(name: str) -> None:
    model, n = EVERY[name]
    rng = np.random.default_rng(0)
    states = torch.from_numpy(rng.integers(0, model.vocab_size, (40, n)))
    positions = torch.from_numpy(rng.integers(0, n, 40))
    together = model(states, positions)
    alone = torch.cat([model(states[b : b + 1], positions[b : b + 1]) for b in range(40)])
    assert torch.equal(together, alone)


@pytest.mark.parametrize("name", compatible())
def test_conditionals_are_those_of_the_joint(name: str) -> None:
    model, n = compatible()[name]
    space = StateSpace.full(model, n)
    states = space.states()
    weight = np.exp(model.log_weight(states).numpy())
    for i in range(n):
        found = conditionals_of(model, states, i)
        for row, state in enumerate(states):
            others = [k for k in range(n) if k != i]
            same = (states[:, others] == state[others]).all(dim=1).numpy()
            for v in space.alphabets[i]:
                exact = weight[same & (states[:, i] == v).numpy()].sum() / weight[same].sum()
                assert found[row, v] == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("beta", [0.0, 0.6, 1.0, 3.0])
def test_curie_weiss_against_its_hamiltonian(beta: float) -> None:
    n = 5
    states = all_states(2, n)
    weight = {}
    for x in itertools.product((0, 1), repeat=n):
        s = [SPINS[v] for v in x]
        hamiltonian = -sum(s[i] * s[j] for i in range(n) for j in range(i + 1, n)) / n
        weight[x] = math.exp(-beta * hamiltonian)
    model = CurieWeiss(beta)
    assert model.log_weight(states).exp().numpy() == pytest.approx(list(weight.values()), rel=1e-13)
    for i in range(n):
        found = conditionals_of(model, states, i)
        for row, x in enumerate(weight):
            up, down = (weight[x[:i] + (v,) + x[i + 1 :]] for v in (1, 0))
            assert found[row] == pytest.approx([down / (up + down), up / (up + down)], rel=1e-13)


def test_curie_weiss_update_is_the_textbook_tanh() -> None:
    found = conditionals_of(CurieWeiss(0.8), torch.tensor([[1, 0, 1, 1, 1, 0, 1]]), 1)[0, 1]
    assert found == pytest.approx((1 + math.tanh(0.8 * (5 - 1) / 7)) / 2, rel=1e-14)  # others: five up, one down


def test_potts_with_two_colours_is_curie_weiss_at_half_beta() -> None:
    states = all_states(2, 4)
    for i in range(4):
        potts = conditionals_of(Potts(2, 1.8), states, i)
        assert potts == pytest.approx(conditionals_of(CurieWeiss(0.9), states, i), rel=1e-14)
        assert not np.allclose(potts, conditionals_of(CurieWeiss(1.8), states, i))


def test_potts_counts_by_hand() -> None:
    logits = Potts(3, 2.0)(torch.tensor([[0, 2, 2, 1, 2]]), torch.tensor([1]))
    assert logits[0].tolist() == pytest.approx([2 / 5 * 1, 2 / 5 * 1, 2 / 5 * 2])


@pytest.mark.parametrize("n", [1, 2, 4])
def test_bigram_against_its_brute_force_joint(n: int) -> None:
    rng = np.random.default_rng(5)
    start, matrix = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(3), 3)
    model = Bigram.from_matrix(torch.from_numpy(start), torch.from_numpy(matrix))
    states = all_states(3, n)
    joint = {}
    for x in itertools.product(range(3), repeat=n):
        joint[x] = start[x[0]] * math.prod(matrix[u, v] for u, v in itertools.pairwise(x))
    assert sum(joint.values()) == pytest.approx(1.0)
    assert model.log_weight(states).exp().numpy() == pytest.approx(list(joint.values()), rel=1e-12)
    for i in range(n):
        found = conditionals_of(model, states, i)
        for row, x in enumerate(joint):
            exact = np.array([joint[x[:i] + (v,) + x[i + 1 :]] for v in range(3)])
            assert found[row] == pytest.approx(exact / exact.sum(), rel=1e-12)


def test_barred_bigram_is_the_unbarred_one_restricted() -> None:
    states = all_states(4, 3)
    free, barred = random_bigram(4, 6), random_bigram(4, 6, mask(1, 0, 1, 1))
    for i in range(3):
        kept = conditionals_of(free, states, i) * np.array([1, 0, 1, 1])
        assert conditionals_of(barred, states, i) == pytest.approx(kept / kept.sum(axis=1, keepdims=True), rel=1e-12)


def test_smoothed_counts_by_hand() -> None:
    # TEXT: 17 tokens; "2" is followed by 3, 2, 0, 0, 1, and starts 2 of the 5 sequences that are not empty.
    law = SmoothedCounts.from_sequences(TEXT, 4, strength=2.0, additive=0.5)
    counts = np.bincount([t for s in TEXT for t in s], minlength=4)
    unigram = (counts + 0.5) / (counts.sum() + 2.0)
    row = (np.array([2, 1, 1, 1]) + 2.0 * unigram) / (5 + 2.0)
    assert law.log_rows(torch.tensor([2])).exp().numpy()[0] == pytest.approx(row, rel=1e-13)
    assert law.log_start.exp().numpy() == pytest.approx((np.array([1, 1, 2, 1]) + 2.0 * unigram) / 7.0, rel=1e-13)
    uniform = SmoothedCounts.from_sequences(TEXT, 4, strength=4 * 0.25, backoff="uniform")
    assert uniform.log_rows(torch.tensor([2])).exp().numpy()[0] == pytest.approx((np.array([2, 1, 1, 1]) + 0.25) / 6)


def test_sparse_and_dense_bigram_agree() -> None:
    sparse = SmoothedCounts.from_sequences(TEXT, 4, strength=1.5)
    dense = sparse.dense()
    assert isinstance(sparse, Transitions) and isinstance(dense, Transitions)
    states = all_states(4, 3)
    for i in range(3):
        positions = torch.full((len(states),), i)
        assert torch.allclose(Bigram(sparse)(states, positions), Bigram(dense)(states, positions), rtol=1e-13)
    assert torch.allclose(Bigram(sparse).log_weight(states), Bigram(dense).log_weight(states), rtol=1e-13)


def test_counting_in_blocks_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = SmoothedCounts.from_sequences(TEXT, 4)
    monkeypatch.setattr("glauber_core.exact.transitions._BLOCK", 4)
    parts = SmoothedCounts.from_sequences((list(s) for s in TEXT), 4)  # a generator will do
    assert parts.model_hash == whole.model_hash


def test_bigram_of_a_whole_vocabulary_stays_small() -> None:
    size = 30_522
    rng = np.random.default_rng(7)
    text = [rng.zipf(1.3, 200) % size for _ in range(500)]
    model = Bigram.from_sequences(text, size)
    stored = model.transitions._rows.nnz  # type: ignore[attr-defined]
    assert 0 < stored <= 500 * 199
    states = torch.from_numpy(rng.integers(0, size, (4, 9)))
    logits = model(states, torch.tensor([0, 3, 7, 8]))
    assert bool(torch.isfinite(logits).all())
    rows = model.transitions.log_rows(states[:, 0])
    assert torch.logsumexp(rows, dim=1).numpy() == pytest.approx(0.0, abs=1e-12)
    # a column against the same entries read row by row
    some = torch.from_numpy(rng.integers(0, size, 50))
    column = model.transitions.log_columns(states[:1, 3])[0, some]
    assert torch.allclose(column, model.transitions.log_rows(some)[:, states[0, 3]], rtol=1e-13)


def rectangle(model: Conditionals, x: list[int], i: int, j: int, a: int, b: int) -> float:
    """The curl L1 - L2 of MATH section 2 at x with x_i -> a, x_j -> b."""

    def ratio(k: int, to: int, **at: int) -> float:
        state = list(x)
        for key, token in at.items():
            state[i if key == "i" else j] = token
        row = model(torch.tensor([state]), torch.tensor([k]))[0]
        return float(row[to] - row[x[k]])

    return (ratio(i, a) + ratio(j, b, i=a)) - (ratio(j, b) + ratio(i, a, j=b))


def test_incompatible_table_has_the_rectangle_worked_out_by_hand() -> None:
    # Position 0 copies position 1 with log odds 2; position 1 does the opposite of position 0 with log odds 1.
    logits = torch.tensor([[[2.0, 0.0], [0.0, 2.0]], [[0.0, 1.0], [1.0, 0.0]]], dtype=torch.float64)
    table = ConditionalTable(logits)
    # x = (0,0) -> (1,1). i first: -2 (leave 0 while 1 is 0), then -1 (go to 1 while 0 is 1): L1 = -3.
    # j first: +1 (leave 0 while 0 is 0), then +2 (go to 1 while 1 is 1): L2 = 3. curl = -6.
    assert rectangle(table, [0, 0], 0, 1, 1, 1) == pytest.approx(-6.0, abs=1e-14)
    assert rectangle(table, [0, 1], 0, 1, 1, 0) == pytest.approx(6.0, abs=1e-14)


@pytest.mark.parametrize("name", compatible())
def test_compatible_models_have_no_curl(name: str) -> None:
    model, n = compatible()[name]
    tokens = torch.nonzero(model.allowed)[:, 0].tolist()
    for state in itertools.product(tokens, repeat=n):
        for i, j in itertools.permutations(range(n), 2):
            assert abs(rectangle(model, list(state), i, j, tokens[-1], tokens[0])) < 1e-13


@pytest.mark.parametrize(("rate", "tau"), [(3e-7, 1.0), (1e-18, 1.0), (0.2, 0.5), (1e-12, 2.0)])
def test_trap_has_the_stated_exit_rate(rate: float, tau: float) -> None:
    table = ConditionalTable.random(4, 4, np.random.default_rng(8), allowed=mask(1, 1, 0, 1))
    state = [3, 0, 1, 3]
    model = table.with_trap(state, rate, tau)
    leave = []
    for i in range(4):
        row = model(torch.tensor([state]), torch.tensor([i]))[0] / tau
        row = row - torch.logsumexp(row, dim=0)
        leave.append(sum(math.exp(row[v]) for v in (0, 1, 3) if v != state[i]))  # never 1 minus something
    assert leave == pytest.approx([rate] * 4, rel=1e-12)
    assert model.model_hash != table.model_hash


def test_trap_leaves_the_rest_of_the_table_alone() -> None:
    table = ConditionalTable.random(3, 3, np.random.default_rng(9))
    state = [2, 0, 1]
    trapped = table.with_trap(state, 1e-6)
    states = all_states(3, 3)
    for i in range(3):
        others = [k for k in range(3) if k != i]
        beside = (states[:, others] == torch.tensor(state)[others]).all(dim=1)
        positions = torch.full((len(states),), i)
        same = (table(states, positions) == trapped(states, positions)).all(dim=1)
        assert torch.equal(same, ~beside)


def test_hash_names_the_parameters() -> None:
    hashes = [model.model_hash for model, _ in every().values()]  # type: ignore[attr-defined]
    assert len(set(hashes)) == len(hashes) and all(len(h) == 64 for h in hashes)
    assert hashes == [model.model_hash for model, _ in every().values()]  # type: ignore[attr-defined]
    assert CurieWeiss(0.5).model_hash != CurieWeiss(0.5000001).model_hash
    assert Potts(3, 1.0).model_hash != Potts(3, 1.0, mask(1, 1, 0)).model_hash
    joint = torch.zeros(2, 2, dtype=torch.float64)
    assert JointTable(joint).model_hash == JointTable(joint.clone()).model_hash
    assert all(model.name for model, _ in every().values())  # type: ignore[attr-defined]


def test_models_do_not_follow_the_arrays_they_were_made_from() -> None:
    weights = torch.zeros(2, 2, dtype=torch.float64)
    model = JointTable(weights)
    weights[0, 0] = 9.0
    assert float(model.log_weight(torch.tensor([[0, 0]]))) == 0.0
