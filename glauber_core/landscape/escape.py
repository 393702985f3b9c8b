"""The escape experiment: chains released in a trap at several temperatures, and what the bounds of MATH 4 say."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float64

from glauber_core.errors import UserError
from glauber_core.profile import profile
from glauber_core.rejection_free import Always, follow
from glauber_core.shape import EvaluationShape, shape_for
from glauber_core.temperature import check_tau
from glauber_core.types import Conditionals


class Escape(NamedTuple):
    """What happened at one temperature.

    Attributes:
        tau: the temperature.
        steps: K whole numbers, exact: when each chain had left, or the horizon.
        left: K flags: False where the horizon came first (censored).
        log_exit: log q of the trap, nats: exact for leaving the state itself.
        log_sum: log of the sum bound on q, (1/n) sum_i sum_{v != x_i} exp(-(l_i(x_i) - l_i(v)) / tau), nats.
        log_margin: log of the uniform-margin bound, (|V| - 1) exp(-gamma / tau); NaN unless gamma > 0.
        radius: Hamming distance from the trap beyond which a chain has left.
    """

    tau: float
    steps: tuple[int, ...]
    left: tuple[bool, ...]
    log_exit: float
    log_sum: float
    log_margin: float
    radius: int

    @property
    def mean(self) -> float:
        """Mean escape time in steps, an estimate: all time at risk / escapes (exponential law with censoring).

        inf if no chain left.
        """
        escapes = sum(self.left)
        return math.inf if escapes == 0 else sum(self.steps) / escapes

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Interval of the mean in steps, by the chi-square law of the time at risk of exponential waits.

        Epstein & Sobel, "Life testing", J. Amer. Stat. Assoc. 48 (1953), as usual applied to time censoring with
        2 r + 2 degrees of freedom at the lower end. The upper end is inf if no chain left.
        """
        from scipy.stats import chi2

        total, r = float(sum(self.steps)), sum(self.left)
        low = 2 * total / float(chi2.ppf(0.5 + level / 2, 2 * r + 2))
        high = math.inf if r == 0 else 2 * total / float(chi2.ppf(0.5 - level / 2, 2 * r))
        return low, high


def escape(
    conditionals: Conditionals,
    trap: Sequence[int],
    taus: Sequence[float],
    chains: int = 8,
    horizon: int = 10**6,
    radius: int = 0,
    seed: int = 0,
    locked: Sequence[int] = (),
    shape: EvaluationShape | None = None,
    progress: Callable[[float], None] = lambda share: None,
) -> list[Escape]:
    """Release ``chains`` rejection-free chains in a state at each temperature (MATH sections 4 and 5).

    Args:
        conditionals: the model.
        trap: token ids of the state.
        taus: temperatures, >= 0.
        chains: K >= 1 at each temperature, on streams of their own.
        horizon: steps after which a chain that is still there is given up.
        radius: a chain has left once its Hamming distance from the trap exceeds this; 0: with its first change.
        seed: of the streams; chain k of temperature j has the id j K + k.
        locked: positions that never change.
        shape: canonical evaluation shape; the default for one state if None.
        progress: told the share done; may raise to end the experiment.

    Raises:
        UserError: a bad temperature, number of chains, horizon or radius, or a token outside V.
    """
    n = len(trap)
    if not 1 <= chains <= 10_000 or horizon < 1 or not 0 <= radius < n:
        raise UserError("An escape needs at least one chain, one step, and a distance below the number of words.")
    state = torch.tensor([int(t) for t in trap])
    if not bool(conditionals.allowed[state].all()):
        raise UserError("This sentence holds a word that is never sampled; it cannot be a trap.")
    free = torch.tensor([i for i in range(n) if i not in set(locked)], dtype=torch.int64)
    shape = shape or shape_for(conditionals, 1)
    size = max(1, shape.states)  # chains that are read together

    def outside(tokens: torch.Tensor) -> bool:
        return int((tokens != state).sum()) > radius

    found = []
    for j, tau in enumerate(check_tau(t) for t in taus):
        steps: list[int] = []
        left: list[bool] = []
        for first in range(0, chains, size):
            progress((j * chains + first) / (len(taus) * chains))
            ids = [j * chains + k for k in range(first, min(first + size, chains))]
            rows = state.expand(len(ids), -1)
            rules = [Always() for _ in ids]
            jumps = follow(conditionals, rows, tau, horizon, None, seed, ids, locked, shape, rules, outside)
            steps += [path.steps for path in jumps.paths]
            left += [path.end == "stopped" for path in jumps.paths]
        log_sum, log_margin = bounds(conditionals, state, tau, free)
        log_exit = profile(conditionals, state, tau, free).log_exit
        found.append(Escape(tau, tuple(steps), tuple(left), log_exit, log_sum, log_margin, radius))
    progress(1.0)
    return found


def bounds(conditionals: Conditionals, state: torch.Tensor, tau: float, free: torch.Tensor) -> tuple[float, float]:
    """Logs of the two upper bounds on the exit rate of a state (MATH section 4), in nats.

    Args:
        conditionals: the model.
        state: int64 [n].
        tau: temperature, >= 0.
        free: int64 [m], free positions, m >= 1.

    Returns:
        the sum bound, and the uniform-margin bound (NaN unless every margin is positive); -inf at tau = 0 in a perfect
        trap.
    """
    logits = conditionals(state.expand(len(free), -1), free).double().cpu()
    own = state[free][:, None]
    gaps = logits.gather(1, own) - logits  # l_i(x_i) - l_i(v), inf outside V
    others = gaps.scatter(1, own, torch.inf)
    gamma = float(others.min())
    if tau == 0:
        return (-math.inf, -math.inf) if gamma > 0 else (math.inf, math.nan)
    log_sum = float(torch.logsumexp(-others.flatten() / tau, dim=0)) - math.log(len(free))
    size = int(conditionals.allowed.sum()) - 1
    return log_sum, (math.log(size) - gamma / tau if gamma > 0 and size > 0 else math.nan)


def curve(found: Sequence[Escape]) -> dict[str, Float64[np.ndarray, " T"]]:
    """Columns for a plot of log10 steps against 1/tau, float64 [T] each, temperatures above 0 in rising 1/tau.

    ``inverse_tau``; ``mean``, ``low`` and ``high`` (simulated); ``exact`` (1/q); ``sum_bound`` and ``margin_bound``
    (lower bounds on the mean time to leave the state; -inf or NaN where they say nothing).
    """
    rows = sorted((e for e in found if e.tau > 0), key=lambda e: 1 / e.tau)
    ten = math.log(10)

    def log10(value: float) -> float:
        return math.inf if math.isinf(value) else math.log10(value)

    columns = {
        "inverse_tau": [1 / e.tau for e in rows],
        "mean": [log10(e.mean) for e in rows],
        "low": [log10(e.interval()[0]) for e in rows],
        "high": [log10(e.interval()[1]) for e in rows],
        "exact": [-e.log_exit / ten for e in rows],
        "sum_bound": [max(0.0, -e.log_sum / ten) for e in rows],
        "margin_bound": [-e.log_margin / ten for e in rows],
    }
    return {name: np.array(values, dtype=np.float64) for name, values in columns.items()}
