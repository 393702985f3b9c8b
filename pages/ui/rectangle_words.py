"""The rectangle test in plain words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from glauber_core.models.surface import Surface
from glauber_core.models.vocabulary import Vocabulary
from glauber_core.rectangle import Probe, Summary
from glauber_core.rectangle.floor import Floor

PAPER = (
    "The paper (arXiv 2605.16378) reports delta between 0.64 and 0.80 for BERT, RoBERTa and ModernBERT, and 0 for the "
    "causal model GPT-2. Its rectangles may be drawn by another rule, so these figures are quoted, not plotted."
)
REPLACEMENTS = {
    "natural": "natural: as the model draws",
    "top-k": "top-k: of the k likeliest",
    "uniform": "uniform: any word",
}
POSITIONS = {
    "all": "all pairs",
    "random": "random pairs",
    "adjacent": "neighbours",
    "distance": "a given distance",
}


def number(value: float) -> str:
    """Nats as a person reads them: three digits, and a power of ten where it is tiny."""
    if value == 0:
        return "0"
    if abs(value) < 1e-9:
        return "< 1e-9"
    return f"{value:.2f}" if abs(value) >= 0.095 else f"{value:.2g}"


def meaning(probe: Probe, first: str, second: str, lost: bool = False) -> str:
    """What this rectangle says, and what it does not."""
    if probe.verdict == "contradiction":
        factor = f"{math.exp(probe.delta):.3g}" if probe.delta < 600 else f"e^{probe.delta:.0f}"
        if probe.delta >= 0.05:
            how = f"\u201c{first}\u201d first or \u201c{second}\u201d first: the odds differ {factor}-fold."
        else:
            how = "The two orders disagree by little, but by more than rounding could."
        return (
            f"{how} No joint law of sentences has these conditionals. "
            "This does not say which order is right, nor that the model guesses badly."
        )
    if probe.verdict == "agree":
        return (
            "The two orders agree as far as rounding shows. Here is no contradiction; another rectangle may have one."
        )
    if probe.verdict == "zero":
        return "This model has a joint law, so both orders agree by construction."
    if lost:
        return "The noise floor of this model could not be measured, so a small delta could be rounding."
    return "The noise floor of this model is being measured; until then a small delta could be rounding."


def judged(probe: Probe, floor: float) -> Probe:
    """The probe with a noise floor (nats at tau = 1) that has become known since."""
    return replace(probe, floor=floor, verdict="contradiction" if probe.delta > floor else "agree")


def badge(probe: Probe, floor: Floor | None, lost: bool = False) -> dict[str, str]:
    """The verdict of the drawing."""
    if lost:
        tip = "It is measured on starter sentences, of which this model must know some words; a test measures its own."
        return {"kind": "unknown", "text": "noise floor not known", "tip": tip}
    if floor is None:
        return {"kind": "unknown", "text": "noise floor being measured", "tip": "A few seconds, once for each model."}
    tip = (
        f"Noise floor {floor.value:.2g} nats, an estimate: the largest difference between {floor.dtype} and float64, "
        f"or between batch shapes, over {floor.rectangles} reference rectangles of this model."
    )
    if probe.verdict == "contradiction":
        return {"kind": "contradiction", "text": "contradiction: no joint law", "tip": tip}
    return {"kind": "agree", "text": "no contradiction seen here", "tip": tip}


def figures(summary: Summary, floor: Floor) -> str:
    """The outcome of a test in one or two sentences."""
    s = summary
    over = f"{s.rectangles:,} rectangles" + ("" if s.sentences == 1 else f" of {s.sentences} sentences")
    interval = s.intervals.get("median")
    spread = f" (95 % interval {number(interval[0])} to {number(interval[1])}, over sentences)" if interval else ""
    share = "All" if s.above == 1 else "None" if s.above == 0 else f"{100 * s.above:.1f} %"
    return (
        f"Median delta {number(s.median)} nats{spread}, mean {number(s.mean)}, over {over}. "
        f"{share} of them lie above the noise floor of {floor.value:.1g} nats."
    )


def corner(vocabulary: Vocabulary, ids: Sequence[int], i: int, j: int, new: frozenset[int]) -> list[dict[str, object]]:
    """One corner sentence for the drawing; ``new`` holds the positions that were changed."""
    marks = {i: "1", j: "2"}
    found: list[dict[str, object]] = []
    for k, token in enumerate(ids):
        piece: Surface = vocabulary.surface(token)
        mark: object = 0
        if k in marks:
            mark = f"{marks[k]}new" if k in new else int(marks[k])
        found.append({"t": piece.text, "glue": piece.glued and k > 0, "mark": mark})
    return found


def drawing(probe: Probe, vocabulary: Vocabulary, floor: Floor | None, lost: bool) -> dict[str, object]:
    """Data of the rectangle component; ``lost`` says that there will be no noise floor."""
    i, j = probe.i, probe.j
    both = frozenset((i, j))
    first, second = (vocabulary.surface(probe.x[k]).text for k in (i, j))
    corners = {
        "x": corner(vocabulary, probe.x, i, j, frozenset()),
        "y": corner(vocabulary, probe.y, i, j, frozenset((i,))),
        "w": corner(vocabulary, probe.w, i, j, frozenset((j,))),
        "z": corner(vocabulary, probe.z, i, j, both),
    }
    return {
        "corners": corners,
        "edges": dict(zip(("xy", "yz", "xw", "wz"), probe.ratios, strict=True)),
        "l1": probe.l1,
        "l2": probe.l2,
        "delta": probe.delta,
        "relative": probe.relative,
        "floor": probe.floor,
        "verdict": badge(probe, floor, lost),
        "meaning": meaning(probe, first, second, lost),
        "empty": "",
    }
