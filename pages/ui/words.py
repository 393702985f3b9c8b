"""Numbers and verdicts in plain words."""

from __future__ import annotations

import math

from glauber_core.profile import HOLD, WINDOW_SWEEPS, StateProfile, Verdict

ABSORBED = "This sentence never changes at temperature 0."
UNCHANGING = "This sentence never changes at this temperature."
OUTLASTED = "10^306 steps have passed, where the clock of a run ends: reset, or branch to go on."


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


def whole(number: int) -> str:
    """A whole number that is known: its digits below a million, else as ``count`` says it."""
    return f"{number:,}" if number < 1_000_000 else count(float(number))


def steps(number: int) -> str:
    """``whole`` with its unit."""
    return "1 step" if number == 1 else f"{whole(number)} steps"


def dwell(figures: StateProfile, skipped: int) -> str:
    """How long the state is expected to stay, as a clause."""
    if skipped:
        return (
            f"expected to stay {count(figures.dwell)} steps at most"
            if math.isfinite(figures.dwell)
            else "still to be filled in"
        )
    if math.isinf(figures.dwell):
        return "never leaves" if figures.tau == 0 else "expected to stay more than 10^300 steps"
    return f"expected to stay {count(figures.dwell)} steps"


NAMES = {"perfect": "perfect trap", "approximate": "approximate trap", "wandering": "wandering"}
WHY = {
    "margins": "Every word is the one the model itself would put there.",
    "holding": f"One step leaves the sentence as it is with probability {HOLD} or more.",
    "window": f"For {WINDOW_SWEEPS} sweeps at most an eighth of the words (at least 1) differed from one sentence.",
    "none": "Some word is not clearly the model's first choice, and no long stay is in sight.",
}


def badge(figures: StateProfile, found: Verdict, step: int) -> dict[str, object]:
    """The trap badge of the token strip."""
    if found.kind == "unknown":
        tip = "No free word of this sentence lies in the sampled vocabulary."
        return {"kind": "unknown", "text": "not yet known", "tip": tip, "step": step}
    warm = found.kind == "perfect" and figures.dwell < len(figures.margin)
    text = f"{NAMES[found.kind]}{', too warm to hold' if warm else ''}, {dwell(figures, found.skipped)}"
    rate = f"{figures.exit_rate:.3g}" if figures.log_exit > -700 else f"10^{figures.log_exit / math.log(10):.0f}"
    if found.skipped:
        kind = f"Left out: {found.skipped} outside the sampled vocabulary; exit rate q at least {rate} per step."
    else:
        kind = f"Exact at this temperature, up to the model's rounding: exit rate q = {rate} per step, mean stay 1/q."
    return {"kind": found.kind, "text": text, "tip": f"{WHY[found.reason]} {kind}", "step": step}
