"""A chain one can put one's hands on: play, resample, edit, lock, look at any step, branch."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Int64
from torch import Tensor

from glauber_core.errors import UserError
from glauber_core.kernels import ChainState, StepInfo
from glauber_core.profile import WINDOW_SWEEPS, StateProfile, Verdict, profile, verdict
from glauber_core.record import Entry, RunHeader, RunRecord
from glauber_core.rejection_free import canonical_leave
from glauber_core.shape import EvaluationShape, canonical_step, shape_for, versions
from glauber_core.streams import UniformStream, check_seed, uniforms, wait_uniforms
from glauber_core.temperature import Schedule, check_tau
from glauber_core.types import Conditionals
from glauber_core.view import ConditionalView, view
from glauber_core.waiting import FOREVER, dwell

_BY_HAND = 2**62  # counters from here on serve resamplings asked for by hand, apart from the chain's own steps


class Skipped(NamedTuple):
    """What ``Chain.skip`` did.

    Attributes:
        entries: the new entries.
        steps: simulated steps that passed, exact.
        end: ``changes`` (all that were asked for), ``horizon``, or ``absorbed`` (q = 0: the state is never left).
    """

    entries: list[Entry]
    steps: int
    end: str


class Chain:
    """One Glauber chain with its record. Not thread-safe: it belongs to one session.

    Args:
        conditionals: the model.
        start: token ids of step 0.
        seed, chain: key of the random stream (``streams.uniforms``).
        tau: temperature, >= 0.
        schedule: programme of the temperature.
        locked: positions that never change.
        shape: evaluation shape; the default for one chain if None.
        start_text, parent: for the record.

    Raises:
        UserError: no token, ids outside the vocabulary, or a bad seed or temperature.
    """

    def __init__(
        self,
        conditionals: Conditionals,
        start: Sequence[int],
        seed: int,
        tau: float,
        *,
        chain: int = 0,
        schedule: Schedule | None = None,
        locked: Iterable[int] = (),
        shape: EvaluationShape | None = None,
        start_text: str = "",
        parent: dict[str, int] | None = None,
    ) -> None:
        if len(start) == 0:
            raise UserError("A chain needs at least one word.")
        if min(start) < 0 or max(start) >= conditionals.vocab_size:
            raise UserError("The sentence holds a token that this model does not have.")
        self.conditionals = conditionals
        self.shape = shape or shape_for(conditionals, 1)
        self.header = RunHeader(
            model=str(getattr(conditionals, "name", type(conditionals).__name__)),
            model_hash=str(getattr(conditionals, "model_hash", "")),
            start=tuple(int(i) for i in start),
            start_text=start_text.encode("utf-8", "replace").decode("utf-8"),
            seed=check_seed(seed),
            chain=check_seed(chain),
            shape=self.shape.as_dict(),
            versions=versions(),
            parent=parent,
        )
        self.record = RunRecord(self.header)
        self.tau, self.schedule = check_tau(tau), schedule or Schedule()
        self._sweeps, self._since = 0.0, 0  # of the schedule: sweeps before the locks last changed, steps since
        self.locked = frozenset(int(p) for p in locked)
        self._state = ChainState(torch.tensor([self.header.start]), torch.zeros(1, dtype=torch.int64))
        self._stream = UniformStream(self.header.seed, self.header.chain)
        self._waits = UniformStream(self.header.seed, self.header.chain, draw=wait_uniforms)
        self._own_steps = self._own_waits = self._by_hand = 0
        self.record.event("settings", tau=self.tau, schedule=self.schedule.kind, sweeps=self.schedule.sweeps)
        for position in self.locked:
            self._check(position)
        if self.locked:
            self.record.event("locks", positions=sorted(self.locked))

    # -- what it is now -------------------------------------------------------------------------------------------

    @property
    def n(self) -> int:
        """Number of positions."""
        return len(self.header.start)

    @property
    def steps(self) -> int:
        """Entries of the record so far: the chain's own steps and changes, and what was done by hand.

        Simulated steps, skipped ones included, are counted by ``record.elapsed``.
        """
        return len(self.record)

    @property
    def tokens(self) -> list[int]:
        """Token ids of the present state."""
        return [int(i) for i in self._state.tokens[0]]

    @property
    def free(self) -> Int64[Tensor, " m"]:
        """int64 [m], the positions that may be resampled."""
        return torch.tensor([i for i in range(self.n) if i not in self.locked], dtype=torch.int64)

    @property
    def sweep_length(self) -> int:
        """Steps per sweep: the number of free positions, at least 1."""
        return max(1, self.n - len(self.locked))

    @property
    def tau_now(self) -> float:
        """Temperature of the next computed step."""
        return self.schedule.tau(self.tau, self._programme)

    @property
    def still(self) -> float:
        """Steps from now on during which the schedule leaves the temperature as it is; below 1 if it moves at once."""
        return self.schedule.still(self._programme) * self.sweep_length

    @property
    def _programme(self) -> float:
        """Sweeps since the schedule began."""
        return self._sweeps + self._since / self.sweep_length

    # -- settings -------------------------------------------------------------------------------------------------

    def set_tau(self, tau: float) -> None:
        """Temperature (the schedule's target) from the next computed step on. Raises UserError if unusable."""
        value = check_tau(tau)
        if value != self.tau:
            self.tau = value
            self.record.event("settings", tau=value, schedule=self.schedule.kind, sweeps=self.schedule.sweeps)

    def set_schedule(self, schedule: Schedule) -> None:
        """Begin a temperature programme at the next computed step."""
        if schedule != self.schedule:
            self.schedule, self._sweeps, self._since = schedule, 0.0, 0
            self.record.event("settings", tau=self.tau, schedule=schedule.kind, sweeps=schedule.sweeps)

    def set_locked(self, positions: Iterable[int]) -> None:
        """Replace the set of locked positions. Raises UserError for a position that does not exist."""
        wanted = frozenset(int(p) for p in positions)
        for position in wanted:
            self._check(position)
        if wanted != self.locked:
            self._sweeps, self._since = self._programme, 0
            self.locked = wanted
            self.record.event("locks", positions=sorted(wanted))

    # -- moving ---------------------------------------------------------------------------------------------------

    def advance(self, steps: int) -> list[Entry]:
        """Do ``steps`` random-scan steps; the new entries. Raises UserError if every word is locked."""
        free = self.free
        if len(free) == 0:
            raise UserError("Every word is locked: unlock at least one to go on.")
        done = []
        for _ in range(steps):
            tau = self.tau_now
            uniform = torch.from_numpy(self._stream.at(self._own_steps).copy())[None]
            self._state, info = canonical_step(
                self.conditionals, self.shape, self._state, uniform, torch.tensor([tau], dtype=torch.float64), free
            )
            self._own_steps += 1
            self._since += 1
            done.append(self._write("step", info, tau))
        return done

    def skip(self, changes: int = 1, horizon: int | None = None) -> Skipped:
        """Go on by ``changes`` changes without simulating the steps between them (``waiting.leave``).

        The law is that of ``advance``; the draws are others. A wait that the horizon cuts is kept in the record
        (``RunRecord.hold``). Where the schedule moves the temperature at every step, plain steps are done instead.

        Args:
            changes: >= 0; plain steps that changed something count.
            horizon: simulated steps from now after which to stop exactly, >= 0; none if None, but no run lasts longer
                than ``waiting.FOREVER``.

        Raises:
            UserError: every word is locked, or a negative number.
        """
        if len(self.free) == 0:
            raise UserError("Every word is locked: unlock at least one to go on.")
        if changes < 0 or (horizon or 0) < 0:
            raise UserError("The number of steps or changes cannot be negative.")
        first, begin = self.steps, self.record.elapsed
        last = FOREVER if horizon is None else min(begin + horizon, FOREVER)
        found, end = 0, "changes"
        while found < changes and end == "changes":
            left = last - self.record.elapsed
            still = self.still
            if left <= 0:
                end = "horizon"
            elif still < 1:
                entry = self.advance(1)[0]
                found += entry.new != entry.old
            else:
                limit = left if still >= left else int(still)
                changed, log_exit = self._leave(limit, keep=horizon is not None or limit < left)
                found += changed
                if not changed and limit == left:
                    end = "absorbed" if log_exit == -math.inf else "horizon"
        return Skipped(self.record.entries[first:], self.record.elapsed - begin, end)

    def _leave(self, limit: int, keep: bool) -> tuple[bool, float]:
        """One rejection-free move of at most ``limit`` steps: whether a change came, and log q.

        A state that is never left is held for ``limit`` steps only if ``keep``.
        """
        draw, tau = self._waits.at(self._own_waits), self.tau_now
        tokens, log_exits, info = canonical_leave(
            self.conditionals,
            self.shape,
            self._state.tokens,
            torch.from_numpy(draw[None, 1:].copy()),
            torch.tensor([tau], dtype=torch.float64),
            self.free,
        )
        self._own_waits += 1  # not before: a call that is interrupted must find the same draw again
        log_exit = float(log_exits[0])
        steps = dwell(float(draw[0]), log_exit)
        changed = steps <= limit
        if changed:
            self._state = ChainState(tokens, self._state.steps)
            self._write("skip", info, tau, steps, log_exit)
        elif keep or log_exit > -math.inf:
            steps = limit
            self.record.hold(steps, log_exit, tau)
        else:
            steps = 0
        self._since += steps
        return changed, log_exit

    def resample(self, position: int) -> Entry:
        """Resample one position now, from random numbers of its own: the chain's later draws stay what they were.

        Raises:
            UserError: the position is locked or does not exist.
        """
        self._check(position)
        if position in self.locked:
            raise UserError("This word is locked: unlock it first.")
        drawn = uniforms(self.header.seed, self.header.chain, _BY_HAND + self._by_hand, 1)
        tau = self.tau_now
        only = torch.tensor([position])
        self._state, info = canonical_step(
            self.conditionals,
            self.shape,
            self._state,
            torch.from_numpy(drawn.copy()),
            torch.tensor([tau], dtype=torch.float64),
            only,
        )
        self._by_hand += 1
        return self._write("resample", info, tau)

    def edit(self, position: int, token: int) -> Entry:
        """Put a token at a position by hand. Raises UserError: locked, no such position, or a token outside V."""
        self._check(position)
        if position in self.locked:
            raise UserError("This word is locked: unlock it first.")
        if not 0 <= token < self.conditionals.vocab_size or not bool(self.conditionals.allowed[token]):
            raise UserError("This token cannot be placed in a sentence.")
        tokens = self._state.tokens.clone()
        entry = Entry("edit", position, int(tokens[0, position]), token, math.nan, self.tau_now)
        tokens[0, position] = token
        self._state = ChainState(tokens, self._state.steps)
        self.record.append(entry)
        return entry

    def branch(self, step: int, chain: int) -> Chain:
        """A new chain from the state after ``step`` entries, with a stream of its own.

        It takes the present temperature, locks and schedule; the schedule begins anew.

        Args:
            step: 0 .. ``steps``.
            chain: id of the new stream; must differ from this chain's.

        Raises:
            UserError: no such step, or the same stream.
        """
        if not 0 <= step <= self.steps:
            raise UserError(f"There is no step {step} in this run.")
        if chain == self.header.chain:
            raise UserError("A branch needs a random stream of its own.")
        return Chain(
            self.conditionals,
            [int(i) for i in self.record.state_at(step)],
            self.header.seed,
            self.tau,
            chain=chain,
            schedule=self.schedule,
            locked=self.locked,
            shape=self.shape,
            start_text=self.header.start_text,
            parent={"seed": self.header.seed, "chain": self.header.chain, "step": step},
        )

    # -- looking --------------------------------------------------------------------------------------------------

    def conditional(self, position: int, step: int | None = None, top: int = 15) -> ConditionalView:
        """The full conditional at one position, at the chain's tau and at tau = 1.

        Args:
            position: 0-based.
            step: which state to look at; the present one if None.
            top: how many of the most likely tokens to list.

        Raises:
            UserError: no such position or step.
        """
        self._check(position)
        state, tau = self._at(step)
        logits = self.conditionals(torch.from_numpy(state)[None], torch.tensor([position])).cpu()
        return view(logits, int(state[position]), bool(self.conditionals.allowed[state[position]]), tau, top)

    def look(self, step: int | None = None) -> tuple[StateProfile, Verdict]:
        """Whole-state figures of the state after ``step`` entries (default: now), kept in the record with that step."""
        at = self.steps if step is None else step
        free = self.free
        state, tau = self._at(at)
        figures = profile(self.conditionals, torch.from_numpy(state), tau, free)
        found = verdict(figures, len(free), self._recent(at))
        self.record.keep_profile({**figures.summary(at), "trap": found.kind})
        return figures, found

    def _at(self, step: int | None) -> tuple[np.ndarray, float]:
        """State after ``step`` entries and the temperature of the step that follows it."""
        at = self.steps if step is None else step
        if not 0 <= at <= self.steps:
            raise UserError(f"There is no step {at} in this run.")
        return self.record.state_at(at), self.tau_now if at == self.steps else self.record.entries[at].tau

    def _recent(self, step: int) -> np.ndarray | None:
        return self.record.recent(step, WINDOW_SWEEPS * self.sweep_length)

    def _write(self, kind: str, info: StepInfo, tau: float, steps: int = 1, log_exit: float = math.nan) -> Entry:
        entry = Entry(
            kind,
            int(info.position[0]),
            int(info.old[0]),
            int(info.new[0]),
            float(info.log_prob[0]),
            tau,
            float(info.entropy[0]),
            float(info.margin[0]),
            steps,
            log_exit,
        )
        self.record.append(entry)
        return entry

    def _check(self, position: int) -> None:
        if not 0 <= position < self.n:
            raise UserError(f"There is no position {position + 1} in this sentence of {self.n} tokens.")
