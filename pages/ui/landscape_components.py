"""The map of the landscape page, drawn in the browser and changed in place as the chains move."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pages.ui.components import component

_LANDSCAPE = component("landscape")


def landscape(
    data: Mapping[str, Any], *, key: str, on_pick_change: Callable[[], None], on_resync_change: Callable[[], None]
) -> Any:
    """Points, trails, basins and the chains' present sentences.

    Args:
        data: ``epoch`` (a new one drops what was drawn), ``seq``, ``color`` (chain, step, topic or stay), ``topics``,
            ``landmarks`` ({t, x, y}), ``bounds`` ([x0, x1, y0, y1] of the landmarks), ``selected`` (a state),
            ``states`` ({from, rows: [x, y, text, topic index or -1]}: those from number ``from`` on), ``chains``
            ({from, visits: [state, sweep, log10 of the stay in steps]}), ``labels`` (basin of each state or -1; left
            out when unchanged), ``labelled`` (names the labels), ``basins`` (their numbers), ``now`` ({id, state,
            basin, text, where}), ``longest`` (log10 of a long stay), ``empty`` (shown while there is nothing).
        key: key of the component.
        on_pick_change: called when a point is clicked, with ``st.session_state[key].pick`` set.
        on_resync_change: called when the browser lacks something that was sent before.

    Returns:
        A result whose ``pick`` is ``{"state": number, "epoch": epoch}`` or None.
    """
    return _LANDSCAPE(key=key, data=dict(data), on_pick_change=on_pick_change, on_resync_change=on_resync_change)
