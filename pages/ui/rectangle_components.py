"""The browser components of the rectangle test: a sentence to click two words in, and the drawing of the rectangle.

Like the others (see ``components``): drawn from the data of the latest run, changed in place, text as text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from pages.ui.components import component

_WORD_PICKER = component("word_picker")
_RECTANGLE = component("rectangle")

_EDGES = ("xy", "yz", "xw", "wz")
_FIGURES = ("l1", "l2", "delta", "relative", "floor")


def _nothing() -> None:
    pass


def word_picker(data: Mapping[str, Any], *, key: str, on_pick_change: Callable[[], None] | None = None) -> Any:
    """A sentence, large and centred, whose words can be clicked; the words picked wear a 1 and a 2.

    Args:
        data: ``tokens`` ({t, glue, oov, tip}; one with ``oov`` is dimmed and cannot be picked, and ``tip`` says more of
            any), ``picked`` (the positions of word 1 and word 2, as far as they are picked), ``rev`` (a new number for
            each new sentence) and ``label`` (a few words above).
        key: key of the component.
        on_pick_change: called when a word is clicked, with ``st.session_state[key].pick`` set.

    Returns:
        A result whose ``pick`` is ``{"pos": index, "n": number of the click, "rev": rev of the sentence clicked}`` or
        None. What a click means, the caller decides: nothing is marked until ``picked`` says so.
    """
    return _WORD_PICKER(key=key, data=dict(data), on_pick_change=on_pick_change or _nothing)


def rectangle(data: Mapping[str, Any], *, key: str) -> Any:
    """Four sentences that differ in two words, what each change costs, and by how much the two orders differ.

    Args:
        data: ``corners`` (``x``, ``y`` with word 1 changed, ``w`` with word 2 changed, ``z`` with both; lists of
            {t, glue, mark}, mark 0, 1, 2, "1new" or "2new"), ``edges`` (``xy``, ``yz``, ``xw``, ``wz``, in nats),
            ``l1``, ``l2``, ``delta`` and ``floor`` (nats), ``relative``, ``verdict`` ({kind, text, tip}; kind
            contradiction, agree or zero), ``meaning`` (one plain sentence), ``note``, ``empty`` (if not "", it is all
            that is shown, in the room of ``corners``; the other fields may then be absent). A number that is None or
            not finite is shown as unknown.
        key: key of the component.
    """
    edges = data.get("edges")
    numbers = {name: _number(edges.get(name)) if isinstance(edges, Mapping) else None for name in _EDGES}
    figures = {name: _number(data.get(name)) for name in _FIGURES}
    exact = {name: repr(value) for name, value in (numbers | figures).items() if value is not None}
    return _RECTANGLE(key=key, data={**data, **figures, "edges": numbers, "exact": exact})


def _number(value: Any) -> float | None:
    """A float that JSON can carry; the browser cannot read NaN and infinity."""
    if isinstance(value, (str, bool)):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
