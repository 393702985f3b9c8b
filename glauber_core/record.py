"""The run record: everything that is shown, exported, replayed or rewound comes from it."""

from __future__ import annotations

import bisect
import csv
import io
import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Int64

from glauber_core.errors import UserError

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
        """The inverse of ``to_dict``.

        Raises:
            UserError: not a run record of this version, or one whose steps do not follow from each other.
        """
        try:
            if data["format"] != FORMAT or data["version"] != VERSION:
                raise UserError("This file is not a run of this version of Glauber Explorer.")
            head = dict(data["header"])
            head["start"] = tuple(int(i) for i in head["start"])
            record = cls(RunHeader(**head), events=list(data["events"]), profiles=list(data["profiles"]))
            state = list(record.header.start)
            for k, row in enumerate(data["steps"], start=1):
                number, kind, position, old, new, *floats = row
                values = [math.nan if x is None else float(x) for x in floats]
                entry = Entry(str(kind), int(position), int(old), int(new), *values)
                if number != k or kind not in KINDS or not 0 <= entry.position < len(state):
                    raise UserError("This run file is damaged: its steps are out of order.")
                if state[entry.position] != entry.old:
                    raise UserError(f"This run file is damaged: step {k} does not follow from the one before.")
                state[entry.position] = entry.new
                record.append(entry)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            if isinstance(error, UserError):
                raise
            raise UserError("This file is not a run record of Glauber Explorer.") from None
        return record


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return value
