"""From a player to the data of the browser components: token strips, conditional bars, timelines."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from glauber_core.models import Vocabulary
from glauber_core.record import Entry, RunRecord
from glauber_core.view import ConditionalView
from pages.ui.player import Player, Track
from pages.ui.waits import Waits
from pages.ui.words import badge, steps

MAX_POINTS = 400


def token(vocabulary: Vocabulary, ident: int, first: bool) -> dict[str, Any]:
    """How the strip shows one token; a word piece at the sentence's start keeps its marks and is not glued."""
    piece = vocabulary.surface(ident)
    text = f"##{piece.text}" if first and piece.glued and vocabulary.style == "wordpiece" else piece.text
    return {"t": text, "glue": piece.glued and not first, "oov": not bool(vocabulary.allowed[ident])}


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _values(track: Track, step: int) -> dict[str, list[float | None]]:
    """Latest known probability, entropy and margin of every position at one of the chain's steps."""
    known = {name: np.full(track.chain.n, np.nan) for name in ("probability", "entropy", "margin")}
    since = 0
    if track.seen and track.seen[0] <= step:
        since, figures = track.seen[0], track.seen[1]
        known["probability"], known["entropy"] = np.exp(figures.log_prob), figures.entropy.copy()
        known["margin"] = figures.margin.copy()
    entries = track.chain.record.entries
    for entry in entries[max(since, step - 40 * track.chain.n) : step]:
        i = entry.position
        known["probability"][i], known["entropy"][i], known["margin"][i] = (
            math.exp(entry.log_prob),
            entry.entropy,
            entry.margin,
        )
    return {name: [_number(v) for v in values] for name, values in known.items()}


def _frame(vocabulary: Vocabulary, number: int, sweeps: float, entry: Entry, waits: Waits | None) -> dict[str, Any]:
    said = {"said": waits.said(number)} if waits else {}
    return said | {
        "s": number,
        "w": sweeps,
        "i": entry.position,
        **token(vocabulary, entry.new, entry.position == 0),
        "c": entry.new != entry.old,
        "tau": entry.tau,
        "p": _number(math.exp(entry.log_prob)),
        "h": _number(entry.entropy),
        "m": _number(entry.margin),
    }


def stage(
    player: Player, vocabulary: Vocabulary, color: str, frame_ms: int, selected: tuple[str, int] | None
) -> dict[str, Any]:
    """Data of the ``stage`` component: the state before the block, then its frames."""
    chains = []
    unit = "entry" if player.clocked else "step"
    for track, first, frames in zip(player.tracks, player.block.starts, player.block.frames, strict=True):
        chain = track.chain
        last = track.local(player.cursor)
        state = chain.record.state_at(first)
        changed = chain.record.last_changes(first)
        times = chain.record.sweep_times()
        changes = sum(e.old != e.new for e in chain.record.entries[:last])
        waits = Waits(chain.record) if player.clocked else None
        told: dict[str, Any] = {}
        if waits:
            told = {"said": waits.said(first)}
            told["waits"] = [None if c is None else steps(waits.before(c)) for c in changed]
            told["end"] = track.stuck if player.skip and last == chain.steps else ""
        chains.append(
            told
            | {
                "id": track.name,
                "title": f"chain {track.name}, seed {chain.header.seed}"
                if chain.header.parent is None
                else f"chain {track.name}, branched at {unit} {track.offset:,}",
                "tau": chain.record.entries[last].tau if last < chain.steps else chain.tau_now,
                "step": first,
                "tokens": [
                    {**token(vocabulary, int(i), k == 0), "locked": k in chain.locked} for k, i in enumerate(state)
                ],
                "age": [None if c is None else first - c for c in changed],
                **_values(track, first),
                "sweep": float(times[first]),
                "frames": [_frame(vocabulary, number, float(times[number]), entry, waits) for number, entry in frames],
                "badge": badge(track.seen[1], track.seen[2], track.seen[0])
                if track.seen
                else {"kind": "unknown", "text": "not yet known", "tip": "Computed once a sweep.", "step": first},
                "counters": "1 change" if changes == 1 else f"{changes:,} changes",
                "selected": selected[1] if selected and selected[0] == track.name else None,
            }
        )
    return {
        "epoch": str(player.epoch),
        "seq": player.seq,
        "playing": player.playing,
        "frame_ms": frame_ms,
        "color": color,
        "unit": unit,
        "n_free": player.tracks[0].chain.sweep_length,
        "chains": chains,
    }


