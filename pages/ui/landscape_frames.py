"""What the map in the browser is sent: what is new since a few beats ago, or everything when it asks."""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

import numpy as np

from pages.ui.landscape_session import LandscapeSession, Scene, stay_power
from pages.ui.words import whole

OVERLAP = 4  # beats whose news are sent again: the browser may have been busy


class _Sent(NamedTuple):
    """How much had been sent: states, visits of each chain, and which basins."""

    states: int
    visits: tuple[int, ...]
    labelled: int


class Wire:
    """Remembers what one visitor's browser was sent."""

    def __init__(self) -> None:
        self._epoch: int | None = None
        self._seq = 0
        self._history: deque[_Sent] = deque(maxlen=OVERLAP)

    def resync(self) -> None:
        """The browser has lost something: send everything next time."""
        self._history.clear()

    def message(self, session: LandscapeSession) -> dict[str, Any]:
        """Data of the map (``landscape_components.landscape``)."""
        if self._epoch != session.epoch:
            self._epoch = session.epoch
            self._history.clear()
        self._seq += 1
        maps, scene = session.maps, session.scene
        common = {
            "epoch": session.epoch,
            "seq": self._seq,
            "color": session.address.color,
            "topics": list(maps.topics),
            "landmarks": [{"t": m.name, "x": m.x, "y": m.y} for m in maps.landmarks],
            "bounds": _bounds([(m.x, m.y) for m in maps.landmarks]),
            "selected": session.selected,
        }
        if scene is None:
            return common | {"empty": "Press run: every sentence that a chain visits becomes a point.", "now": []}
        since = self._history[0] if len(self._history) == OVERLAP else _Sent(0, (0,) * len(scene.picture.visits), -1)
        labels = None if scene.analysis is None else scene.analysis.labels
        labelled = -1 if labels is None else id(scene.analysis)
        self._history.append(
            _Sent(len(scene.picture.texts), tuple(len(v.state) for v in scene.picture.visits), labelled)
        )
        found = common | {
            "states": {"from": since.states, "rows": _states(scene, since.states)},
            "chains": _chains(scene, since.visits, session),
            "basins": [] if scene.analysis is None else [b.number for b in scene.analysis.basins],
            "now": _now(scene, session),
            "longest": 6.0,
            "labelled": labelled,
        }
        if labels is not None and since.labelled != labelled:
            found["labels"] = labels.tolist()
        return found


def _bounds(places: list[tuple[float, float]]) -> list[float]:
    x, y = np.array(places).T
    return [float(x.min()), float(x.max()), float(y.min()), float(y.max())]


def _states(scene: Scene, first: int) -> list[list[Any]]:
    xy, topic, texts = scene.plane.xy[first:].round(4), scene.plane.topic[first:], scene.picture.texts[first:]
    return [[x, y, text, t] for (x, y), text, t in zip(xy.tolist(), texts, topic.tolist(), strict=True)]


def _chains(scene: Scene, since: tuple[int, ...], session: LandscapeSession) -> list[dict[str, Any]]:
    per_sweep = session.expedition.per_sweep if session.expedition else (1,) * len(since)
    found = []
    for visits, sent, steps in zip(scene.picture.visits, since, per_sweep, strict=True):
        first = max(0, sent - 1)  # the last visit was still going on
        power = stay_power(visits.dwell[first:], visits.log_exit[first:])
        at = [round(t / steps, 2) for t in visits.entered[first:]]
        rows = [list(row) for row in zip(visits.state[first:].tolist(), at, power, strict=True)]
        found.append({"from": first, "visits": rows})
    return found


def _now(scene: Scene, session: LandscapeSession) -> list[dict[str, Any]]:
    """Where each chain is, in words."""
    labels = np.empty(0, dtype=int) if scene.analysis is None else scene.analysis.labels
    per_sweep = session.expedition.per_sweep if session.expedition else (1,) * len(scene.picture.visits)
    rows = []
    for k, visits in enumerate(scene.picture.visits):
        state = int(visits.state[-1])
        basin = int(labels[state]) + 1 if state < len(labels) else 0
        topic = int(scene.plane.topic[state])
        sweeps = scene.picture.elapsed[k] / per_sweep[k]
        place = f"basin {basin}" if basin > 0 else "in no basin"
        about = f", {session.maps.topics[topic]}" if topic >= 0 else ""
        end = ", never left: frozen" if scene.picture.absorbed[k] else ""
        time = f"{whole(round(sweeps))} sweeps"
        rows.append(
            {
                "id": "ABCDEFGH"[k],
                "state": state,
                "basin": basin,
                "text": scene.picture.texts[state],
                "where": f"{place}{about} after {time}{end}",
            }
        )
    return rows
