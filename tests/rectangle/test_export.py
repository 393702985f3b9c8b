"""Exports that read back as the same numbers, whatever stands in the tokens."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glauber_core.exact import ConditionalTable
from glauber_core.rectangle import Measured, Rule, noise_floor, summarize, survey
from glauber_core.rectangle.export import COLUMNS, NUMBERS, rows, to_csv, to_json
from tests.rectangle.plain import some_sentences
from tests.rectangle.surveys import made

TABLE = ConditionalTable.random(4, 6, np.random.default_rng(71))
SENTENCES = some_sentences(TABLE, [4] * 6)
FOUND = survey(TABLE, SENTENCES, Rule("uniform", alternatives=2))
NASTY = [
    "a,b",
    'say "x"',
    "two\nlines",
    "tab\there",
    "",
    " lead",
    "'",
    "\r",
    "=1+1",
    "naïve 🤖 日本",
    "a\r\nb",
    '"',
    ",",
]


def name(token: int) -> str:
    return NASTY[token]


def read_csv(text: str) -> tuple[list[str], list[list[str]]]:
    header, *body = csv.reader(io.StringIO(text, newline=""))
    return header, body


def strict(constant: str) -> float:
    raise AssertionError(f"{constant} is not JSON")


def assert_row(cells: list[object], found: Measured, row: int, text: Callable[[int], str]) -> None:
    """One line of either export against the survey; numbers bit for bit."""
    r = found.rectangles
    values = dict(zip([*COLUMNS, *NUMBERS], cells, strict=True))
    wanted = {"sentence": r.sentence, "i": r.i, "j": r.j, "a_id": r.a, "b_id": r.b}
    wanted |= {"a_new_id": r.a_new, "b_new_id": r.b_new}
    for column, numbers in wanted.items():
        assert int(values[column]) == numbers[row], column  # type: ignore[call-overload]
    for column in ("a", "b", "a_new", "b_new"):
        assert values[column] == text(int(values[f"{column}_id"])), column  # type: ignore[call-overload]
    ratios = [values[f"ratio_{edge}_nats"] for edge in ("xy", "yz", "xw", "wz")]
    numbers = [float(v) for v in ratios]  # type: ignore[arg-type]
    assert numbers == found.ratios[row].tolist()
    l1, l2 = numbers[0] + numbers[1], numbers[2] + numbers[3]
    assert float(values["l1_nats"]) == l1 and float(values["l2_nats"]) == l2  # type: ignore[arg-type]
    assert float(values["curl_nats"]) == l1 - l2  # type: ignore[arg-type]
    assert float(values["delta_nats"]) == abs(l1 - l2)  # type: ignore[arg-type]
    relative = abs(l1 - l2) / (abs(l1) + abs(l2))
    assert float(values["relative_delta"]) == pytest.approx(relative, rel=1e-15)  # type: ignore[arg-type]


def test_csv_reads_back() -> None:
    header, body = read_csv(to_csv(FOUND, name))
    assert header == [*COLUMNS, *NUMBERS] and len(body) == len(FOUND)
    for row, cells in enumerate(body):
        assert_row(list(cells), FOUND, row, name)


def test_json_reads_back() -> None:
    floor = noise_floor(TABLE, None, SENTENCES, FOUND)
    summary = summarize(FOUND, floor.value)
    header = {"model": "naïve", "rule": str(Rule()), "versions": {"torch": "x"}}
    data = json.loads(to_json(FOUND, name, SENTENCES, header, floor, summary), parse_constant=strict)
    assert (data["format"], data["version"]) == ("glauber-rectangles", 1) and data["model"] == "naïve"
    assert data["columns"] == [*COLUMNS, *NUMBERS] and len(data["rectangles"]) == len(FOUND)
    for row, cells in enumerate(data["rectangles"]):
        assert_row(cells, FOUND, row, name)
    assert data["sentences"] == [{"ids": s, "tokens": [name(t) for t in s]} for s in SENTENCES]
    assert data["noise_floor"]["value"] == floor.value and data["noise_floor"]["dtype"] == "float64"
    assert data["summary"]["mean"] == summary.mean
    assert data["summary"]["intervals"]["mean"] == list(summary.intervals["mean"])


def test_numbers_are_numbers_and_text_is_text() -> None:
    for cells in rows(FOUND, name)[:5]:
        kinds = [type(cell) for cell in cells]
        assert kinds == [int] * 3 + [int, str] * 4 + [float] * 9


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=6), min_size=6, max_size=6))
def test_any_token_text_survives(names: list[str]) -> None:
    some = FOUND.take(np.arange(0, len(FOUND), 20))

    def text(token: int) -> str:
        return names[token]

    _, body = read_csv(to_csv(some, text))
    document = to_json(some, text, [], {}, None, None)
    document.encode("utf-8")
    for row, (cells, listed) in enumerate(zip(body, json.loads(document)["rectangles"], strict=True)):
        assert_row(list(cells), some, row, text)
        assert_row(listed, some, row, text)


@pytest.mark.parametrize("size", [5e-324, 1e-17, 1 / 3, 1e16 / 3, 1e300])
def test_numbers_of_any_size_read_back(size: float) -> None:
    found = Measured(made(np.zeros(1), np.zeros(1)).rectangles, np.array([[size, -size / 3, 0.1 * size, 0.0]]))
    _, body = read_csv(to_csv(found, name))
    for cells in (body[0], json.loads(to_json(found, name, [], {}, None, None))["rectangles"][0]):
        assert [float(v) for v in cells[11:15]] == found.ratios[0].tolist()


def test_what_is_unknown_is_null() -> None:
    summary = summarize(FOUND, None)
    assert math.isnan(summary.above)
    data = json.loads(to_json(FOUND, name, SENTENCES, {}, None, summary), parse_constant=strict)
    assert data["noise_floor"] is None and data["summary"]["above"] is None
    assert data["summary"]["intervals"]["above"] == [None, None]
    assert data["summary"]["intervals"]["mean"] == list(summary.intervals["mean"])
    empty = json.loads(to_json(FOUND, name, [], {}, None, None), parse_constant=strict)
    assert empty["summary"] is None and empty["sentences"] == []


def test_json_is_never_written_with_numbers_json_does_not_have() -> None:
    broken = Measured(FOUND.rectangles, np.full_like(FOUND.ratios, np.nan))
    with pytest.raises(ValueError):
        to_json(broken, name, SENTENCES, {}, None, None)
    with pytest.raises(ValueError):
        to_json(FOUND, name, SENTENCES, {"tau": math.inf}, None, None)
    _, body = read_csv(to_csv(broken, name))
    assert math.isnan(float(body[0][11]))


def test_no_rectangle_is_a_header() -> None:
    nothing = FOUND.take(np.arange(0))
    assert read_csv(to_csv(nothing, name)) == ([*COLUMNS, *NUMBERS], [])
    assert json.loads(to_json(nothing, name, [], {}, None, None))["rectangles"] == []
