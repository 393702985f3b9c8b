"""Run chains change by change: the law of the plain chain, at a cost that does not grow with the waiting time."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float64, Int64
from torch import Tensor

from glauber_core.errors import UserError
from glauber_core.kernels import ChainState, StepInfo, init
from glauber_core.shape import EvaluationShape, canonical_step, groups, shape_for, threads
from glauber_core.streams import UniformStream, check_seed, wait_uniforms
from glauber_core.temperature import check_tau
from glauber_core.types import Conditionals
from glauber_core.waiting import FOREVER, Departure, dwell, leave


@runtime_checkable
class Rule(Protocol):
    """How one chain moves next, decided by what it has already seen.

    A rule that looked at the draw it is about to make would change the law.
    """

    @property
    def waiting(self) -> bool:
        """True: the next move is rejection-free. False: it is one plain step."""
        ...

    def saw(self, steps: int, changed: bool) -> None:
        """Told after each move: the steps it simulated, and whether the state changed."""
        ...


class Always:
    """Every move is rejection-free."""

    waiting = True

    def saw(self, steps: int, changed: bool) -> None:
        pass


class Path(NamedTuple):
    """The changes of one chain, and how it was held between them.

    Attributes:
        position, old, new: int64 [K].
        log_prob: float64 [K], log p_i^tau(new | x_-i), nats.
        dwell: K whole numbers >= 1: steps the state before the change was held, the changing step included.
        log_exit: float64 [K], log q of that state, nats; NaN where the change came by a plain step.
        held: steps, >= 0, that the last state has been held so far: its wait is censored.
        held_log_exit: log q of that state; NaN where it was not computed.
        end: ``horizon``, ``changes`` (the number asked for), ``absorbed`` (q = 0: it is never left) or ``stopped``.
        reads: whole states read, m rows each; the other moves were plain steps of one row.
    """

    position: Int64[np.ndarray, " K"]
    old: Int64[np.ndarray, " K"]
    new: Int64[np.ndarray, " K"]
    log_prob: Float64[np.ndarray, " K"]
    dwell: tuple[int, ...]
    log_exit: Float64[np.ndarray, " K"]
    held: int
    held_log_exit: float
    end: str
    reads: int

    @property
    def steps(self) -> int:
        """Simulated steps, exact."""
        return sum(self.dwell) + self.held


class Jumps(NamedTuple):
    """C chains, change by change.

    Attributes:
        start, final: int64 [C, n]; ``final`` is what is held at the horizon.
        paths: one a chain.
        shape: the evaluation shape the paths are reproducible at.
    """

    start: Int64[Tensor, "C n"]
    final: Int64[Tensor, "C n"]
    paths: list[Path]
    shape: EvaluationShape


def canonical_leave(
    conditionals: Conditionals,
    shape: EvaluationShape,
    tokens: Int64[Tensor, "C n"],
    uniform: Float64[Tensor, "C 2"],
    tau: Float64[Tensor, " C"],
    free: Int64[Tensor, " m"],
) -> Departure:
    """``waiting.leave`` of C states, exactly ``shape.states`` of them (0: one) in a call; arguments as there."""
    parts = []
    with threads(shape.threads):
        for rows, real in groups(len(tokens), max(1, shape.states)):
            after, log_exit, info = leave(conditionals, tokens[rows], uniform[rows], tau[rows], free)
            parts.append((after[:real], log_exit[:real], *(x[:real] for x in info)))
    after, log_exit, *change = (torch.cat(column) for column in zip(*parts, strict=True))
    return Departure(after, log_exit, StepInfo(*change))


def run_rejection_free(
    conditionals: Conditionals,
    start: Int64[Tensor, "C n"],
    tau: float | Sequence[float],
    horizon: int | None = None,
    changes: int | None = None,
    seed: int = 0,
    chains: Sequence[int] | None = None,
    locked: Sequence[int] = (),
    shape: EvaluationShape | None = None,
) -> Jumps:
    """Random-scan chains without their waiting (MATH section 5), each on its own stream ``streams.wait_uniforms``.

    Args:
        conditionals: the model.
        start: int64 [C, n], one sentence a chain.
        tau: one temperature, or one for each chain.
        horizon: simulated steps, at most ``waiting.FOREVER``; each chain stops exactly there, its last wait cut.
        changes: each chain stops with this change, if the horizon does not come first.
        seed: with the chain ids, the key of the streams.
        chains: the C chain ids; 0 .. C-1 if None.
        locked: positions that never change, the same for all chains.
        shape: canonical evaluation shape; ``shape_for`` the number of chains if None.

    Raises:
        UserError: neither limit, a negative one, bad temperature or seed, no free position, or lengths that do not
            agree.
    """
    rules = [Always() for _ in range(len(start))]
    return follow(conditionals, start, tau, horizon, changes, seed, chains, locked, shape, rules)


@dataclass
class _Chain:
    """One chain on its way."""

    rule: Rule
    steps: UniformStream
    waits: UniformStream
    rows: list[tuple[float, ...]] = field(default_factory=list)
    dwell: list[int] = field(default_factory=list)
    time: int = 0
    held: int = 0
    plain: int = 0
    reads: int = 0
    log_exit: float = math.nan
    end: str = ""

    def wait(self, steps: int, change: tuple[float, ...] | None = None) -> None:
        """Let ``steps`` steps pass; the last of them makes the change, if there is one."""
        self.time += steps
        self.held += steps
        if change is not None:
            self.rows.append((*change, self.log_exit))
            self.dwell.append(self.held)
            self.held, self.log_exit = 0, math.nan

    def path(self) -> Path:
        table = np.array(self.rows, dtype=np.float64).reshape(-1, 5)
        position, old, new = table[:, :3].T.astype(np.int64)
        return Path(
            *(position, old, new, table[:, 3].copy(), tuple(self.dwell), table[:, 4].copy()),
            *(self.held, self.log_exit, self.end, self.reads),
        )


def follow(
    conditionals: Conditionals,
    start: Int64[Tensor, "C n"],
    tau: float | Sequence[float],
    horizon: int | None,
    changes: int | None,
    seed: int,
    chains: Sequence[int] | None,
    locked: Sequence[int],
    shape: EvaluationShape | None,
    rules: Sequence[Rule],
    stop: Callable[[Int64[Tensor, " n"]], bool] = lambda tokens: False,
) -> Jumps:
    """The loop behind ``run_rejection_free`` and ``hybrid.run_hybrid``; arguments as there, and a rule a chain.

    A chain whose new state makes ``stop`` true ends there, as ``stopped``.

    Plain steps use ``streams.uniforms`` by their own count, rejection-free moves ``streams.wait_uniforms`` by theirs;
    a draw whose wait was cut is never used again.
    """
    count, n = start.shape
    ids = list(range(count)) if chains is None else [check_seed(c) for c in chains]
    taus = [check_tau(t) for t in (tau if isinstance(tau, Sequence) else [tau] * count)]
    if len(ids) != count or len(taus) != count:
        raise UserError(f"There are {count} chains; give one chain id and one temperature for each.")
    if count == 0:
        raise UserError("There is no chain to run.")
    if horizon is None and changes is None:
        raise UserError("Say how far to go: a horizon in steps, or a number of changes.")
    if (horizon or 0) < 0 or (changes or 0) < 0:
        raise UserError("The number of steps or changes cannot be negative.")
    free = torch.tensor([i for i in range(n) if i not in set(locked)], dtype=torch.int64)
    shape = shape or shape_for(conditionals, count)
    last = FOREVER if horizon is None else min(horizon, FOREVER)
    tau_rows, tokens = torch.tensor(taus, dtype=torch.float64), init(start).tokens
    key = check_seed(seed)
    walks = [
        _Chain(rule, UniformStream(key, c), UniformStream(key, c, 32, wait_uniforms))
        for rule, c in zip(rules, ids, strict=True)
    ]

    def going() -> list[int]:
        for walk in walks:
            if not walk.end and changes is not None and len(walk.dwell) >= changes:
                walk.end = "changes"
            elif not walk.end and walk.time >= last:
                walk.end = "horizon"
        return [k for k, walk in enumerate(walks) if not walk.end]

    while moving := going():
        plain = [k for k in moving if not walks[k].rule.waiting]
        waiting = [k for k in moving if walks[k].rule.waiting]
        if plain:
            uniform = torch.from_numpy(np.stack([walks[k].steps.at(walks[k].plain) for k in plain]))
            before = ChainState(tokens[plain], torch.zeros(len(plain), dtype=torch.int64))
            state, info = canonical_step(conditionals, shape, before, uniform, tau_rows[plain], free)
            tokens[plain] = state.tokens
            for k, change in zip(plain, _rows(info), strict=True):
                changed = change[2] != change[1]
                walks[k].plain += 1
                walks[k].log_exit = math.nan
                walks[k].wait(1, change if changed else None)
                walks[k].rule.saw(1, changed)
                if changed and stop(tokens[k]):
                    walks[k].end = "stopped"
        if waiting:
            draws = np.stack([walks[k].waits.at(walks[k].reads) for k in waiting])
            uniform = torch.from_numpy(draws[:, 1:].copy())
            after, log_exits, info = canonical_leave(
                conditionals, shape, tokens[waiting], uniform, tau_rows[waiting], free
            )
            for row, (k, log_exit, change) in enumerate(zip(waiting, log_exits.tolist(), _rows(info), strict=True)):
                walk = walks[k]
                walk.reads += 1
                walk.log_exit = log_exit
                steps = dwell(draws[row, 0], log_exit)
                if steps <= last - walk.time:
                    tokens[k] = after[row]
                    walk.wait(steps, change)
                    walk.rule.saw(steps, True)
                    if stop(tokens[k]):
                        walk.end = "stopped"
                else:
                    walk.end = "absorbed" if log_exit == -math.inf else "horizon"
                    if log_exit > -math.inf or horizon is not None:
                        walk.wait(last - walk.time)
    return Jumps(start, tokens, [walk.path() for walk in walks], shape)


def _rows(info: StepInfo) -> list[tuple[float, ...]]:
    """Position, old, new and log_prob of each chain."""
    return list(zip(*(column.tolist() for column in info[:4]), strict=True))
