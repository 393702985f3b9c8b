"""Rejection-free and hybrid runs have the plain chain's law: many chains against their start state's row of P^T.

Declared false-fail rate: 1e-4 for each comparison (``tests.law``), seeds fixed, no retry. There are about 110 of them,
so correct runners given new seeds would fail somewhere for about one set of seeds in 90.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from glauber_core import rejection_free, waiting
from glauber_core.exact import Bigram, ConditionalTable, JointTable, StateSpace, distribution_after, transition_matrix
from glauber_core.hybrid import run_hybrid
from glauber_core.kernels import inverse_cdf
from glauber_core.rejection_free import Jumps, run_rejection_free
from glauber_core.shape import EvaluationShape
from glauber_core.streams import UniformStream, wait_uniforms
from glauber_core.types import Conditionals
from tests.exact.models import TEXT, every, mask
from tests.law import CHAINS, assert_law, rejects

MODELS = every()
TAUS = [0.0, 0.5, 1.0, 2.0]
pytestmark = pytest.mark.usefixtures("restless")
MANY = EvaluationShape(rows=4_096, threads=1, dtype="float64", states=4_096)
FEWER = CHAINS // 4
RUNNERS = [run_rejection_free, run_hybrid]
Runner = Callable[..., Jumps]


def starting(model: Conditionals, n: int) -> list[int]:
    """Tokens in descending order: no fixed point of most models."""
    tokens = torch.nonzero(model.allowed)[:, 0].tolist()
    return [tokens[-1 - k % len(tokens)] for k in range(n)]


def sample(
    run: Runner,
    model: Conditionals,
    start: list[int],
    tau: float,
    horizon: int,
    seed: int,
    free: list[int] | None = None,
    chains: int = CHAINS,
) -> tuple[np.ndarray, np.ndarray, Jumps]:
    """Where the chains are at the horizon (state indices), the law there, and the run."""
    chosen = list(range(len(start))) if free is None else free
    locked = [i for i in range(len(start)) if i not in chosen]
    tokens = torch.tensor([start]).expand(chains, -1)
    done = run(model, tokens, tau, horizon, seed=seed, locked=locked, shape=MANY)
    space = StateSpace.around(model, torch.tensor(start), chosen)
    matrix = transition_matrix(model, space, tau, chosen)
    return space.encode(done.final), distribution_after(matrix, space.encode(torch.tensor([start]))[0], horizon), done


# -- the law at a fixed time ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tau", TAUS)
@pytest.mark.parametrize("name", MODELS)
def test_law_of_rejection_free_runs(name: str, tau: float) -> None:
    model, n = MODELS[name]
    number = len(TAUS) * list(MODELS).index(name) + TAUS.index(tau)  # 0 .. 39
    found, law, done = sample(run_rejection_free, model, starting(model, n), tau, 5, 300 + number, chains=FEWER)
    assert_law(found, law)
    assert {path.steps for path in done.paths} == {5}


@pytest.mark.parametrize("name", ["curie-weiss", "bigram-sparse", "conditional", "conditional-barred"])
def test_law_of_hybrid_runs(name: str) -> None:
    model, n = MODELS[name]
    found, law, _ = sample(run_hybrid, model, starting(model, n), 0.5, 25, 390, chains=FEWER)  # may turn after 12
    assert_law(found, law)


@pytest.mark.parametrize("run", RUNNERS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("tau", [0.0, 0.7])
def test_law_with_locked_positions(tau: float, run: Runner) -> None:
    model = Bigram.from_sequences(TEXT, 4, mask(1, 1, 0, 1))
    start, free = [3, 2, 1, 0], [0, 2]  # position 1 is locked on a token that is never drawn
    found, law, done = sample(run, model, start, tau, 20 if tau else 5, 351, free, FEWER)
    assert_law(found, law)
    assert bool((done.final[:, [1, 3]] == torch.tensor([2, 0])).all())


@pytest.mark.parametrize("run", RUNNERS, ids=lambda f: f.__name__)
def test_law_from_a_barred_token_at_a_free_position(run: Runner) -> None:
    model = JointTable.random(3, 3, np.random.default_rng(31), allowed=mask(1, 0, 1))
    found, law, _ = sample(run, model, [1, 2, 1], 1.0, 3, 352, chains=FEWER)
    assert_law(found, law)


@pytest.mark.parametrize("run", RUNNERS, ids=lambda f: f.__name__)
def test_law_of_a_trap_long_after_it_was_entered(run: Runner) -> None:
    """A horizon of some mean waits: what the plain runner would need 400 steps a chain for."""
    state = [2, 0, 1]
    model = ConditionalTable.random(3, 3, np.random.default_rng(32)).with_trap(state, 0.01)
    found, law, done = sample(run, model, state, 1.0, 400, 353, chains=FEWER)
    assert_law(found, law)
    if run is run_hybrid:  # the comparison means something only if both kinds of move took part, in this order or that
        kinds = [np.isnan(path.log_exit) for path in done.paths]
        assert np.mean([k.any() and not k.all() for k in kinds]) > 0.5
        assert np.mean([path.reads > 0 for path in done.paths]) > 0.9


# -- waits ------------------------------------------------------------------------------------------------------------


def uniform(count: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2**53, count) * 2.0**-53


@pytest.mark.parametrize("q", [1.0, 0.99, 0.5, 0.3, 1e-2])
def test_waits_are_geometric(q: float) -> None:
    drawn = np.array([waiting.dwell(u, math.log(q)) for u in uniform(CHAINS, 361)])
    cells = int(min(2_000, math.ceil(40 / q)))
    law = q * (1 - q) ** np.arange(cells)
    assert_law(np.minimum(drawn, cells + 1) - 1, np.append(law, max(0.0, 1 - law.sum())))


@pytest.mark.parametrize("stay", [1e-3, 1e-9, 3e-15])
def test_waits_where_nearly_every_step_changes_something(stay: float) -> None:
    """Too rare to be sampled: the uniforms from which D is 2, and 3, are where (1 - q)^k puts them, to the grid."""
    log_q = math.log1p(-stay)
    for edge, below, above in ((1 - stay, 1, 2), (1 - stay**2, 2, 3)):
        if 1 - edge > 2.0**-51:
            near = 2.0**-52 + (1 - edge) * 1e-3  # log q itself is only known to 1e-16 of 1
            assert waiting.dwell(edge - near, log_q) == below
            assert waiting.dwell(edge + near, log_q) == above
    assert waiting.dwell(0.0, log_q) == waiting.dwell(0.0, -1e300) == 1


@pytest.mark.parametrize("log_q", [math.log(1e-9), math.log(1e-17), math.log(1e-300), -695.0])
def test_rare_exits_wait_for_an_exponential_time(log_q: float) -> None:
    """q D in 50 cells of equal probability, each the exact sum of the geometric law to 1e-9."""
    drawn = [waiting.dwell(u, log_q) for u in uniform(CHAINS, 362)]
    assert all(type(d) is int for d in drawn)
    share = [-math.expm1(-math.exp(math.log(d) + log_q)) for d in drawn]
    assert_law((np.array(share) * 50).astype(np.int64).clip(0, 49), np.full(50, 0.02))


@pytest.mark.parametrize("rate", [0.2, 1e-4, 1e-12])
def test_the_first_wait_of_a_run_is_geometric(rate: float) -> None:
    state = [2, 0, 1]
    model = ConditionalTable.random(3, 3, np.random.default_rng(33)).with_trap(state, rate)
    start = torch.tensor([state]).expand(FEWER, -1)
    done = run_rejection_free(model, start, 1.0, changes=1, seed=363, shape=MANY)
    assert {path.end for path in done.paths} == {"changes"} and {path.held for path in done.paths} == {0}
    log_stay = math.log1p(-rate)
    edges = np.unique(np.round(np.log1p(-np.arange(1, 40) / 40) / log_stay).astype(np.int64))  # D <= edge, near 1/40s
    below = -np.expm1(edges * log_stay)
    law = np.diff(below, prepend=0.0, append=1.0)
    assert_law(np.searchsorted(edges, [path.dwell[0] for path in done.paths], side="left"), law)


def test_a_wait_off_by_one_is_rejected() -> None:
    q = 0.3
    law = q * (1 - q) ** np.arange(40)
    drawn = np.array([waiting.dwell(u, math.log(q)) for u in uniform(CHAINS, 361)])
    assert rejects(np.minimum(drawn, 40), np.append(law, 1 - law.sum()))  # counting from 0


# -- where a change leads ---------------------------------------------------------------------------------------------


def jump_law(model: Conditionals, space: StateSpace, start: list[int], tau: float) -> np.ndarray:
    """The row of P without its diagonal, float64 [S]."""
    here = int(space.encode(torch.tensor([start]))[0])
    row = transition_matrix(model, space, tau)[here].copy()
    row[here] = 0.0
    return row / row.sum()


@pytest.mark.parametrize("tau", [0.0, 0.7])
@pytest.mark.parametrize("name", MODELS)
def test_law_of_a_change(name: str, tau: float) -> None:
    model, n = MODELS[name]
    start = starting(model, n)
    space = StateSpace.full(model, n)
    done = run_rejection_free(model, torch.tensor([start]).expand(FEWER, -1), tau, changes=1, seed=370, shape=MANY)
    if done.paths[0].end == "absorbed":
        assert tau == 0.0 and transition_matrix(model, space, tau)[space.encode(torch.tensor([start]))[0]].max() == 1
        return
    assert_law(space.encode(done.final), jump_law(model, space, start, tau))


@pytest.mark.parametrize("log_rate", [-30.0, -690.0])
def test_law_of_a_change_out_of_a_deep_trap(log_rate: float) -> None:
    """The way out does not depend on how deep the trap is: the other logits are the table's own."""
    state = [2, 0, 1]
    table = ConditionalTable.random(3, 3, np.random.default_rng(34))
    deep, shallow = (table.with_trap(state, rate) for rate in (math.exp(log_rate), 1e-3))
    done = run_rejection_free(deep, torch.tensor([state]).expand(FEWER, -1), 1.0, changes=1, seed=371, shape=MANY)
    space = StateSpace.full(deep, 3)
    assert_law(space.encode(done.final), jump_law(shallow, space, state, 1.0))


