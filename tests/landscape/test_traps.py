"""Traps of exact models: what the scan finds is what enumeration says."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from glauber_core.chain import Chain
from glauber_core.errors import Cancelled
from glauber_core.exact import ConditionalTable, StateSpace, transition_matrix
from glauber_core.landscape.traps import catalogue, every_visit, scan
from glauber_core.types import Conditionals
from tests.exact.models import mask

RNG = np.random.default_rng(21)
TABLES = {
    "random": ConditionalTable.random(3, 3, np.random.default_rng(6), 3.0),  # two perfect traps
    "barred": ConditionalTable.random(3, 4, RNG, 2.0, mask(1, 1, 0, 1)),
    "trap": ConditionalTable.random(3, 3, RNG, 1.0).with_trap([2, 0, 1], 0.005),
}


def enumerated(model: Conditionals, n: int, tau: float) -> dict[tuple[int, ...], tuple[float, float]]:
    """State -> (smallest margin, exit probability), every state of V^n, from its conditionals and the matrix P."""
    space = StateSpace.full(model, n)
    matrix = transition_matrix(model, space, tau, range(n))
    found = {}
    for row, state in enumerate(space.states().tolist()):
        margins = []
        for i in range(n):
            logits = model(torch.tensor([state]), torch.tensor([i]))[0]
            others = logits.clone()
            others[state[i]] = -torch.inf
            margins.append(float(logits[state[i]] - others.max()))
        found[tuple(state)] = (min(margins), float(np.delete(matrix[row], row).sum()))
    return found


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("tau", [0.3, 1.0])
def test_scan_equals_enumeration(name: str, tau: float) -> None:
    model = TABLES[name]
    truth = enumerated(model, 3, tau)
    allowed = torch.nonzero(model.allowed)[:, 0].tolist()
    run = Chain(model, [allowed[0]] * 3, 1, tau)
    run.advance(500)
    found = [t for t in scan(run.record, model) if t.reason != "window"]
    wanted = []
    for visit in every_visit(run.record):
        margin, leave = truth[visit.state]
        if margin > 0 or leave <= 0.01:
            wanted.append((visit.state, visit.entered, visit.left, "perfect" if margin > 0 else "approximate"))
    assert [(t.state, t.entered, t.left, t.kind) for t in found] == wanted
    assert len(wanted) > 0
    for trap in found:
        margin, leave = truth[trap.state]
        assert trap.smallest == pytest.approx(margin)
        assert math.exp(trap.log_exit) == pytest.approx(leave, rel=1e-9)
        assert trap.expected == pytest.approx(1 / leave, rel=1e-9)
        assert trap.dwell == (run.record.elapsed if trap.left is None else trap.left) - trap.entered


def test_stays_are_geometric_and_the_catalogue_adds_them_up() -> None:
    """Mean observed stay against 1/q: 5 standard errors are passed once in 1.7 million seeds."""
    model = TABLES["trap"]
    run = Chain(model, [2, 0, 1], 2, 1.0)
    run.skip(1_500)
    kept = {k.trap.state: k for k in catalogue(scan(run.record, model)) if k.trap.reason != "window"}
    one = kept[(2, 0, 1)]
    q = math.exp(one.trap.log_exit)
    assert q == pytest.approx(0.005, rel=1e-6)
    error = math.sqrt(1 - q) / q / math.sqrt(one.ended)
    assert one.ended > 60 and abs(one.mean - 1 / q) < 5 * error
    assert abs(2 * one.mean - 1 / q) > 5 * error  # twice the stay would be seen
    assert one.stays - one.ended in (0, 1)


def test_a_chain_that_keeps_close_is_an_approximate_trap() -> None:
    """Position 2 is free to change, the others are held: no state is a trap by itself, the neighbourhood is."""
    logits = torch.zeros(3, 9, 3, dtype=torch.float64)
    logits[:2, :, 0] = 9.0  # q of the whole about 1/3 * 2/3
    model = ConditionalTable(logits)
    run = Chain(model, [0, 0, 0], 3, 1.0)
    run.advance(200)
    found = scan(run.record, model)
    assert [t.reason for t in found] == ["window"]
    assert found[0].state[:2] == (0, 0) and found[0].left is None and found[0].entered == 0
    wandering = Chain(ConditionalTable(torch.zeros(3, 9, 3, dtype=torch.float64)), [0, 0, 0], 3, 1.0)
    wandering.advance(200)
    assert scan(wandering.record, wandering.conditionals) == []


def test_short_stays_are_left_out_and_the_scan_can_be_ended() -> None:
    model = TABLES["random"]
    run = Chain(model, [0, 0, 0], 4, 0.5)
    run.advance(500)
    every = scan(run.record, model)
    longer = scan(run.record, model, least=5)
    stays = [t for t in every if t.reason != "window"]
    held = {t.state for t in stays if t.dwell >= 5}
    assert 0 < len(held) < len({t.state for t in stays}) or min(t.dwell for t in stays) < 5
    wanted = [(t.state, t.entered) for t in stays if t.state in held]
    assert [(t.state, t.entered) for t in longer if t.reason != "window"] == wanted

    def end(share: float) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        scan(run.record, model, progress=end)


def test_an_absorbed_state_is_a_trap_for_ever() -> None:
    model = TABLES["trap"]
    run = Chain(model, [2, 0, 1], 2, 0.0)
    run.skip(5, horizon=1_000)
    last = scan(run.record, model)[-1]
    assert last.kind == "perfect" and last.left is None and last.expected == math.inf and last.dwell > 0
