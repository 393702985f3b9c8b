"""Small sweeps of exact models for the tests: quick cells, cold ones among them."""

from __future__ import annotations

from pathlib import Path

from glauber_core.mixing.plan import Plan
from glauber_core.mixing.store import TableRow, open_store
from glauber_core.mixing.sweep import run_sweep

PLAN = Plan(
    models=("exact:curie-weiss:1.5", "exact:table:3:1"),
    taus=(0.3, 3.0),
    lengths=(3, 4),
    starts=("extremes", "uniform"),
    pairs=4,
    horizon=20,
    seed=5,
)
# Fourteen cells of a tenth of a second or so, cold: long enough to be killed in.
SLOW = """
models = ["exact:curie-weiss:1.5"]
taus = [0.1, 0.2]
lengths = [10]
starts = ["extremes"]
replicates = 7
pairs = 4
horizon = 25
"""


def table(path: Path) -> list[TableRow]:
    with open_store(path) as store:
        return store.table()


def undisturbed(plan: Plan, folder: Path) -> list[TableRow]:
    """The table of a sweep in this process that nothing interrupts."""
    run_sweep(plan, folder / "undisturbed.sqlite")
    return table(folder / "undisturbed.sqlite")
