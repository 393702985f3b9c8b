"""The browser components of the live page: temperature, token strips, conditional, time line scrubber, timelines.

Each is drawn in the browser from the data of the latest run and changed in place. Text goes in as text, never as HTML.
The wrappers pass data on; what comes back is whatever the browser sent, so callers check it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import streamlit as st

_SOURCES = Path(__file__).parent / "frontend"

# As in frontend/shared.js: the colour at 0, 0.5 and 1 of the slider's track, of which 0 to 2 takes 0.7.
_STOPS = ((0, 114, 178), (139, 111, 156), (213, 94, 0))
_KNEE, _KNEE_AT, _MAX = 2.0, 0.7, 5.0


def component(name: str, *parts: str) -> Any:
    """The component whose source is ``frontend/name.js`` and ``.css``, after the shared helpers and ``parts``."""

    def source(suffix: str, stems: tuple[str, ...]) -> str:
        return "\n".join((_SOURCES / f"{stem}{suffix}").read_text(encoding="utf-8") for stem in stems)

    scripts, styles = source(".js", ("shared", *parts, name)), source(".css", ("shared", name))
    return st.components.v2.component(f"glauber_{name}", js=scripts, css=styles)


_TAU_CONTROL = component("tau_control")
_STAGE = component("stage", "stage_drawing")
_CONDITIONAL_PANEL = component("conditional_panel")
_SCRUBBER = component("scrubber")
_TIMELINES = component("timelines")


def _nothing() -> None:
    pass


def tau_color(tau: float) -> str:
    """``#rrggbb`` of a temperature: cold blue at 0 to hot orange at 5 and above, the same as in the browser."""
    if not tau > 0:
        u = 0.0
    elif tau <= _KNEE:
        u = tau / _KNEE * _KNEE_AT
    else:
        u = min(1.0, _KNEE_AT + (tau - _KNEE) / (_MAX - _KNEE) * (1 - _KNEE_AT))
    side = 0 if u < 0.5 else 1
    w = u * 2 - side
    mixed = (int(a * (1 - w) + b * w + 0.5) for a, b in zip(_STOPS[side], _STOPS[side + 1], strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def tau_control(tau: float, *, key: str, rev: int = 0, disabled: bool = False, label: str = "temperature") -> float:
    """The temperature slider, with a field for typed values; runs the script again while it is dragged.

    Args:
        tau: value to show first, and whenever ``rev`` is a new number; otherwise the browser's own value stays.
        key: key of the component.
        rev: raise it to make the control take ``tau``.
        disabled: show it without letting it be moved.
        label: words above the track.

    Returns:
        The value set in the browser since ``rev`` was last raised, else ``tau``. Not checked: it may be any float.
    """
    data = {"tau": tau, "rev": rev, "disabled": disabled, "label": label}
    sent = _TAU_CONTROL(key=key, data=data, on_tau_change=_nothing).tau
    value = sent.get("tau") if isinstance(sent, Mapping) and sent.get("rev") == rev else None
    if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300:
        return float(value)
    return tau


def stage(data: Mapping[str, Any], *, key: str, on_pick_change: Callable[[], None] | None = None) -> Any:
    """Token strips of one to four chains, which play the frames of each new block at their own pace.

    Args:
        data: ``epoch`` (a new one drops what is queued), ``seq`` (number of the block in the epoch: one already seen is
            not played again), ``playing``, ``frame_ms``, ``color`` (none, age, probability, entropy or margin),
            ``n_free`` (steps in a sweep) and ``chains``. A chain has ``id``, ``title``, ``tau``, ``step``, ``tokens``
            ({t, glue, locked, oov}), ``age`` (steps), ``probability``, ``entropy`` and ``margin`` (nats), all of the
            state before the block; ``frames`` ({s, i, t, glue, oov, c, tau, p, h, m}); ``badge`` ({kind, text, tip,
            step}) and ``counters``, shown when the block has been played; ``selected``, shown at once. Where steps are
            no measure of time, ``unit`` is ``entry``; a chain and each of its frames then have ``said`` ({wait, clock,
            count}, words shown as they are), the chain ``waits`` (the wait before each word's last change, in words)
            and ``end`` (why it does not go on, shown when the block has been played).
        key: key of the component.
        on_pick_change: called when a word is clicked, with ``st.session_state[key].pick`` set.

    Returns:
        A result whose ``pick`` is ``{"chain": id, "pos": index, "step": step shown}`` or None.
    """
    return _STAGE(key=key, data=dict(data), on_pick_change=on_pick_change or _nothing)


def conditional_panel(data: Mapping[str, Any], *, key: str, on_choose_change: Callable[[], None] | None = None) -> Any:
    """Bars of the 15 likeliest words at one position, at the present temperature and at 1.

    Args:
        data: ``title``, ``subtitle``, ``rows`` ({id, t, p, p1, rank, current}), ``current`` (such a row, or None if it
            is among them), ``entropy`` and ``entropy1`` (nats), ``other`` (probability of all other words), ``tau``,
            ``note``, ``empty`` (shown in the same room when there are no rows; the other fields may then be absent).
        key: key of the component.
        on_choose_change: called when a row is clicked, with ``st.session_state[key].choose`` set.

    Returns:
        A result whose ``choose`` is ``{"id": token id}`` or None.
    """
    return _CONDITIONAL_PANEL(key=key, data=dict(data), on_choose_change=on_choose_change or _nothing)


def scrubber(
    cursor: int,
    head: int,
    note: str,
    *,
    key: str,
    unit: str = "step",
    disabled: bool = False,
    on_seek_change: Callable[[], None],
) -> Any:
    """A slider over the steps of a run. Streamlit's own carries an old place over when its length changes.

    Args:
        cursor, head: the step shown and the last one computed.
        note: a few words at the right.
        key: key of the component.
        unit: what is counted.
        disabled: show it without letting it be moved.
        on_seek_change: called when it is moved, with ``st.session_state[key].seek`` set.

    Returns:
        A result whose ``seek`` is ``{"step": number}`` or None.
    """
    data = {"cursor": cursor, "head": head, "note": note, "unit": unit, "disabled": disabled}
    return _SCRUBBER(key=key, data=data, on_seek_change=on_seek_change)


def timelines(data: Mapping[str, Any], *, key: str, on_seek_change: Callable[[], None] | None = None) -> Any:
    """Holding probability, words at the argmax and changes per sweep (or waits) over time, one line for each chain.

    Args:
        data: ``n`` (words), ``cursor`` and ``xmax`` (sweeps) and ``chains``: ``id``, ``title``, ``holding``
            ([sweep, h, expected stay in steps]), ``argmax``, ``changes`` and ``tau`` ([sweep, value]), by time. With
            ``unit`` ``entry`` x is in entries, and ``waits`` ([entry, log10 of steps, words]) replaces ``changes``.
        key: key of the component.
        on_seek_change: called on a click, with ``st.session_state[key].seek`` set.

    Returns:
        A result whose ``seek`` is ``{unit: number from 0 to xmax}`` or None.
    """
    return _TIMELINES(key=key, data=dict(data), on_seek_change=on_seek_change or _nothing)
