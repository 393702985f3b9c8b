"""Every rectangle as a table: CSV for spreadsheets, JSON with all that is needed to repeat the test."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from glauber_core.rectangle.floor import Floor
from glauber_core.rectangle.results import EDGES, Measured
from glauber_core.rectangle.schemes import Rule
from glauber_core.rectangle.statistics import Summary
from glauber_core.shape import versions

FORMAT, VERSION = "glauber-rectangles", 1
COLUMNS = ("sentence", "i", "j", "a_id", "a", "b_id", "b", "a_new_id", "a_new", "b_new_id", "b_new")
NUMBERS = (*(f"ratio_{edge}_nats" for edge in EDGES), "l1_nats", "l2_nats", "curl_nats", "delta_nats", "relative_delta")


def rows(measured: Measured, text: Callable[[int], str]) -> list[list[Any]]:
    """One list a rectangle, in the order of ``COLUMNS`` and ``NUMBERS``; sentences and positions count from 0.

    Args:
        measured: N rectangles.
        text: a token id's characters.
    """
    r = measured.rectangles
    numbers = [*measured.ratios.T, measured.l1, measured.l2, measured.curl, measured.delta, measured.relative]
    out = []
    for k in range(len(measured)):
        ids = [int(column[k]) for column in (r.a, r.b, r.a_new, r.b_new)]
        named = [value for token in ids for value in (token, text(token))]
        out.append([int(r.sentence[k]), int(r.i[k]), int(r.j[k]), *named, *(float(column[k]) for column in numbers)])
    return out


def header(model: str, model_hash: str, rule: Rule, complete: bool) -> dict[str, Any]:
    """What says how a test was made: model, rule, versions; JSON-ready.

    Args:
        model, model_hash: name and SHA-256 of the weights.
        rule: how the rectangles were drawn.
        complete: False if the test was cancelled.
    """
    return {
        "model": model,
        "model_hash": model_hash,
        "rule": str(rule),
        "rule_fields": asdict(rule),
        "complete": complete,
        "versions": versions(),
    }


def to_csv(measured: Measured, text: Callable[[int], str]) -> str:
    """CSV with a header row; numbers are written so that they read back as the same float64."""
    out = io.StringIO()
    # All text is quoted: before Python 3.13 a carriage return alone was not, and split its row.
    writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow([*COLUMNS, *NUMBERS])
    writer.writerows(rows(measured, text))
    return out.getvalue()


def to_json(
    measured: Measured,
    text: Callable[[int], str],
    sentences: Sequence[Sequence[int]],
    header: dict[str, Any],
    floor: Floor | None,
    summary: Summary | None,
) -> str:
    """One JSON document, UTF-8 text.

    Args:
        measured, text: as of ``rows``.
        sentences: token ids of the sentences tested.
        header: ``header``.
        floor: noise floor, or None if it was not measured.
        summary: figures, or None.
    """
    document = {
        "format": FORMAT,
        "version": VERSION,
        **header,
        "noise_floor": None if floor is None else asdict(floor),
        "summary": None if summary is None else _finite(asdict(summary)),
        "sentences": [{"ids": list(s), "tokens": [text(t) for t in s]} for s in sentences],
        "columns": [*COLUMNS, *NUMBERS],
        "rectangles": rows(measured, text),
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, (tuple, list)):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and math.isnan(value) else value
