"""The run record: everything that is shown, exported, replayed or rewound comes from it."""

from __future__ import annotations

import bisect
import csv
import io
import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float64, Int64

from glauber_core.errors import UserError
from glauber_core.streams import MAX_SEED
from glauber_core.waiting import FOREVER

FORMAT, VERSION = "glauber-run", 2
KINDS = ("step", "resample", "edit", "skip")
_OLD_COLUMNS = 8  # of version 1, which had no waits
_KEYFRAME = 256


class Entry(NamedTuple):
    """One change of the record.

    Attributes:
        kind: ``step`` (the chain's own), ``resample`` (asked for by hand), ``edit`` (typed by hand) or ``skip`` (the
            chain's own next change, the steps before it skipped).
        position: 0-based.
        old, new: token ids.
        log_prob: log p_i^tau(new | x_-i), nats; NaN for an edit.
        tau: temperature of this step.
        entropy, margin: of the conditional this step read, nats; NaN for an edit.
        dwell: simulated steps this entry stands for, >= 1: the steps that changed nothing, and the change. 1 unless
            it is a ``skip``.
        log_exit: log q of the state before a ``skip``, nats; NaN otherwise.
    """

    kind: str
    position: int
    old: int
    new: int
    log_prob: float
    tau: float
    entropy: float = math.nan
    margin: float = math.nan
    dwell: int = 1
    log_exit: float = math.nan


@dataclass(frozen=True)
class RunHeader:
    """What was fixed when the run began.

    Attributes:
        model, model_hash: name and SHA-256 of the weights.
        start: token ids of step 0.
        start_text: the same as shown.
        seed, chain: key of the random stream.
        shape: ``EvaluationShape.as_dict()``.
        versions: ``shape.versions()``.
        parent: for a branch, ``{"seed", "chain", "step"}`` of the chain it left, else None.
    """

    model: str
    model_hash: str
    start: tuple[int, ...]
    start_text: str
    seed: int
    chain: int
    shape: dict[str, Any]
    versions: dict[str, str]
    parent: dict[str, int] | None = None


