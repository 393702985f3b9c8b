"""The enumerated chain: its rows, its stationary law, temperature, locks and barred tokens."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from glauber_core.exact import (
    Bigram,
    ConditionalTable,
    CurieWeiss,
    JointTable,
    StateSpace,
    conditional_law,
    distribution_after,
    joint_law,
    site_kernel,
    stationary_law,
    systematic_scan_matrix,
    transition_matrix,
)
from tests.exact.models import TEXT, compatible, every, incompatible, mask

TAUS = [0.0, 0.5, 1.0, 2.0]


def close(a: np.ndarray, b: np.ndarray, rel: float = 1e-11) -> bool:
    return bool(np.allclose(a, b, rtol=rel, atol=1e-15))


@pytest.mark.parametrize("tau", TAUS)
@pytest.mark.parametrize("name", every())
def test_rows_sum_to_one_and_change_one_position(name: str, tau: float) -> None:
    model, n = every()[name]
    matrix = transition_matrix(model, n, tau)
    assert (matrix >= 0).all() and close(matrix.sum(axis=1), np.ones(len(matrix)))
    states = StateSpace.full(model, n).states().numpy()
    assert len(states) == int(model.allowed.sum()) ** n == len(matrix)
    distance = (states[:, None] != states[None]).sum(axis=2)
    assert (matrix[distance > 1] == 0).all()
    if tau > 0:
        assert (matrix[distance <= 1] > 0).all()


def test_matrix_entry_by_entry() -> None:
    """P against its definition, written as loops over one state at a time."""
    model = ConditionalTable.random(3, 3, np.random.default_rng(21), allowed=mask(1, 0, 1))
    tau, states = 0.7, list(itertools.product((0, 2), repeat=3))
    exact = np.zeros((8, 8))
    for a, x in enumerate(states):
        for i in range(3):
            logit = model(torch.tensor([x]), torch.tensor([i]))[0]
            odds = {v: float(torch.exp(logit[v] / tau)) for v in (0, 2)}
            for v in (0, 2):
                y = x[:i] + (v,) + x[i + 1 :]
                exact[a, states.index(y)] += odds[v] / sum(odds.values()) / 3
    assert close(transition_matrix(model, 3, tau), exact)


@pytest.mark.parametrize("tau", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("name", compatible())
def test_compatible_chain_is_reversible_for_its_joint(name: str, tau: float) -> None:
    model, n = compatible()[name]
    law = joint_law(model, StateSpace.full(model, n), tau)
    matrix = transition_matrix(model, n, tau)
    flow = law[:, None] * matrix
    assert close(flow, flow.T)  # detailed balance
    assert close(stationary_law(matrix), law)
    assert close(stationary_law(systematic_scan_matrix(model, n, tau)), law)
    assert close(distribution_after(matrix, 0, 20_000), law)


@pytest.mark.parametrize("name", incompatible())
def test_incompatible_chain_has_a_law_that_depends_on_the_scan(name: str) -> None:
    model, n = incompatible()[name]
    matrix = transition_matrix(model, n, 1.0)
    law = stationary_law(matrix)
    assert close(law @ matrix, law) and (law > 0).all()
    flow = law[:, None] * matrix
    assert np.abs(flow - flow.T).max() > 1e-4  # not reversible
    forward = stationary_law(systematic_scan_matrix(model, n, 1.0))
    backward = stationary_law(systematic_scan_matrix(model, n, 1.0, order=(2, 1, 0)))
    for one, other in itertools.combinations((law, forward, backward), 2):
        assert np.abs(one - other).sum() / 2 > 1e-3


def test_systematic_scan_is_the_product_of_the_site_kernels_in_order() -> None:
    model = ConditionalTable.random(2, 3, np.random.default_rng(22))
    space = StateSpace.full(model, 2)
    first, second = (site_kernel(model, space, i, 1.0).toarray() for i in range(2))
    assert close(systematic_scan_matrix(model, 2, 1.0), first @ second)
    assert close(systematic_scan_matrix(model, 2, 1.0, order=[1, 0, 1]), second @ first @ second)
    assert close(transition_matrix(model, 2, 1.0), (first + second) / 2)
    # after position 1 was resampled last it has its conditional: the rows for one x_0 agree
    assert close(second[0], second[1])


@pytest.mark.parametrize("tau", [0.25, 3.0])
def test_tau_divides_the_logits(tau: float) -> None:
    rng = np.random.default_rng(23)
    logits = torch.from_numpy(rng.standard_normal((3, 9, 3)))
    scaled = transition_matrix(ConditionalTable(logits), 3, tau)
    assert close(scaled, transition_matrix(ConditionalTable(logits / tau), 3, 1.0))
    assert close(transition_matrix(CurieWeiss(1.2), 4, tau), transition_matrix(CurieWeiss(1.2 / tau), 4, 1.0))


def test_extreme_temperatures() -> None:
    model = ConditionalTable.random(2, 3, np.random.default_rng(24))
    assert close(transition_matrix(model, 2, 1e-300), transition_matrix(model, 2, 0.0))
    assert close(transition_matrix(model, 2, 5e-324), transition_matrix(model, 2, 0.0))
    hot = transition_matrix(model, 2, 1e9)
    space = StateSpace.full(model, 2)
    uniform = sum(site_kernel(ConditionalTable(torch.zeros(2, 3, 3).double()), space, i, 1.0).toarray() for i in (0, 1))
    assert np.allclose(hot, uniform / 2, atol=1e-8)


def test_tau_zero_is_deterministic_and_takes_the_lowest_id_on_ties() -> None:
    law = conditional_law(np.array([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0], [0.0, -1.0, 5.0]]), 0.0)
    assert law.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1]]
    barred = JointTable(torch.zeros(3, 3, dtype=torch.float64), mask(0, 1, 1))  # all tied: token 1, never token 0
    matrix = transition_matrix(barred, 2, 0.0)
    space = StateSpace.full(barred, 2)
    start, end = space.encode(torch.tensor([[2, 2], [1, 1]]))
    assert matrix[start].tolist() == [0.0, 0.5, 0.5, 0.0]  # (1,1) (1,2) (2,1) (2,2)
    assert matrix[end, end] == 1.0
    assert stationary_law(matrix).tolist() == [1.0, 0.0, 0.0, 0.0]
    # an even number of spins that agree in halves: the field is 0 and the tie goes to spin -1
    spins = transition_matrix(CurieWeiss(2.0), 3, 0.0, free=[0])
    assert spins[0b101, 0b001] == 1.0


def test_locked_positions_keep_their_token() -> None:
    model, n = ConditionalTable.random(3, 3, np.random.default_rng(25)), 3
    matrix = transition_matrix(model, n, 1.0, free=[0, 2])
    states = StateSpace.full(model, n).states().numpy()
    moved = states[:, None, 1] != states[None, :, 1]
    assert (matrix[moved] == 0).all() and close(matrix.sum(axis=1), np.ones(27))
    with pytest.raises(ValueError, match="several places"):
        stationary_law(matrix)
    # the same chain on the states that agree with the lock
    state = torch.tensor([0, 2, 1])
    space = StateSpace.around(model, state, [0, 2])
    small = transition_matrix(model, space, 1.0, free=[0, 2])
    rows = StateSpace.full(model, n).encode(space.states())
    assert space.size == 9 and close(small, matrix[np.ix_(rows, rows)])
    assert close(stationary_law(small).sum(), np.array(1.0))


def test_a_locked_position_may_hold_a_token_that_is_never_drawn() -> None:
    model = Bigram.from_sequences(TEXT, 4, mask(1, 1, 0, 1))
    space = StateSpace.around(model, torch.tensor([2, 0, 0]), [1, 2])
    matrix = transition_matrix(model, space, 1.0, free=[1, 2])
    assert space.states()[:, 0].tolist() == [2] * 9
    assert close(stationary_law(matrix), joint_law(model, space))
    with pytest.raises(ValueError, match="Position 1 is locked"):
        transition_matrix(model, space, 1.0)


def test_a_chain_leaves_a_barred_token_for_ever() -> None:
    model = JointTable.random(2, 3, np.random.default_rng(28), allowed=mask(1, 0, 1))
    space = StateSpace.around(model, torch.tensor([1, 0]), [0, 1])
    assert space.alphabets == ((0, 1, 2), (0, 2))
    matrix = transition_matrix(model, space, 1.0)
    barred = (space.states() == 1).any(dim=1).numpy()
    assert (matrix[:, barred][~barred] == 0).all() and close(matrix.sum(axis=1), np.ones(6))
    assert close(stationary_law(matrix)[~barred], joint_law(model, StateSpace.full(model, 2)))
    start = space.encode(torch.tensor([[1, 0]]))[0]
    assert distribution_after(matrix, start, 5)[barred].sum() == pytest.approx(0.5**5)  # position 0 not yet picked


@pytest.mark.parametrize("rate", [3e-7, 1e-18])
def test_stationary_law_of_a_deep_trap_is_accurate(rate: float) -> None:
    state = [2, 0, 1]
    table = ConditionalTable.random(3, 3, np.random.default_rng(26)).with_trap(state, rate)
    matrix = transition_matrix(table, 3, 1.0)
    trap = int(StateSpace.full(table, 3).encode(torch.tensor([state]))[0])
    rest = np.arange(27) != trap
    assert matrix[trap, rest].sum() == pytest.approx(rate, rel=1e-12)
    law = stationary_law(matrix)
    # flow out of the trap equals the flow in, to full relative accuracy
    assert law[trap] * matrix[trap, rest].sum() == pytest.approx(law[rest] @ matrix[rest, trap], rel=1e-12)
    # and the mass outside solves the balance that starts from one unit of exit
    outside = np.linalg.solve((np.eye(26) - matrix[np.ix_(rest, rest)]).T, matrix[trap, rest])
    assert law[rest] / law[trap] == pytest.approx(outside, rel=1e-10)
    if rate > 1e-12:
        kept = distribution_after(matrix, trap, 1_000_000)[trap]
        assert kept == pytest.approx(law[trap] + (1 - law[trap]) * np.exp(-1e6 * rate), abs=0.05)


def test_law_of_a_two_state_chain_in_closed_form() -> None:
    out, back = 0.3, 0.05
    matrix = np.array([[1 - out, out], [back, 1 - back]])
    assert stationary_law(matrix) == pytest.approx([back / (out + back), out / (out + back)], rel=1e-14)
    for steps in (0, 1, 2, 3, 7, 64, 1000, 12345):
        exact = back / (out + back) + out / (out + back) * (1 - out - back) ** steps
        assert distribution_after(matrix, 0, steps)[0] == pytest.approx(exact, rel=1e-12)
    mixed = distribution_after(matrix, np.array([0.5, 0.5]), 1)
    assert mixed == pytest.approx([(1 - out + back) / 2, (1 + out - back) / 2], rel=1e-14)


def test_stationary_law_of_a_chain_larger_than_one_block() -> None:
    rng = np.random.default_rng(27)
    matrix = rng.dirichlet(np.full(150, 0.05), 150)
    law = stationary_law(matrix)
    assert close(law @ matrix, law) and close(law.sum(), np.array(1.0))
    spins = CurieWeiss(1.3)
    assert close(stationary_law(transition_matrix(spins, 8, 1.0)), joint_law(spins, StateSpace.full(spins, 8)))


def test_periodic_and_transient_states() -> None:
    cycle = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    assert stationary_law(cycle) == pytest.approx([1 / 3] * 3)
    leak = np.array([[0.5, 0.5, 0.0], [0.0, 0.2, 0.8], [0.0, 0.4, 0.6]])
    assert stationary_law(leak) == pytest.approx([0.0, 1 / 3, 2 / 3])


def test_codes_run_through_all_states() -> None:
    space = StateSpace(((1, 4), (7,), (0, 2, 3)))
    assert space.size == 6 and space.n == 3
    assert space.states().tolist() == [[a, 7, c] for a in (1, 4) for c in (0, 2, 3)]
    assert space.encode(space.states()).tolist() == list(range(6))
    assert space.decode(np.array([5, 0])).tolist() == [[4, 7, 3], [1, 7, 0]]
