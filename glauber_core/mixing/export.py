"""A sweep as CSV: every pair, or the phase table with the plan and the hashes in its header."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from glauber_core.errors import UserError
from glauber_core.mixing.phase import PhasePoint, phase_table
from glauber_core.mixing.plan import Plan
from glauber_core.mixing.store import SweepStore, TableRow
from glauber_core.mixing.survival import Median

FORMAT = "glauber-phase 1"
_COLUMNS = (
    "model",
    "start",
    "tau",
    "n",
    "median_sweeps",
    "low",
    "high",
    "watched_sweeps",
    "pairs",
    "met",
    "few",
    "verdict",
)


class PhaseFile(NamedTuple):
    """A stored phase table.

    Attributes:
        plan: it was measured by.
        model_hashes: name -> SHA-256 of the weights.
        versions: of everything that can change a bit.
        points: the table (``phase.phase_table``).
    """

    plan: Plan
    model_hashes: Mapping[str, str]
    versions: Mapping[str, str]
    points: list[PhasePoint]


def pairs_csv(rows: Sequence[TableRow]) -> str:
    """One line a pair; times in steps."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(TableRow._fields)
    writer.writerows((*row[:-1], int(row.met)) for row in rows)
    return out.getvalue()


def phase_csv(store: SweepStore) -> str:
    """The phase table, times in sweeps; lines that begin with # come first: the plan, the models and the versions."""
    results = store.results()
    head = {
        "format": FORMAT,
        "plan": json.loads(store.plan.to_json()),
        "plan_sha256": store.plan.sha256,
        "model_sha256": {r.cell.model: r.model_hash for r in results},
        "versions": store.versions,
    }
    out = io.StringIO()
    for name, value in head.items():
        out.write(f"# {name}: {json.dumps(value, sort_keys=True, ensure_ascii=False)}\n")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for p in phase_table(results):
        m = p.median
        figures = (m.value, m.low, m.high, m.beyond, m.times, m.events)
        writer.writerow((p.model, p.start, p.tau, p.n, *figures, int(p.few), p.verdict))
    return out.getvalue()


def read_phase_csv(text: str) -> PhaseFile:
    """What ``phase_csv`` wrote.

    Raises:
        UserError: it is something else, or its plan does not have the hash it states.
    """
    lines = text.splitlines()
    try:
        pairs = [line[2:].split(": ", 1) for line in lines if line.startswith("# ")]
        head = {name: json.loads(value) for name, value in pairs}
        plan = Plan.from_dict(head["plan"])
        rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
        points = [_point(row) for row in rows]
        good = head["format"] == FORMAT and head["plan_sha256"] == plan.sha256
        hashes, made_with = dict(head["model_sha256"]), dict(head["versions"])
    except (KeyError, ValueError, TypeError):
        good = False
    if not good:
        raise UserError("This is not a phase table that can be read, or its plan was changed by hand.")
    return PhaseFile(plan, hashes, made_with, points)


def _point(row: Mapping[str, str]) -> PhasePoint:
    value, low, high, beyond = (float(row[name]) for name in ("median_sweeps", "low", "high", "watched_sweeps"))
    if math.isnan(value) or row["verdict"] not in ("fast", "slow", "undecided"):
        raise ValueError("no figure")
    found = Median(value, low, high, beyond, int(row["pairs"]), int(row["met"]))
    few, verdict = row["few"] == "1", row["verdict"]
    return PhasePoint(row["model"], row["start"], float(row["tau"]), int(row["n"]), found, few, verdict)  # type: ignore[arg-type]
