"""The run record: what goes in comes out, at every step; damaged files are refused with one sentence."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glauber_core.errors import UserError
from glauber_core.record import Entry, RunHeader, RunRecord
from tests.core.records import HEADER, long_record, same

KEYFRAME = 256


def plain_states(record: RunRecord) -> list[list[int]]:
    states = [list(record.header.start)]
    for entry in record.entries:
        states.append([entry.new if k == entry.position else t for k, t in enumerate(states[-1])])
    return states


# -- states -----------------------------------------------------------------------------------------------------------


def test_every_state_over_the_borders_of_keyframes() -> None:
    record = long_record(3 * KEYFRAME + 5)
    wanted = plain_states(record)
    for step in range(len(record) + 1):
        assert record.state_at(step).tolist() == wanted[step], step
    for first, last in ((0, 0), (0, 10), (250, 262), (KEYFRAME, KEYFRAME), (511, 513), (700, len(record))):
        assert record.states(first, last).tolist() == wanted[first : last + 1]
    for step in (-1, len(record) + 1):
        with pytest.raises(IndexError):
            record.state_at(step)


def test_a_state_handed_out_is_a_copy() -> None:
    record = long_record(KEYFRAME + 1)
    record.state_at(KEYFRAME)[:] = 99
    record.state_at(0)[:] = 99
    assert record.state_at(KEYFRAME).tolist() == plain_states(record)[KEYFRAME]
    assert record.state_at(0).tolist() == list(HEADER.start)


def test_last_changes() -> None:
    record = RunRecord(HEADER)
    for position, old, new in ((0, 3, 3), (1, 1, 2), (1, 2, 2), (0, 3, 5), (1, 2, 1)):
        record.append(Entry("step", position, old, new, -1.0, 1.0))
    assert record.last_changes(0) == [None, None, None]
    assert record.last_changes(3) == [None, 2, None]
    assert record.last_changes(5) == [4, 5, None]


# -- round trips ------------------------------------------------------------------------------------------------------


def test_json_round_trip() -> None:
    record = long_record(KEYFRAME + 40)
    record.event("settings", tau=0.0, schedule="constant", sweeps=20.0)
    text = record.to_json()
    again = RunRecord.from_dict(json.loads(text))
    assert again.header == HEADER and again.events == record.events
    assert same(list(again.entries), list(record.entries))
    assert again.to_json() == text
    assert [again.state_at(k).tolist() for k in (0, 255, 256, 296)] == [
        record.state_at(k).tolist() for k in (0, 255, 256, 296)
    ]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, 1.7e308, 0.1 + 0.2])
def test_every_float_survives(value: float) -> None:
    record = RunRecord(HEADER)
    record.append(Entry("step", 0, 3, 4, value, 0.0, value, value))
    text = record.to_json()
    assert "NaN" not in text and "Infinity" not in text  # strict JSON: any reader takes it
    entry = RunRecord.from_dict(json.loads(text)).entries[0]
    assert same(entry, record.entries[0]) and math.copysign(1, entry.log_prob) == math.copysign(1, value)


def test_a_branch_keeps_its_parent() -> None:
    header = RunHeader("m", "", (1,), "", 1, 3, {}, {}, parent={"seed": 1, "chain": 0, "step": 12})
    assert RunRecord.from_dict(json.loads(RunRecord(header).to_json())).header == header


def test_the_document_names_its_format_and_columns() -> None:
    data = long_record(2).to_dict()
    assert (data["format"], data["version"]) == ("glauber-run", 2)
    names = ["step", "kind", "position", "old", "new", "log_prob", "tau", "entropy", "margin", "dwell", "log_exit"]
    assert data["columns"] == names
    assert [row[0] for row in data["steps"]] == [1, 2]


def test_csv() -> None:
    record = RunRecord(HEADER)
    record.append(Entry("step", 0, 3, 5, -0.25, 0.0, 1.5, -math.inf))
    record.append(Entry("edit", 2, 4, 4, math.nan, 0.7))
    words = {3: 'say "hi", twice', 4: "two\nlines", 5: "=1+1; $5 **x** <b>é猫"}
    text = record.to_csv(words.__getitem__)
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [(r["step"], r["kind"], r["position"], r["changed"]) for r in rows] == [
        ("1", "step", "0", "1"),
        ("2", "edit", "2", "0"),
    ]
    assert (rows[0]["old"], rows[0]["new"], rows[1]["old"]) == (words[3], words[5], words[4])
    assert (rows[0]["old_id"], rows[0]["new_id"]) == ("3", "5")
    assert [float(rows[0][c]) for c in ("log_prob_nats", "tau", "entropy_nats", "margin_nats")] == [
        *(-0.25, 0.0, 1.5, -math.inf)
    ]
    assert [rows[1][c] for c in ("log_prob_nats", "tau", "entropy_nats", "margin_nats")] == ["", "0.7", "", ""]


def test_csv_keeps_every_bit_of_its_numbers() -> None:
    record = long_record(50)
    rows = list(csv.DictReader(io.StringIO(record.to_csv(str))))
    assert [float(r["tau"]) for r in rows] == [e.tau for e in record.entries]
    assert [float(r["log_prob_nats"] or "nan") for r in rows if r["kind"] != "edit"] == [
        e.log_prob for e in record.entries if e.kind != "edit"
    ]


# -- profiles and events ----------------------------------------------------------------------------------------------


def test_profiles_stay_in_step_order_and_the_latest_of_a_step_counts() -> None:
    record = RunRecord(HEADER)
    for step, mark in ((5, "a"), (0, "b"), (9, "c"), (5, "d"), (3, "e"), (9, "f")):
        record.keep_profile({"step": step, "mark": mark})
    assert [(p["step"], p["mark"]) for p in record.profiles] == [(0, "b"), (3, "e"), (5, "d"), (9, "f")]


@pytest.mark.parametrize("log_exit, holding", [(-math.inf, 1.0), (math.nan, math.nan), (-0.25, 0.2212)])
def test_profiles_come_back_as_numbers(log_exit: float, holding: float) -> None:
    record = long_record(3)
    figures = {"step": 2, "tau": 0.5, "log_exit": log_exit, "holding": holding, "argmax": 0, "defined": 3}
    record.keep_profile({**figures, "min_margin": log_exit, "trap": "unknown"})
    again = RunRecord.from_dict(json.loads(record.to_json())).profiles
    assert len(again) == 1 and again[0].keys() == record.profiles[0].keys()
    for name, value in record.profiles[0].items():
        assert same(again[0][name], value) and type(again[0][name]) is type(value), name


def test_a_partial_profile_is_refused() -> None:
    figures: dict[str, Any] = {
        "step": 2,
        "tau": 0.5,
        "log_exit": -1.0,
        "holding": 0.6,
        "argmax": 0,
        "defined": 3,
        "min_margin": 0.1,
        "trap": "wandering",
    }
    for name in figures:
        with pytest.raises(UserError):
            RunRecord.from_dict(changed("profiles", value=[{k: v for k, v in figures.items() if k != name}]))
    assert len(RunRecord.from_dict(changed("profiles", value=[figures])).profiles) == 1


def test_events_carry_the_step_they_precede() -> None:
    record = long_record(4)
    record.event("locks", positions=[1])
    assert record.events == [{"step": 4, "kind": "locks", "positions": [1]}]


# -- damaged files ----------------------------------------------------------------------------------------------------

DOCUMENT = long_record(8, seed=3).to_dict()


def changed(*path: Any, value: Any) -> dict[str, Any]:
    """The document with one value replaced."""
    data = json.loads(json.dumps(DOCUMENT))
    inner = data
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return data


@pytest.mark.parametrize(
    "data",
    [
        *(None, 5, "text", [], {}, [DOCUMENT], {"format": "glauber-run", "version": 2}),
        changed("format", value="other"),
        changed("version", value=3),
        changed("version", value=1),  # its rows have no waits
        changed("header", value=None),
        changed("header", value={}),
        changed("header", "extra", value=1),
        changed("header", "start", value="abc"),
        changed("header", "start", value=None),
        changed("header", "start", value=[9, 9, 9]),
        changed("header", "start", value=[math.inf, 1, 4]),
        changed("header", "start", value=[3.7, 1, 4]),
        changed("steps", value=5),
        changed("steps", value=[[1, "step"]]),
        changed("steps", 2, 0, value=7),
        changed("steps", 2, 1, value="jump"),
        changed("steps", 2, 2, value=3),
        changed("steps", 2, 2, value=-1),
        changed("steps", 2, 2, value=math.inf),
        changed("steps", 2, 3, value=99),
        changed("steps", 2, 4, value=99),
        changed("steps", 2, 5, value="warm"),
        changed("steps", 2, value=[3, "step", 0, 0, 0, 0.0, 1.0, 0.0, 0.0, 0.0]),
        changed("steps", 2, value=[3, "step", 0, 0, 0, 0.0, 1.0, 0.0, 0.0, 1, None, 0]),
        changed("steps", 2, value=None),
        changed("steps", 7, 4, value=10**30),
        changed("steps", 7, 5, value=10**400),
        changed("steps", 7, 6, value=None),  # a step has a temperature, and it is not negative
        changed("steps", 7, 6, value=-5.0),
        changed("events", value=5),
        changed("profiles", value=None),
        changed("profiles", value=[1, None]),
        changed("profiles", value=[{}]),
    ],
)
def test_damaged_records_are_refused_with_one_sentence(data: Any) -> None:
    with pytest.raises(UserError) as caught:
        RunRecord.from_dict(data)
    assert str(caught.value).startswith("This ") and str(caught.value).endswith(".")


def test_missing_keys_are_refused() -> None:
    for key in ("format", "version", "header", "steps", "events", "profiles"):
        data = dict(DOCUMENT)
        del data[key]
        with pytest.raises(UserError):
            RunRecord.from_dict(data)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**31), 2**31) | st.floats(allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=4,
)


def places(value: Any) -> list[tuple[Any, ...]]:
    """Paths to every value inside a JSON document."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [(key, *rest) for key, inner in items for rest in ((), *places(inner))]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(places(DOCUMENT)), JSON_VALUES), min_size=1, max_size=3))
def test_a_mutated_record_gives_a_record_or_one_sentence(changes: list[tuple[tuple[Any, ...], Any]]) -> None:
    data = json.loads(json.dumps(DOCUMENT))
    for path, value in changes:
        inner = data
        try:
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = value
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change took the place away
    try:
        record = RunRecord.from_dict(data)
    except UserError as error:
        assert str(error).startswith("This ")
    else:
        assert len(record.state_at(len(record))) == len(record.header.start)
