"""Topics on the way: where chains from each start spent their time, beside what text has by itself."""

from __future__ import annotations

import numpy as np
import streamlit as st

from glauber_core.figures import landscape as figures
from glauber_core.landscape.analysis import Analysis
from glauber_core.landscape.projection import card
from glauber_core.landscape.recurrence import MIN_CHAINS, recurrence, share_interval, table
from pages.ui.landscape_session import LandscapeSession, Scene
from pages.ui.rectangle_tests import plot
from pages.ui.style import say


def panel(session: LandscapeSession, scene: Scene, analysis: Analysis) -> None:
    """Start topics against visits, recurrence of one topic, and its background rates."""
    names = session.maps.topics
    topic = scene.plane.topic[: len(scene.picture.texts)]
    visits, per_sweep = scene.picture.visits, analysis.per_sweep
    starts = [start.topic or "my sentence" for start in session.expedition.starts] if session.expedition else []
    found = table(visits, starts, topic, len(names), per_sweep)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.markdown("**Share of time in each topic, by where chains began**")
        plot(figures.topic_matrix(found.share, found.starts, names), "l_topic_matrix", 120 + 44 * len(found.starts))
    with right:
        which = st.selectbox("topic", range(len(names)), names.index("politics"), names.__getitem__, key="l_topic")
        rows = [recurrence(v, topic, which, s) for v, s in zip(visits, per_sweep, strict=True)]
        st.dataframe(
            [
                {
                    "chain": "ABCDEFGH"[k],
                    "start": start,
                    "first there (sweeps)": "never" if np.isnan(r.first) else f"{r.first:,.1f}",
                    "returns": r.returns,
                    "share of time": f"{100 * r.share:.1f} %",
                }
                for k, (r, start) in enumerate(zip(rows, starts, strict=True))
            ],
            hide_index=True,
            key="l_recurrence",
        )
        say("hint", _judged(np.array([r.share for r in rows]), names[which]))


def _judged(shares: np.ndarray, name: str) -> str:
    mean = f"Chains spent {100 * shares.mean():.1f} % of their time in {name}"
    if len(shares) >= MIN_CHAINS:
        low, high = share_interval(shares)
        mean += f" (95 % interval over {len(shares)} chains: {100 * low:.1f} to {100 * high:.1f} %)"
    else:
        mean += f" (an interval needs {MIN_CHAINS} chains)"
    rates = []
    for kind, figures_ in dict(card()["background"]).items():  # type: ignore[call-overload]
        rates.append(f"{kind} {100 * figures_['share_clear'][name]:.1f} %")
    return (
        f"{mean}. The same topic is named in: {'; '.join(rates)}. Only what exceeds these says something about chains."
    )
