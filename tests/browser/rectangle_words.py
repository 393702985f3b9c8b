"""Sentences and numbers of rectangle_components_app.py."""

from __future__ import annotations

import math
from typing import Any

SENTENCE = "the doctor told the patient to drink more water and rest .".split()
NASTY = ["<img src=x onerror=window.hacked=1>", "$x$", "**x**", "<b>bold</b>", "", "\u200b", "x" * 90, "##ing"]
NEW = {"told": "asked", "drink": "eat"}
FIRST = {"xy": -2.3123456789012345, "yz": -1.94, "xw": -0.8700000000000001, "wz": -1.02}
SECOND = {"xy": -0.5, "yz": 1e-06, "xw": 123456789.0, "wz": 0.25}
VERDICTS: tuple[dict[str, str], ...] = (
    {
        "kind": "contradiction",
        "text": "the two orders disagree: no joint law can produce both",
        "tip": "delta is far above the noise floor.",
    },
    {"kind": "agree", "text": "the two orders agree within the noise", "tip": "delta is below the noise floor."},
    {"kind": "zero", "text": "zero by construction", "tip": "A causal model has a joint law."},
    {"kind": "odd", "text": "not yet known"},
)
MEANING = "The model likes “asked … eat” 10.6 times better when word 2 is changed first: its answers contradict."
CASES: dict[str, dict[str, Any]] = {
    "bare": {},
    "nothing": {
        "corners": None, "edges": None, "l1": None, "delta": None, "verdict": None, "meaning": None, "note": None
    },
    "wrong": {
        "corners": {"x": "text", "y": [None, 3, {"t": 5, "mark": "9new"}], "w": {}, "q": []}, "edges": {"xy": "much"},
        "l1": math.nan, "l2": -math.inf, "delta": "big", "relative": [], "floor": True,
        "verdict": {"kind": "__proto__"}, "meaning": 7,
    },
    "bare words": {"tokens": None, "picked": [99, -1, "x"], "label": None},
}  # fmt: skip
