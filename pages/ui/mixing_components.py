"""The two coupled chains of the mixing page, drawn in the browser and changed in place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pages.ui.components import component

_COUPLING = component("coupling")


def coupling(data: Mapping[str, Any], *, key: str) -> Any:
    """Two sentences word above word, fused where they agree, and their distance over time.

    Args:
        data: ``epoch`` (a new pair begins), ``title``, ``words`` ({x, y: token ids, xt, yt: their texts}), ``step``,
            ``said`` (what is to be read below), ``curve`` ([sweep, share of words that differ]), ``met`` (the sweep at
            which they met, or None).
        key: key of the component.
    """
    return _COUPLING(key=key, data=dict(data))
