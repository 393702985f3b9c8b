"""The kernel's law: 20,000 independent chains from one state against that state's row of P^T.

Declared false-fail rate: 1e-4 for each comparison (``tests.law``), seeds fixed, no retry. There are about 115 of them,
so a correct kernel given new seeds would fail somewhere for about one set of seeds in 90.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from glauber_core.exact import (
    Bigram,
    ConditionalTable,
    CurieWeiss,
    JointTable,
    StateSpace,
    conditional_law,
    distribution_after,
    transition_matrix,
)
from glauber_core.kernels import ChainState, StepInfo, inverse_cdf, log_conditional, resample, step
from glauber_core.runners import run
from glauber_core.shape import EvaluationShape, canonical_step
from glauber_core.streams import uniforms
from glauber_core.types import Conditionals
from tests.exact.models import TEXT, every, mask
from tests.kernel.simulate import Step, draws, simulate
from tests.law import CHAINS, assert_law, rejects

MODELS = every()
TAUS = [0.0, 0.5, 1.0, 2.0]
TIMES = (2, 7)
PAIRS = 6_000
STEPS = max(TIMES)


def window(number: int) -> Tensor:
    """float64 [CHAINS, STEPS, 2]: uniforms of the ``number``-th test; no two tests share one."""
    return draws(101, STEPS * 50)[:, number * STEPS : (number + 1) * STEPS]


def row(
    model: Conditionals, start: list[int], tau: float, steps: int, free: list[int]
) -> tuple[StateSpace, np.ndarray]:
    """The states around ``start`` and the law of the chain after ``steps`` steps."""
    space = StateSpace.around(model, torch.tensor(start), free)
    matrix = transition_matrix(model, space, tau, free)
    return space, distribution_after(matrix, space.encode(torch.tensor([start]))[0], steps)


def compare(
    model: Conditionals,
    start: list[int],
    tau: float,
    uniform: Tensor,
    free: list[int] | None = None,
    advance: Step = step,
) -> None:
    """Assert the law of the chains after each of ``TIMES`` steps."""
    chosen = list(range(len(start))) if free is None else free
    tokens = simulate(model, start, tau, uniform, chosen, advance)
    for steps in TIMES:
        space, law = row(model, start, tau, steps, chosen)
        assert_law(space.encode(tokens[steps]), law, what=f"after {steps} steps")


def starting(model: Conditionals, n: int) -> list[int]:
    """A start state that is no fixed point of most models: tokens in descending order."""
    tokens = torch.nonzero(model.allowed)[:, 0].tolist()
    return [tokens[-1 - k % len(tokens)] for k in range(n)]


@pytest.mark.parametrize("tau", TAUS)
@pytest.mark.parametrize("name", MODELS)
def test_law_of_the_plain_kernel(name: str, tau: float) -> None:
    model, n = MODELS[name]
    number = len(TAUS) * list(MODELS).index(name) + TAUS.index(tau)  # 0 .. 39
    compare(model, starting(model, n), tau, window(number))


def test_law_of_the_batched_runner() -> None:
    model, n = MODELS["conditional-barred"]
    start = starting(model, n)
    shape = EvaluationShape(rows=4_096, threads=1, dtype="float64")
    path = run(model, torch.tensor([start]).expand(CHAINS, -1), 0.7, STEPS, seed=102, shape=shape)
    space, law = row(model, start, 0.7, STEPS, list(range(n)))
    assert_law(space.encode(path.final), law)


def test_law_with_float32_logits() -> None:
    class Single:
        """A model that answers in float32, as networks do."""

        def __init__(self, exact: Conditionals) -> None:
            self.exact, self.vocab_size, self.allowed = exact, exact.vocab_size, exact.allowed

        def __call__(self, states: Tensor, positions: Tensor) -> Tensor:
            return self.exact(states, positions).float()

    model, n = MODELS["conditional-barred"]
    compare(Single(model), starting(model, n), 0.5, window(40))


@pytest.mark.parametrize("tau", TAUS)
def test_law_with_locked_positions(tau: float) -> None:
    model = Bigram.from_sequences(TEXT, 4, mask(1, 1, 0, 1))
    start, free = [3, 2, 1, 0], [0, 2]  # position 1 is locked on a token that is never drawn
    uniform = window(41 + TAUS.index(tau))
    compare(model, start, tau, uniform, free)
    for tokens in simulate(model, start, tau, uniform, free):
        assert bool((tokens[:, [1, 3]] == torch.tensor([2, 0])).all())


def test_law_from_a_barred_token_at_a_free_position() -> None:
    model = JointTable.random(3, 3, np.random.default_rng(31), allowed=mask(1, 0, 1))
    start = [1, 2, 1]
    tokens = simulate(model, start, 1.0, window(45))
    compare(model, start, 1.0, window(45))
    barred = [(t == 1).sum(dim=1) for t in tokens]
    for before, after in zip(barred[:-1], barred[1:], strict=True):
        assert bool((after <= before).all())


def test_law_of_a_trap_and_of_its_exit() -> None:
    """Far more steps than the law test's T: the time to leave is geometric with mean 1/q (MATH section 4)."""
    state, rate, horizon = [2, 0, 1], 0.05, 40
    model = ConditionalTable.random(3, 3, np.random.default_rng(32)).with_trap(state, rate)
    tokens = torch.stack(simulate(model, state, 1.0, draws(106, horizon, 5_000)))
    home = (tokens == torch.tensor(state)).all(dim=2)  # [T + 1, C]
    first = torch.where(home.all(dim=0), horizon, (~home).int().argmax(dim=0) - 1).numpy()
    leave = rate * (1 - rate) ** np.arange(horizon)
    assert_law(first, np.append(leave, 1 - leave.sum()), what="steps stayed before the first exit")