# -- each of these tests can fail -------------------------------------------------------------------------------------


def current_included(model: Conditionals, tokens: Tensor, u: Tensor, tau: Tensor, free: Tensor) -> waiting.Departure:
    """The token is drawn from the whole conditional: it may be the one that is there."""
    after, log_exit, info = waiting.leave(model, tokens, u, tau, free)
    log_prob = torch.log_softmax(model(tokens, info.position) / tau[:, None], dim=1)
    drawn = inverse_cdf(log_prob, u[:, 1], model.allowed)
    after = after.scatter(1, info.position[:, None], drawn[:, None])
    return waiting.Departure(after, log_exit, info._replace(new=drawn))


def any_position(model: Conditionals, tokens: Tensor, u: Tensor, tau: Tensor, free: Tensor) -> waiting.Departure:
    """The position is uniform instead of proportional to its probability of change."""
    only = (u[:, 0] * len(free)).long()
    rows = [waiting.leave(model, tokens, u, tau, free[k : k + 1]) for k in range(len(free))]
    log_exit = waiting.leave(model, tokens, u, tau, free).log_exit
    count = torch.arange(len(tokens))
    after = torch.stack([row.tokens for row in rows])[only, count]
    info = [torch.stack(column)[only, count] for column in zip(*(row.info for row in rows), strict=True)]
    return waiting.Departure(after, log_exit, waiting.StepInfo(*info))


