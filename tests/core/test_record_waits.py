"""Waits in the run record: the clock of simulated steps, exports, and what a stored wait may be."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import Any

import numpy as np
import pytest

from glauber_core.errors import UserError
from glauber_core.record import Entry, RunRecord
from glauber_core.waiting import FOREVER
from tests.core.records import HEADER, long_record, same


def waiting_record() -> RunRecord:
    """A step, two long skips with a wait cut twice between them, an edit, a hold."""
    record = RunRecord(HEADER)
    record.append(Entry("step", 0, 3, 3, -0.1, 0.5, 0.2, 1.0))
    record.append(Entry("skip", 1, 1, 2, -3.0, 0.5, 0.2, -1.0, 10**9, -20.5))
    record.hold(3, -0.25, 0.5)
    record.event("locks", positions=[0])
    record.hold(1, -70.0, 0.25)
    record.append(Entry("skip", 1, 2, 0, -2.0, 0.25, 0.3, 0.5, 10**30, -70.0))
    record.append(Entry("edit", 2, 4, 1, math.nan, 0.25))
    record.hold(7, -math.inf, 0.0)
    return record


def test_the_clock_counts_every_simulated_step() -> None:
    record = waiting_record()
    assert record.clock() == [0, 1, 1 + 10**9, 5 + 10**9 + 10**30, 6 + 10**9 + 10**30]
    assert record.elapsed == 13 + 10**9 + 10**30 and len(record) == 4
    plain = long_record(300)
    assert plain.clock() == list(range(301)) and plain.elapsed == 300
    plain.clock()[0] = 9
    assert plain.clock()[0] == 0


def test_long_waits_lose_no_step() -> None:
    record, total = RunRecord(HEADER), 0
    for k in range(1_000):
        steps = 2**53 - 1 - 7 * k
        record.append(Entry("skip", 0, 3 + k % 2, 4 - k % 2, -1.0, 0.3, 0.1, 0.1, steps, -36.0))
        total += steps
        assert record.elapsed == total
    assert total > 2**62 and type(record.elapsed) is int


def test_simulated_sweeps_count_the_free_positions_of_their_time() -> None:
    times = waiting_record().simulated_sweeps()
    before = (1 + 10**9 + 3) / 3  # then one of three words is locked
    assert times.tolist() == pytest.approx([0, 1 / 3, (1 + 10**9) / 3, before + (1 + 10**30) / 2, before + 5e29 + 1])
    plain = long_record(300)
    plain.events = [{"step": 7, "kind": "locks", "positions": [1]}, {"step": 99, "kind": "locks", "positions": []}]
    assert plain.simulated_sweeps().tolist() == pytest.approx(plain.sweep_times().tolist(), rel=1e-13)
    assert waiting_record().sweep_times().tolist() == pytest.approx([0, 1 / 3, 2 / 3, 7 / 6, 5 / 3])  # entries


def test_a_clock_at_its_end_still_gives_numbers() -> None:
    record = RunRecord(HEADER)
    record.append(Entry("skip", 0, 3, 4, -1.0, 0.1, 0.1, 0.1, FOREVER - 1, -700.0))
    record.append(Entry("step", 0, 4, 3, -1.0, 0.1, 0.1, 0.1))
    assert np.isfinite(record.simulated_sweeps()).all()
    assert RunRecord.from_dict(json.loads(record.to_json())).elapsed == FOREVER


def test_recent_states_are_those_of_simulated_time() -> None:
    plain = long_record(600)
    for step, window in ((5, 6), (256, 0), (300, 45), (600, 600), (600, 601)):
        found = plain.recent(step, window)
        assert found is None if window > step else (found == plain.states(step - window, step)).all()
    record = waiting_record()
    for step, window, first in ((4, 0, 4), (4, 7, 4), (4, 8, 3), (4, 9, 2), (3, 10**30, 2), (2, 10**9, 1), (2, 1, 1)):
        assert (record.recent(step, window) == record.states(first, step)).all(), (step, window)
    assert record.recent(2, 2 + 10**9) is None


def test_waits_survive_json() -> None:
    record = waiting_record()
    text = record.to_json()
    assert "NaN" not in text and "Infinity" not in text
    again = RunRecord.from_dict(json.loads(text))
    assert again.to_json() == text and again.clock() == record.clock() and again.elapsed == record.elapsed
    assert same(list(again.entries), list(record.entries)) and again.events == record.events
    assert (again.simulated_sweeps() == record.simulated_sweeps()).all()


def test_waits_in_csv() -> None:
    rows = list(csv.DictReader(io.StringIO(waiting_record().to_csv(str))))
    assert [(r["step"], r["kind"], r["dwell_steps"], r["log_exit_nats"]) for r in rows] == [
        ("1", "step", "1", ""),
        ("2", "skip", str(10**9), "-20.5"),
        ("", "held", "3", "-0.25"),
        ("", "held", "1", "-70.0"),
        ("3", "skip", str(10**30), "-70.0"),
        ("4", "edit", "1", ""),
        ("", "held", "7", "-inf"),
    ]
    assert sum(int(r["dwell_steps"]) for r in rows) == waiting_record().elapsed
    assert [(r["position"], r["tau"], r["entropy_nats"]) for r in rows if r["kind"] == "held"] == [
        ("", "0.5", ""),
        ("", "0.25", ""),
        ("", "0.0", ""),
    ]


def test_records_of_version_1_are_read() -> None:
    data = json.loads(long_record(300).to_json())
    data["version"], data["columns"] = 1, data["columns"][:-2]
    data["steps"] = [row[:-2] for row in data["steps"]]
    again = RunRecord.from_dict(data)
    assert same(list(again.entries), list(long_record(300).entries)) and again.elapsed == 300
    data["steps"][0][1] = "skip"
    with pytest.raises(UserError):
        RunRecord.from_dict(data)


@pytest.mark.parametrize(
    "path, value",
    [
        *((("steps", 1, 9), v) for v in (0, -1, 2.0, True, None, "1", FOREVER + 1)),
        *((("steps", 1, 10), v) for v in (None, 0.5, "-inf", "inf", "x")),
        (("steps", 1, 4), 1),  # a skip that changes nothing
        *((("steps", 0, 9), v) for v in (2, 0, True, 1.0)),
        (("steps", 0, 10), -1.0),
        *((("events", 0, "steps"), v) for v in (0, -1, 1.5, None, FOREVER + 1)),
        *((("events", 0, "log_exit"), v) for v in (None, 1.0, "inf")),
        *((("events", 0, "tau"), v) for v in (None, -1.0)),
        (("steps", 1, 9), FOREVER),  # together with the other waits beyond the clock's end
    ],
)
def test_damaged_waits_are_refused(path: tuple[Any, ...], value: Any) -> None:
    data = json.loads(waiting_record().to_json())
    RunRecord.from_dict(data)
    data[path[0]][path[1]][path[2]] = value
    with pytest.raises(UserError):
        RunRecord.from_dict(data)