def conditional(vocabulary: Vocabulary, view: ConditionalView, position: int, word: int, note: str) -> dict[str, Any]:
    """Data of the ``conditional_panel`` component."""

    def row(candidate: Any) -> dict[str, Any]:
        return {
            "id": candidate.token,
            "t": vocabulary.surface(candidate.token).text,
            "p": candidate.prob,
            "p1": candidate.prob_one,
            "rank": candidate.rank,
            "current": candidate.token == word,
        }

    listed = [row(c) for c in view.top]
    inside = any(r["current"] for r in listed)
    return {
        "title": f"What the model would put at \u201c{vocabulary.surface(word).text}\u201d",
        "subtitle": f"word {position + 1}, all other words as they stand",
        "rows": listed,
        "current": None if inside or view.current is None else row(view.current),
        "entropy": view.entropy,
        "entropy1": view.entropy_one,
        "other": view.other,
        "tau": view.tau,
        "note": note,
        "empty": "",
    }


def _thin(points: list[list[float]]) -> list[list[float]]:
    """At most ``MAX_POINTS`` points, evenly chosen, the last one always among them."""
    if len(points) <= MAX_POINTS:
        return points
    index = np.unique(np.linspace(0, len(points) - 1, MAX_POINTS).round().astype(int))
    return [points[k] for k in index]


def _peaks(points: list[tuple[float, float, int]]) -> list[tuple[float, float, int]]:
    """At most ``MAX_POINTS`` points, the highest of each stretch."""
    size = -(-len(points) // MAX_POINTS) or 1
    return [max(points[k : k + size], key=lambda p: p[1]) for k in range(0, len(points), size)]


def _changes_per_sweep(record: RunRecord, times: np.ndarray, start: float, last: int) -> list[list[float]]:
    """[sweep on the axis, changes] of each whole sweep of the first ``last`` entries."""
    moved = np.array([e.old != e.new for e in record.entries[:last]], dtype=float)
    # A step belongs to the sweep that it completes or is part of; only whole sweeps are counted.
    number = np.ceil(times[1 : last + 1] - 1e-9).astype(int)
    whole = int(times[last] + 1e-9)
    changes = np.bincount(number, weights=moved, minlength=whole + 1)[1 : whole + 1]
    return [[start + k, float(c)] for k, c in enumerate(changes, start=1)]


def timelines(player: Player) -> dict[str, Any]:
    """Data of the ``timelines`` component: x is in sweeps of the first chain.

    Where waiting was skipped it is in entries: on a scale of time one long wait would leave no room for anything else.
    """
    if player.clocked:
        clock = np.arange(player.head + 1, dtype=float)
    else:
        clock = player.tracks[0].chain.record.sweep_times()
    start = {t.name: float(clock[min(t.offset, len(clock) - 1)]) for t in player.tracks}
    chains, ends = [], [1.0]
    for track in player.tracks:
        record, last = track.chain.record, track.local(player.cursor)
        times = start[track.name] + (np.arange(len(record) + 1.0) if player.clocked else record.sweep_times())
        holding, argmax = [], []
        for p in record.profiles:
            if p["step"] > last:
                break
            rest, x = -p["log_exit"], float(times[p["step"]])
            if not math.isnan(rest):
                holding.append([x, p["holding"], math.exp(rest) if rest < 700 else 1e300])
            argmax.append([x, p["argmax"]])
        if player.clocked:
            peaks = _peaks(Waits(record).powers(last))
            third: dict[str, Any] = {"waits": [[start[track.name] + k, power, steps(wait)] for k, power, wait in peaks]}
        else:
            third = {"changes": _thin(_changes_per_sweep(record, times - start[track.name], start[track.name], last))}
        taus = [e.tau for e in record.entries[:last]] or [track.chain.tau_now]
        chains.append(
            {
                "id": track.name,
                "title": track.name,
                "holding": _thin(holding),
                "argmax": _thin(argmax),
                **third,
                "tau": _thin([[float(times[k]), t] for k, t in enumerate(taus)]),
            }
        )
        ends.append(float(times[last]))
    cursor = float(clock[min(player.cursor, len(clock) - 1)])
    return {
        "epoch": str(id(player)),
        "unit": "entry" if player.clocked else "sweep",
        "n": player.tracks[0].chain.sweep_length,
        "cursor": cursor,
        "xmax": max(ends),
        "chains": chains,
    }