@dataclass
class RunRecord:
    """A header, the entries in order, and stamped events and profiles.

    Attributes:
        header: what was fixed at the start.
        entries: entry k turns the state after k entries into the state after k + 1.
        events: temperature, schedule and lock changes, and ``held`` (``hold``), each with the number of entries before
            it.
        profiles: whole-state figures (``profile.StateProfile.summary``), each with the number of entries before it.
    """

    header: RunHeader
    entries: list[Entry] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    profiles: list[dict[str, Any]] = field(default_factory=list)
    _keyframes: list[np.ndarray] = field(default_factory=list, repr=False)
    _clock: list[int] = field(default_factory=lambda: [0], repr=False)
    _held: int = field(default=0, repr=False)

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def elapsed(self) -> int:
        """Simulated steps so far, exact; what was done by hand counts as one."""
        return self._clock[-1] + self._held

    def append(self, entry: Entry) -> None:
        """Add one entry at the end."""
        if len(self.entries) % _KEYFRAME == 0 and len(self._keyframes) == len(self.entries) // _KEYFRAME:
            self._keyframes.append(self.state_at(len(self.entries)))
        self.entries.append(entry)
        self._clock.append(self.elapsed + entry.dwell)
        self._held = 0

    def hold(self, steps: int, log_exit: float, tau: float) -> None:
        """Note that the present state was held for ``steps`` skipped steps and no change came: a censored wait.

        Args:
            steps: >= 1, added to whatever wait follows.
            log_exit: log q of the state, nats; -inf if it is never left.
            tau: the temperature.
        """
        self.event("held", steps=steps, log_exit=log_exit, tau=tau)
        self._held += steps

    def event(self, kind: str, **values: Any) -> None:
        """Note a change of settings at the present step."""
        self.events.append({"step": len(self), "kind": kind, **values})

    def keep_profile(self, summary: dict[str, Any]) -> None:
        """Keep whole-state figures, in step order; later figures of the same step replace earlier ones."""
        where = bisect.bisect_left(self.profiles, summary["step"], key=lambda p: p["step"])
        same = where < len(self.profiles) and self.profiles[where]["step"] == summary["step"]
        self.profiles[where : where + same] = [summary]

    def state_at(self, step: int) -> Int64[np.ndarray, " n"]:
        """int64 [n]: the state after ``step`` entries. Raises IndexError outside 0 .. len."""
        if not 0 <= step <= len(self):
            raise IndexError(step)
        frame = min(step // _KEYFRAME, len(self._keyframes) - 1)
        first = 0 if frame < 0 else frame * _KEYFRAME
        state = np.array(self.header.start if frame < 0 else self._keyframes[frame], dtype=np.int64)
        for entry in self.entries[first:step]:
            state[entry.position] = entry.new
        return state

    def states(self, first: int, last: int) -> Int64[np.ndarray, "k n"]:
        """int64 [last - first + 1, n]: the states after ``first`` .. ``last`` entries."""
        out = np.repeat(self.state_at(first)[None], last - first + 1, axis=0)
        for k, entry in enumerate(self.entries[first:last], start=1):
            out[k:, entry.position] = entry.new
        return out

    def clock(self) -> list[int]:
        """len + 1 whole numbers, exact: simulated steps done when the states after 0, 1, .. entries were entered."""
        return list(self._clock)

    def recent(self, step: int, window: int) -> Int64[np.ndarray, "k n"] | None:
        """Every state of the ``window`` simulated steps before the state after ``step`` entries, that one included.

        int64 [k, n], k >= 1; None if the run is younger. For the last state the time is now, otherwise when it was
        entered.
        """
        begin = (self.elapsed if step == len(self) else self._clock[step]) - window
        return self.states(bisect.bisect_right(self._clock, begin, hi=step + 1) - 1, step) if begin >= 0 else None

    def sweep_times(self) -> Float64[np.ndarray, " steps"]:
        """float64 [len + 1]: sweeps done after 0, 1, .. entries; an entry counts 1/(free positions at that time).

        Skipped steps do not count: ``simulated_sweeps`` counts them.
        """
        n = len(self.header.start)
        locks = [(e["step"], len(e["positions"])) for e in self.events if e["kind"] == "locks"]
        times = np.arange(len(self) + 1) / n
        for first, locked in locks:
            times[first:] = times[first] + np.arange(len(self) + 1 - first) / max(1, n - locked)
        return times

    def simulated_sweeps(self) -> Float64[np.ndarray, " steps"]:
        """``clock`` in sweeps, float64 [len + 1]: a simulated step counts 1/(free positions at that time)."""
        n = len(self.header.start)
        clock = np.array(self._clock, dtype=np.float64)
        times, held, at = clock / n, 0, -1
        since, sweeps, free = 0, 0.0, n
        for event in self.events:
            held, at = (held if event["step"] == at else 0), event["step"]
            if event["kind"] == "held":
                held += event["steps"]
            elif event["kind"] == "locks":
                now = self._clock[at] + held
                sweeps, since, free = sweeps + (now - since) / free, now, max(1, n - len(event["positions"]))
                times[at + 1 :] = sweeps + (clock[at + 1 :] - float(since)) / free
        return times

    def last_changes(self, step: int) -> list[int | None]:
        """For each position, the entry count at which its token last changed (None: never before ``step``)."""
        found: list[int | None] = [None] * len(self.header.start)
        for k, entry in enumerate(self.entries[:step], start=1):
            if entry.new != entry.old:
                found[entry.position] = k
        return found

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: NaN becomes None."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "header": asdict(self.header),
            "columns": ["step", *Entry._fields],
            "steps": [[k, *map(_plain, entry)] for k, entry in enumerate(self.entries, start=1)],
            "events": [{key: _plain(value) for key, value in e.items()} for e in self.events],
            "profiles": [{key: _plain(value) for key, value in p.items()} for p in self.profiles],
        }

    def to_json(self) -> str:
        """The record as one JSON document, UTF-8 text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    def to_csv(self, text: Callable[[int], str]) -> str:
        """The entries as CSV with a header row; ``text`` gives a token id's characters.

        A censored wait is a row of kind ``held`` with its temperature, length and log exit rate, at its place.
        """
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        names = ["step", "kind", "position", "old_id", "old", "new_id", "new", "changed", "log_prob_nats", "tau"]
        writer.writerow([*names, "entropy_nats", "margin_nats", "dwell_steps", "log_exit_nats"])
        held: dict[int, list[dict[str, Any]]] = {}
        for event in self.events:
            if event["kind"] == "held":
                held.setdefault(event["step"], []).append(event)

        def write_held(step: int) -> None:
            for wait in held.get(step, ()):
                numbers = [*_cells(wait["tau"]), "", "", wait["steps"], *_cells(wait["log_exit"])]
                writer.writerow(["", "held", *[""] * 7, *numbers])

        for k, e in enumerate(self.entries, start=1):
            write_held(k - 1)
            numbers = _cells(e.log_prob, e.tau, e.entropy, e.margin)
            words = [e.old, text(e.old), e.new, text(e.new), int(e.old != e.new)]
            writer.writerow([k, e.kind, e.position, *words, *numbers, e.dwell, *_cells(e.log_exit)])
        write_held(len(self))
        return out.getvalue()

    @classmethod
    def from_dict(cls, data: Any) -> RunRecord:
        """The inverse of ``to_dict``; every field is checked.

        Raises:
            UserError: not a run record of this version, or one whose steps do not follow from each other.
        """
        try:
            if data["format"] != FORMAT or data["version"] not in (1, VERSION):
                raise UserError("This file is not a run of this version of Glauber Explorer.")
            record = cls(_header(data["header"]))
            events = [_event(event, len(data["steps"])) for event in data["events"]]
            held: dict[int, int] = {}
            for event in events:
                if event["kind"] == "held":
                    held[event["step"]] = held.get(event["step"], 0) + event["steps"]
            state = list(record.header.start)
            for k, row in enumerate(data["steps"], start=1):
                number, *rest = row
                entry = _entry(rest, old=data["version"] == 1)
                if number != k or not 0 <= entry.position < len(state):
                    raise UserError("This run file is damaged: its steps are out of order.")
                if state[entry.position] != entry.old:
                    raise UserError(f"This run file is damaged: step {k} does not follow from the one before.")
                state[entry.position] = entry.new
                record._held = held.get(k - 1, 0)
                record.append(entry)
            record._held = held.get(len(record), 0)
            if record.elapsed > FOREVER + len(record):
                raise UserError("This run file is damaged: it lasts longer than any run.")
            record.events = events
            for figures in data["profiles"]:
                numbers = {name: _real(figures[name]) for name in ("tau", "log_exit", "holding", "min_margin")}
                counts = {name: _whole(figures[name]) for name in ("argmax", "defined")}
                record.keep_profile(_stamped(figures, len(record)) | numbers | counts | {"trap": str(figures["trap"])})
        except UserError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            raise UserError("This file is not a run record of Glauber Explorer.") from None
        return record


def _event(data: Any, steps: int) -> dict[str, Any]:
    event = _stamped(data, steps) | {"kind": str(data["kind"])}
    if event["kind"] == "locks":
        return event | {"positions": [_whole(p) for p in data["positions"]]}
    if event["kind"] == "held":
        length = _whole(data["steps"], FOREVER, least=1)
        return event | {"steps": length, "log_exit": _rate(data["log_exit"]), "tau": _temperature(data["tau"])}
    return event


def _entry(values: list[Any], old: bool) -> Entry:
    """The entry of one row without its number."""
    if len(values) != (_OLD_COLUMNS if old else len(Entry._fields)):
        raise ValueError("columns")
    kind, *rest = values
    position, before, after = (_whole(value) for value in rest[:3])
    log_prob, _, entropy, margin = (_real(value) for value in rest[3:7])
    entry = Entry(kind, position, before, after, log_prob, _temperature(rest[4]), entropy, margin)
    if kind not in KINDS or (old and kind == "skip"):
        raise ValueError("kind")
    if kind == "skip":
        if before == after or rest[8] == "-inf":
            raise ValueError("no change")
        return entry._replace(dwell=_whole(rest[7], FOREVER, least=1), log_exit=_rate(rest[8]))
    if not old and (type(rest[7]) is not int or rest[7:] != [1, None]):
        raise ValueError("dwell")
    return entry


def _header(data: Any) -> RunHeader:
    if set(data) != {known.name for known in fields(RunHeader)}:
        raise KeyError("header")
    parent = data["parent"]
    texts = {name: data[name] for name in ("model", "model_hash", "start_text")}
    versions, shape = data["versions"], data["shape"]
    if not all(isinstance(value, str) for value in [*texts.values(), *versions.values(), *versions, *shape]):
        raise TypeError("header")
    if not all(isinstance(value, (str, int)) for value in shape.values()) or not data["start"]:
        raise TypeError("header")
    return RunHeader(
        **texts,
        start=tuple(_whole(token) for token in data["start"]),
        seed=_whole(data["seed"], MAX_SEED),
        chain=_whole(data["chain"], MAX_SEED),
        shape=dict(shape),
        versions=dict(versions),
        parent=None if parent is None else {name: _whole(parent[name], MAX_SEED) for name in ("seed", "chain", "step")},
    )


def _whole(value: Any, top: int = 2**31 - 1, least: int = 0) -> int:
    if type(value) is not int or not least <= value <= top:
        raise ValueError("whole number")
    return value


def _real(value: Any) -> float:
    if value is None:
        return math.nan
    if type(value) not in (int, float) and value not in ("inf", "-inf"):
        raise ValueError("number")
    return float(value)


def _temperature(value: Any) -> float:
    tau = _real(value)
    if not tau >= 0:
        raise ValueError("temperature")
    return tau


def _rate(value: Any) -> float:
    rate = _real(value)
    if not rate <= 0:
        raise ValueError("log probability")
    return rate


def _stamped(data: Any, steps: int) -> dict[str, Any]:
    return {**data, "step": _whole(data["step"], steps)}


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return value


def _cells(*values: float) -> list[str]:
    return ["" if math.isnan(x) else repr(x) for x in values]