def one_uniform(model: Conditionals, tokens: Tensor, u: Tensor, tau: Tensor, free: Tensor) -> waiting.Departure:
    """One uniform for position and token."""
    return waiting.leave(model, tokens, u[:, :1].expand(-1, 2), tau, free)


def hot(model: Conditionals, tokens: Tensor, u: Tensor, tau: Tensor, free: Tensor) -> waiting.Departure:
    """A temperature 15 % too high."""
    return waiting.leave(model, tokens, u, tau * 1.15, free)


WRONG = [current_included, any_position, one_uniform, hot]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda f: f.__name__)
def test_a_wrong_move_is_rejected(wrong: Callable[..., waiting.Departure], monkeypatch: pytest.MonkeyPatch) -> None:
    model, n = MODELS["conditional"]
    count = CHAINS if wrong is hot else FEWER
    found, law, _ = sample(run_rejection_free, model, starting(model, n), 1.0, 7, 381, chains=count)
    assert_law(found, law)  # the right one passes on the same numbers
    monkeypatch.setattr(rejection_free, "leave", wrong)
    found, law, _ = sample(run_rejection_free, model, starting(model, n), 1.0, 7, 381, chains=count)
    assert rejects(found, law)


@pytest.mark.parametrize("lost", [1, -1])
def test_a_wrong_wait_is_rejected(lost: int, monkeypatch: pytest.MonkeyPatch) -> None:
    model, n = MODELS["conditional"]
    monkeypatch.setattr(rejection_free, "dwell", lambda u, log_q: max(1, waiting.dwell(u, log_q) + lost))
    found, law, _ = sample(run_rejection_free, model, starting(model, n), 1.0, 7, 381, chains=FEWER)
    assert rejects(found, law)


class Peeking:
    """Waits only if the wait it is about to draw is short."""

    def __init__(self, seed: int, chain: int) -> None:
        self.stream, self.waits = UniformStream(seed, chain, 32, wait_uniforms), 0
        self.turn = False

    @property
    def waiting(self) -> bool:
        self.turn = bool(self.stream.at(self.waits)[0] < 0.5)
        return self.turn

    def saw(self, steps: int, changed: bool) -> None:
        self.waits += self.turn


class Coin(Peeking):
    """The same share of waits, decided by a draw that nothing else uses."""

    def __init__(self, seed: int, chain: int) -> None:
        super().__init__(seed + 1, chain)


@pytest.mark.parametrize("rule, right", [(Peeking, False), (Coin, True)])
def test_a_rule_that_looks_at_the_next_draw_is_rejected(rule: type[Peeking], right: bool) -> None:
    model, state = MODELS["conditional-trap"][0], [2, 0, 1]  # q = 0.05: whether a wait is long makes a difference
    start = torch.tensor([state]).expand(FEWER, -1)
    rules = [rule(382, chain) for chain in range(FEWER)]
    done = rejection_free.follow(model, start, 1.0, 20, None, 382, None, (), MANY, rules)
    space = StateSpace.full(model, 3)
    law = distribution_after(transition_matrix(model, space, 1.0), space.encode(start[:1])[0], 20)
    assert rejects(space.encode(done.final), law) is not right
