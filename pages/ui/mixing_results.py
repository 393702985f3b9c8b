"""The phase diagram that comes with the package, and the physics check."""

from __future__ import annotations

from typing import Any

import streamlit as st

from glauber_core.errors import UserError
from glauber_core.figures import mixing as figures
from glauber_core.mixing.phase import Boundary, boundaries, growth
from glauber_core.mixing.shipped import fits_weights, shipped, shipped_sweep
from glauber_core.mixing.store import open_store
from pages.ui.rectangle_tests import plot
from pages.ui.style import say

BETAS = (0.3, 0.6, 0.9, 1.0, 1.2)


@st.cache_data(show_spinner="Solving the magnet exactly ...", max_entries=4)
def _magnet(n: int) -> Any:
    return figures.curie_weiss(n, BETAS)


def phase() -> None:
    """Median coupling time over tau x n, and the curves of one length."""
    try:
        table = shipped("plan")
    except UserError as error:
        say("note", str(error))
        return
    if not fits_weights(table):
        say("notice", "This diagram was measured with other weights than the built-in model has now.")
    found = boundaries(table.points)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.markdown("**Median coupling time of the built-in model**, in sweeps")
        plot(figures.phase_diagram(table.points, found), "m_phase", 430)
    with right:
        n = st.selectbox("distance of the pairs at length", sorted({p.n for p in table.points}), key="m_length")
        with open_store(shipped_sweep("plan")) as store:
            cells = [r for r in store.results() if r.cell.n == n]
        plot(figures.distance_curves(cells), "m_curves", 350)
    say("hint", _boundary_words(found))
    try:
        say("hint", _growth_words())
    except UserError:
        pass
    plan = table.plan
    say(
        "hint",
        f"{plan.pairs * plan.replicates} pairs a cell from starters of different topics, watched for {plan.horizon} "
        "sweeps. A sweep of your own: python -m glauber_core sweep plan.toml (see the README).",
    )


def _boundary_words(found: list[Boundary]) -> str:
    known = [b for b in found if b.slow > 0 and b.fast < 1e300]
    said = [f"n = {b.n}: between {b.slow:g} and {b.fast:g}" for b in known]
    return "Slow below, fast above (median 10 times that at the hottest temperature): " + "; ".join(said) + "."


def _growth_words() -> str:
    found = growth(shipped("hot").points, 3.0)
    own = found.by_name("n log n")
    return (
        f"At tau = 3 the median grows with the length about as C n log n, C = {own.scale:.2f} steps (95 % interval "
        f"{own.scale_low:.2f} to {own.scale_high:.2f}); of n log n, n^2 and exp(c n), {found.fits[0].name} fits best."
    )


def physics() -> None:
    """Curie-Weiss: exact distance curves and mixing times beside their lines."""
    n = st.segmented_control("spins", (50, 100, 200, 500), default=200, key="m_spins", required=True)
    figure, rows = _magnet(int(n))
    st.markdown("**A magnet whose mixing is known**: exact distance from stationarity, from all spins up")
    plot(figure, "m_magnet", 380)
    st.dataframe(rows, hide_index=True, key="m_magnet_table")
    say(
        "hint", "Below beta = 1 the curves fall after a time of order n log n, as hot sentences do; above, they do not."
    )
