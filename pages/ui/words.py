"""Numbers and verdicts in plain words."""

from __future__ import annotations

import math

from glauber_core.profile import HOLD, WINDOW_SWEEPS, StateProfile, Verdict


def count(value: float) -> str:
    """A number of steps as a person reads it: 3.2, 47, 32,000, 4.1 million, 10^14."""
    if math.isinf(value):
        return "for ever"
    if value < 10:
        return f"{value:.1f}"
    if value < 1e6:
        return f"{float(f'{value:.2g}'):,.0f}" if value >= 100 else f"{value:.0f}"
    if value < 1e12:
        scale, name = (1e9, "billion") if value >= 1e9 else (1e6, "million")
        return f"{value / scale:.1f} {name}"
    return f"10^{math.log10(value):.0f}"


def dwell(figures: StateProfile) -> str:
    """How long the state is expected to stay, as a clause."""
    if math.isinf(figures.dwell):
        return "never leaves" if figures.tau == 0 else "expected to stay more than 10^300 steps"
    return f"expected to stay {count(figures.dwell)} steps"


def badge(figures: StateProfile, found: Verdict, step: int) -> dict[str, object]:
    """The trap badge of the token strip."""
    names = {
        "perfect": "perfect trap",
        "approximate": "approximate trap",
        "wandering": "wandering",
        "unknown": "not yet known",
    }
    skipped = f" Left out: {found.skipped} position(s) outside the sampled vocabulary." if found.skipped else ""
    why = {
        "margins": "Every word is the one the model itself would put there.",
        "holding": f"One step leaves the sentence as it is with probability {HOLD} or more.",
        "window": f"For {WINDOW_SWEEPS} sweeps the chain has stayed within an eighth of its words of one sentence.",
        "none": "Some word is not the model's first choice, and the sentence changes often.",
    }[found.reason]
    if found.kind == "unknown":
        return {
            "kind": "unknown",
            "text": names["unknown"],
            "tip": f"No figures for this sentence.{skipped}",
            "step": step,
        }
    text = f"{names[found.kind]}, {dwell(figures)}"
    exact = f"Exact at this temperature: exit rate q = {figures.exit_rate:.3g} per step, mean stay 1/q."
    return {"kind": found.kind, "text": text, "tip": f"{why} {exact}{skipped}", "step": step}
