"""The traps of a run: which states held the chain, why, for how long, and for how long they should have (MATH 4)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float64

from glauber_core.profile import HOLD, WINDOW_SWEEPS, StateProfile, confined, profile, verdict
from glauber_core.record import RunRecord
from glauber_core.types import Conditionals


class Trap(NamedTuple):
    """One stay in a trap.

    Attributes:
        kind: ``perfect`` or ``approximate``.
        reason: ``margins``, ``holding`` or ``window`` (``profile.Verdict``).
        state: token ids; of a window the state that was held longest.
        entry: entries of the record after which it was there.
        entered, left: simulated steps; ``left`` is None if the run ended in it.
        dwell: steps observed, a lower bound if ``left`` is None.
        expected: mean steps until the state changes, 1/q at ``tau``; inf if absorbed.
        holding: h = 1 - q.
        log_exit: log q, nats.
        margin: float64 [n], g_i, nats at tau = 1; NaN at locked positions and where the token lies outside V.
        tau: the temperature the chain had when it entered.
    """

    kind: str
    reason: str
    state: tuple[int, ...]
    entry: int
    entered: int
    left: int | None
    dwell: int
    expected: float
    holding: float
    log_exit: float
    margin: Float64[np.ndarray, " n"]
    tau: float

    @property
    def smallest(self) -> float:
        """min_i g_i over the positions where it is defined, nats."""
        return float(np.nanmin(self.margin))


def scan(
    record: RunRecord,
    conditionals: Conditionals,
    locked: tuple[int, ...] = (),
    least: int = 1,
    hold: float = HOLD,
    progress: Callable[[float], None] = lambda share: None,
) -> list[Trap]:
    """Every stay of a chain in a trap, in order.

    A state is judged at the temperature at which it was entered. Stays in perfect traps and in states with
    h >= ``hold`` are found state by state; a window of ``WINDOW_SWEEPS`` sweeps within Hamming distance max(1, n/8) of
    one state is reported, with its neighbours joined, where such stays fill less than half of it.

    Args:
        record: of the chain.
        conditionals: its model; every distinct state that is judged costs one row for each free position.
        locked: positions that never change.
        least: steps a state must have been held at least once to be judged; 1 judges every visited state. All stays
            in it are then reported, short ones too: leaving them out would lengthen the mean.
        hold: holding probability from which a state counts as an approximate trap.
        progress: told the share of the states that were judged; may raise to end the scan.
    """
    n = len(record.header.start)
    free = torch.tensor([i for i in range(n) if i not in set(locked)], dtype=torch.int64)
    visits = every_visit(record)
    judged: dict[tuple[tuple[int, ...], float], StateProfile] = {}
    found: list[Trap] = []
    count = len(visits)
    held = {v.state for v in visits if (record.elapsed if v.left is None else v.left) - v.entered >= least}
    for k, (state, entry, entered, left, tau) in enumerate(visits):
        progress(k / count)
        now = record.elapsed if left is None else left
        if state not in held:
            continue
        figures = _judge(judged, conditionals, state, tau, free)
        seen = verdict(figures, len(free), None, hold)
        if seen.kind in ("perfect", "approximate"):
            found.append(_trap(seen.kind, seen.reason, state, entry, entered, left, now - entered, figures))
    found += _windows(record, conditionals, free, found, judged)
    progress(1.0)
    return sorted(found, key=lambda t: (t.entered, t.reason == "window"))


class Visit(NamedTuple):
    """A state from when it was entered until it was left (None: never), entries before it, and its temperature."""

    state: tuple[int, ...]
    entry: int
    entered: int
    left: int | None
    tau: float


def every_visit(record: RunRecord) -> list[Visit]:
    """All visits of a chain, none left out: maximal stretches of steps without a change."""
    clock, state = record.clock(), list(record.header.start)
    marks = [(0, tuple(state))]
    for k, entry in enumerate(record.entries[: len(clock) - 1], start=1):
        if entry.new != entry.old:
            state[entry.position] = entry.new
            marks.append((k, tuple(state)))
    taus = _temperatures(record)
    ends = [clock[k] for k, _ in marks[1:]] + [None]
    return [Visit(s, k, clock[k], end, taus(k)) for (k, s), end in zip(marks, ends, strict=True)]


def _temperatures(record: RunRecord) -> Callable[[int], float]:
    """The temperature that came into force after so many entries."""
    settings = [(e["step"], float(e["tau"])) for e in record.events if e["kind"] == "settings"]
    held = {e["step"]: float(e["tau"]) for e in record.events if e["kind"] == "held"}

    def at(entries: int) -> float:
        if entries < len(record.entries):
            return record.entries[entries].tau
        step, tau = settings[-1]
        return held.get(entries, tau if step == entries or not record.entries else record.entries[-1].tau)

    return at


def _judge(
    judged: dict[tuple[tuple[int, ...], float], StateProfile],
    conditionals: Conditionals,
    state: tuple[int, ...],
    tau: float,
    free: torch.Tensor,
) -> StateProfile:
    key = (state, tau)
    if key not in judged:
        judged[key] = profile(conditionals, torch.tensor(state), tau, free)
    return judged[key]


def _trap(
    kind: str,
    reason: str,
    state: tuple[int, ...],
    entry: int,
    entered: int,
    left: int | None,
    dwell: int,
    figures: StateProfile,
) -> Trap:
    return Trap(
        *(kind, reason, state, entry, entered, left, dwell, figures.dwell, figures.holding),
        *(figures.log_exit, figures.margin, figures.tau),
    )


def _windows(
    record: RunRecord,
    conditionals: Conditionals,
    free: torch.Tensor,
    known: list[Trap],
    judged: dict[tuple[tuple[int, ...], float], StateProfile],
) -> list[Trap]:
    """Stretches in which the chain kept close to one state for 20 sweeps or longer, overlapping windows joined."""
    window, radius = WINDOW_SWEEPS * max(1, len(free)), max(1.0, len(free) / 8)
    visits = every_visit(record)
    stretches: list[list[int]] = []  # first and last visit
    first = 0
    for last, visit in enumerate(visits):
        end = record.elapsed if visit.left is None else visit.left
        # The latest visit that was already going on one window before this one's end.
        while first < last and visits[first + 1].entered <= end - window:
            first += 1
        if end - visits[first].entered < window or last - first > window:
            continue
        if confined(np.array([v.state for v in visits[first : last + 1]]), radius):
            if stretches and first <= stretches[-1][1]:
                stretches[-1][1] = last
            else:
                stretches.append([first, last])
    found = []
    for first, last in stretches:
        entered, left = visits[first].entered, visits[last].left
        now = record.elapsed if left is None else left
        time: dict[tuple[int, ...], int] = {}
        for v in visits[first : last + 1]:
            time[v.state] = time.get(v.state, 0) + (record.elapsed if v.left is None else v.left) - v.entered
        filled = sum(max(0, min(t.entered + t.dwell, now) - max(t.entered, entered)) for t in known)
        if 2 * filled >= now - entered:
            continue
        centre = max(time, key=lambda s: time[s])
        tau = visits[last].tau
        figures = _judge(judged, conditionals, centre, tau, free)
        found.append(_trap("approximate", "window", centre, visits[first].entry, entered, left, now - entered, figures))
    return found


class Kept(NamedTuple):
    """A trap of a catalogue: all stays in one state at one temperature.

    Attributes:
        trap: the first stay.
        stays: how many.
        dwell: steps observed, all stays together.
        ended: stays that ended; the mean dwell is dwell / ended, an estimate of the expected one (exponential with
            censoring).
    """

    trap: Trap
    stays: int
    dwell: int
    ended: int

    @property
    def mean(self) -> float:
        """Steps a stay, estimated with the censored ones; inf if none ended."""
        return math.inf if self.ended == 0 else self.dwell / self.ended


def catalogue(traps: list[Trap]) -> list[Kept]:
    """Stays joined by state, temperature and reason, those that held longest first."""
    groups: dict[tuple[tuple[int, ...], float, str], list[Trap]] = {}
    for trap in traps:
        groups.setdefault((trap.state, trap.tau, trap.reason), []).append(trap)
    kept = [
        Kept(stays[0], len(stays), sum(t.dwell for t in stays), sum(t.left is not None for t in stays))
        for stays in groups.values()
    ]
    return sorted(kept, key=lambda k: (-k.dwell, k.trap.entered))
