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

FORMAT, VERSION = "glauber-run", 1
KINDS = ("step", "resample", "edit")
_KEYFRAME = 256


class Entry(NamedTuple):
    """One change of the record.

    Attributes:
        kind: ``step`` (the chain's own), ``resample`` (asked for by hand) or ``edit`` (typed by hand).
        position: 0-based.
        old, new: token ids.
        log_prob: log p_i^tau(new | x_-i), nats; NaN for an edit.
        tau: temperature of this step.
        entropy, margin: of the conditional this step read, nats; NaN for an edit.
    """

    kind: str
    position: int
    old: int
    new: int
    log_prob: float
    tau: float
    entropy: float = math.nan
    margin: float = math.nan


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
        events: temperature, schedule and lock changes, each with the number of entries before it.
        profiles: whole-state figures (``profile.StateProfile.summary``), each with the number of entries before it.
    """

    header: RunHeader
    entries: list[Entry] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    profiles: list[dict[str, Any]] = field(default_factory=list)
    _keyframes: list[np.ndarray] = field(default_factory=list, repr=False)

    def __len__(self) -> int:
        return len(self.entries)

    def append(self, entry: Entry) -> None:
        """Add one entry at the end."""
        if len(self.entries) % _KEYFRAME == 0 and len(self._keyframes) == len(self.entries) // _KEYFRAME:
            self._keyframes.append(self.state_at(len(self.entries)))
        self.entries.append(entry)

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

    def sweep_times(self) -> Float64[np.ndarray, " steps"]:
        """float64 [len + 1]: sweeps done after 0, 1, .. entries; a step counts 1/(free positions at that time)."""
        n = len(self.header.start)
        locks = [(e["step"], len(e["positions"])) for e in self.events if e["kind"] == "locks"]
        times = np.arange(len(self) + 1) / n
        for first, locked in locks:
            times[first:] = times[first] + np.arange(len(self) + 1 - first) / max(1, n - locked)
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
            "events": self.events,
            "profiles": [{key: _plain(value) for key, value in p.items()} for p in self.profiles],
        }

    def to_json(self) -> str:
        """The record as one JSON document, UTF-8 text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    def to_csv(self, text: Callable[[int], str]) -> str:
        """The entries as CSV with a header row; ``text`` gives a token id's characters."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        names = ["step", "kind", "position", "old_id", "old", "new_id", "new", "changed", "log_prob_nats", "tau"]
        writer.writerow([*names, "entropy_nats", "margin_nats"])
        for k, e in enumerate(self.entries, start=1):
            numbers = ["" if math.isnan(x) else repr(x) for x in (e.log_prob, e.tau, e.entropy, e.margin)]
            changed = int(e.old != e.new)
            writer.writerow([k, e.kind, e.position, e.old, text(e.old), e.new, text(e.new), changed, *numbers])
        return out.getvalue()

    @classmethod
    def from_dict(cls, data: Any) -> RunRecord:
        """The inverse of ``to_dict``; every field is checked.

        Raises:
            UserError: not a run record of this version, or one whose steps do not follow from each other.
        """
        try:
            if data["format"] != FORMAT or data["version"] != VERSION:
                raise UserError("This file is not a run of this version of Glauber Explorer.")
            record = cls(_header(data["header"]))
            state = list(record.header.start)
            for k, row in enumerate(data["steps"], start=1):
                number, kind, *rest = row
                position, old, new = (_whole(value) for value in rest[:3])
                log_prob, tau, entropy, margin = (_real(value) for value in rest[3:])
                if number != k or kind not in KINDS or not 0 <= position < len(state):
                    raise UserError("This run file is damaged: its steps are out of order.")
                if state[position] != old or math.isnan(tau) or tau < 0:
                    raise UserError(f"This run file is damaged: step {k} does not follow from the one before.")
                state[position] = new
                record.append(Entry(kind, position, old, new, log_prob, tau, entropy, margin))
            record.events = [_event(event, len(record)) for event in data["events"]]
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
    return event | {"positions": [_whole(p) for p in data["positions"]]} if event["kind"] == "locks" else event


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


def _whole(value: Any, top: int = 2**31 - 1) -> int:
    if type(value) is not int or not 0 <= value <= top:
        raise ValueError("whole number")
    return value


def _real(value: Any) -> float:
    if value is None:
        return math.nan
    if type(value) not in (int, float) and value not in ("inf", "-inf"):
        raise ValueError("number")
    return float(value)


def _stamped(data: Any, steps: int) -> dict[str, Any]:
    return {**data, "step": _whole(data["step"], steps)}


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return value