# -- chains are independent ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("pairs", ["neighbouring chains", "neighbouring seeds", "seed and chain swapped"])
def test_chains_are_independent(pairs: str) -> None:
    """The joint law of two chains is the product of their laws."""
    every = range(PAIRS)
    keys = {
        "neighbouring chains": ([(107, 2 * c) for c in every], [(107, 2 * c + 1) for c in every]),
        "neighbouring seeds": ([(2 * c, 5) for c in every], [(2 * c + 1, 5) for c in every]),
        "seed and chain swapped": ([(c, c + 9_999) for c in every], [(c + 9_999, c) for c in every]),
    }[pairs]
    one, two = (blocks(part) for part in keys)
    joint, law = both(one, two)
    assert_law(joint, law, what=pairs)
    assert rejects(both(one, one)[0], law)
    half = two.clone()
    half[:, :, 1] = one[:, :, 1]  # only the tokens' uniforms are shared
    assert rejects(both(one, half)[0], law)


def blocks(keys: list[tuple[int, int]]) -> Tensor:
    return torch.from_numpy(np.stack([uniforms(seed, chain, 0, 4) for seed, chain in keys]))


def both(one: Tensor, two: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Index of the pair of states, and the product law."""
    model, start = CurieWeiss(1.2), [0, 1, 1]
    space, law = row(model, start, 1.0, 4, [0, 1, 2])
    first, second = (space.encode(simulate(model, start, 1.0, u)[-1]) for u in (one, two))
    return first * space.size + second, np.outer(law, law).ravel()


def test_uniforms_are_uniform_over_chains_and_over_steps() -> None:
    flat = np.full(400, 1 / 400)
    over_chains = window(47)[:, 1].numpy()
    over_steps = uniforms(109, 3, 0, CHAINS)
    for pair in (over_chains, over_steps):
        cells = (pair * 20).astype(np.int64)
        assert_law(cells[:, 0] * 20 + cells[:, 1], flat)
    lagged = (over_steps * 20).astype(np.int64)  # position of one step against token of the step before
    assert_law(lagged[1::2, 0] * 20 + lagged[::2, 1], flat)


# -- a chain does not see its company -------------------------------------------------------------------------------


def paths(model: Conditionals, chains: list[int], rows: int) -> dict[int, list[list[int]]]:
    """Chain id -> what happened at each step, evaluated ``rows`` rows at a time."""
    shape = EvaluationShape(rows=rows, threads=1, dtype="float64")
    start = torch.tensor([starting(model, 3)]).expand(len(chains), -1)
    done = run(model, start, 1.0, 60, seed=110, chains=chains, shape=shape)
    steps = torch.stack((done.position, done.old, done.new), dim=2)
    return {chain: steps[:, k].tolist() for k, chain in enumerate(chains)}


@pytest.mark.parametrize("rows", [1, 4])
def test_same_path_alone_and_in_company(rows: int) -> None:
    model = MODELS["conditional"][0]
    alone = paths(model, [7], rows)[7]
    for company in ([7, 8], [1, 2, 3, 4, 7, 9], [0, 7]):
        assert paths(model, company, rows)[7] == alone
    assert paths(model, [8], rows)[8] != alone


def test_a_model_that_sees_its_company_is_caught() -> None:
    class Gossip(ConditionalTable):
        def __call__(self, states: Tensor, positions: Tensor) -> Tensor:
            return super().__call__(states, positions) + states.double().mean() * torch.arange(3.0)

    gossip = Gossip(torch.zeros(3, 9, 3, dtype=torch.float64))
    assert paths(gossip, [7], 4)[7] != paths(gossip, [1, 2, 3, 7], 4)[7]


def test_temperatures_in_one_batch_do_not_mix() -> None:
    model, n = MODELS["joint-barred"]
    uniform = window(46)[:400]
    alone = {tau: simulate(model, starting(model, n), tau, uniform)[-1] for tau in TAUS}
    taus = torch.tensor(TAUS, dtype=torch.float64).repeat(100)

    def mixed(
        model: Conditionals, state: ChainState, u: Tensor, _: Tensor, free: Tensor
    ) -> tuple[ChainState, StepInfo]:
        return canonical_step(model, EvaluationShape(rows=16, threads=1), state, u, taus, free)

    together = simulate(model, starting(model, n), 1.0, uniform, advance=mixed)[-1]
    for k, tau in enumerate(TAUS):
        assert torch.equal(together[k :: len(TAUS)], alone[tau][k :: len(TAUS)])


# -- each of these tests can fail ---------------------------------------------------------------------------------


def odds(model: Conditionals, state: ChainState, u: Tensor, tau: Tensor, free: Tensor) -> tuple[ChainState, StepInfo]:
    """15 % more odds for token 2."""

    class Tilted:
        vocab_size, allowed = model.vocab_size, model.allowed

        def __call__(self, states: Tensor, positions: Tensor) -> Tensor:
            return model(states, positions) + np.log(1.15) * (torch.arange(model.vocab_size) == 2)

    return step(Tilted(), state, u, tau, free)


def hot(model: Conditionals, state: ChainState, u: Tensor, tau: Tensor, free: Tensor) -> tuple[ChainState, StepInfo]:
    """A temperature 15 % too high."""
    return step(model, state, u, tau * 1.15, free)


def favourite(
    model: Conditionals, state: ChainState, u: Tensor, tau: Tensor, free: Tensor
) -> tuple[ChainState, StepInfo]:
    """Early positions are picked a little more often."""
    return step(model, state, torch.stack((u[:, 0] ** 1.15, u[:, 1]), dim=1), tau, free)


def sweep(model: Conditionals, state: ChainState, u: Tensor, tau: Tensor, free: Tensor) -> tuple[ChainState, StepInfo]:
    """Systematic instead of random scan."""
    return resample(model, state, free[state.steps % len(free)], u[:, 1], tau)


def reuse(model: Conditionals, state: ChainState, u: Tensor, tau: Tensor, free: Tensor) -> tuple[ChainState, StepInfo]:
    """One uniform for position and token."""
    return step(model, state, u[:, :1].expand(-1, 2), tau, free)


def stale(model: Conditionals, state: ChainState, u: Tensor, tau: Tensor, free: Tensor) -> tuple[ChainState, StepInfo]:
    """The token at the read position leaks into its conditional, as when the mask is forgotten."""

    class Leaky:
        vocab_size, allowed = model.vocab_size, model.allowed

        def __call__(self, states: Tensor, positions: Tensor) -> Tensor:
            own = states.gather(1, positions[:, None])
            return model(states, positions) + 0.15 * (torch.arange(model.vocab_size) == own)

    return step(Leaky(), state, u, tau, free)


def unlock(model: Conditionals, state: ChainState, u: Tensor, tau: Tensor, free: Tensor) -> tuple[ChainState, StepInfo]:
    """Locks are ignored."""
    return step(model, state, u, tau, torch.arange(state.tokens.shape[1]))


@pytest.mark.parametrize("wrong", [odds, hot, favourite, sweep, reuse, stale], ids=lambda f: f.__name__)
def test_a_wrong_kernel_is_rejected(wrong: Step) -> None:
    model, n = MODELS["conditional"]
    uniform = window(46)
    with pytest.raises(AssertionError, match="declared false-fail rate"):
        compare(model, starting(model, n), 1.0, uniform, advance=wrong)
    compare(model, starting(model, n), 1.0, uniform)  # the right one passes on the same numbers


def test_a_kernel_that_ignores_locks_is_caught() -> None:
    model, n = MODELS["conditional"]
    with pytest.raises(ValueError, match="outside this state space"):
        compare(model, starting(model, n), 1.0, window(46), [0, 2], advance=unlock)


def test_a_wrong_argmax_at_tau_zero_is_rejected() -> None:
    """On ties the lowest id; a kernel that takes the highest one passes nowhere."""
    model = JointTable(torch.zeros(3, 3, dtype=torch.float64))
    uniform = window(46)
    compare(model, [1, 2], 0.0, uniform)

    def highest(
        model: Conditionals, state: ChainState, u: Tensor, tau: Tensor, free: Tensor
    ) -> tuple[ChainState, StepInfo]:
        class Reversed:
            vocab_size, allowed = model.vocab_size, model.allowed

            def __call__(self, states: Tensor, positions: Tensor) -> Tensor:
                return model(states, positions) + 1e-9 * torch.arange(model.vocab_size)

        return step(Reversed(), state, u, tau, free)

    with pytest.raises(AssertionError, match="declared false-fail rate"):
        compare(model, [1, 2], 0.0, uniform, advance=highest)


def test_the_parts_of_the_kernel_are_what_the_oracle_says() -> None:
    """Not statistics: the kernel's conditional equals the oracle's to rounding, and its CDF is read in id order."""
    model, n = MODELS["conditional-barred"]
    states = StateSpace.full(model, n).states()
    logits = model(states, torch.ones(len(states), dtype=torch.int64))
    for tau in TAUS:
        taus = torch.full((len(states),), tau, dtype=torch.float64)
        ours = log_conditional(logits, taus).exp().numpy()
        assert np.allclose(ours, conditional_law(logits.numpy(), tau), rtol=1e-13, atol=0)
    law = torch.tensor([[0.25, 0.0, 0.5, 0.25]], dtype=torch.float64).log().expand(4, -1)
    found = inverse_cdf(law, torch.tensor([0.1, 0.3, 0.7, 0.8], dtype=torch.float64), mask(1, 0, 1, 1))
    assert found.tolist() == [0, 2, 2, 3]
