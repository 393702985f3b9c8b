"""Run records for the tests of this folder."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from glauber_core.record import Entry, RunHeader, RunRecord

HEADER = RunHeader("a model", "ab12", (3, 1, 4), 'a "quoted", text\nin two lines 猫', 7, 2, {"rows": 1}, {"torch": "2"})


def same(a: Any, b: Any) -> bool:
    """Equality where NaN equals NaN."""
    if isinstance(a, float) and isinstance(b, float) and math.isnan(a) and math.isnan(b):
        return True
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


def long_record(steps: int, seed: int = 0) -> RunRecord:
    """Random steps, resamplings and edits on three positions."""
    rng = np.random.default_rng(seed)
    record, state = RunRecord(HEADER), list(HEADER.start)
    for _ in range(steps):
        kind, i, new = str(rng.choice(["step", "resample", "edit"])), int(rng.integers(3)), int(rng.integers(5))
        numbers = (
            (math.nan,) * 3 if kind == "edit" else (-float(rng.random()), float(rng.random()), float(rng.normal()))
        )
        record.append(Entry(kind, i, state[i], new, numbers[0], float(rng.random()), *numbers[1:]))
        state[i] = new
    return record
