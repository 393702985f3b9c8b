"""Sweeps of the built-in model that come with the package: plan (TOML), phase table (CSV), and the whole file (SQLite).

plan    the phase diagram: tau x n, cold cells with a horizon of at least 100 times the hot median
hot     tau = 3 at four lengths, 32 pairs each: how the coupling time grows with n

Made by ``python -m glauber_core sweep NAME.toml --csv NAME.csv``; the header of the CSV holds the hash of the weights.
"""

from __future__ import annotations

from pathlib import Path

from glauber_core.errors import UserError
from glauber_core.mixing.export import PhaseFile, read_phase_csv
from glauber_core.mixing.plan import Plan
from glauber_core.models.source import ASSETS, locate

NAMES = ("plan", "hot")
FOLDER = ASSETS / "mixing"


def shipped(name: str = "plan") -> PhaseFile:
    """A shipped phase table. Raises UserError: there is none of that name."""
    return read_phase_csv(_file(name, ".csv").read_text(encoding="utf-8"))


def shipped_plan(name: str = "plan") -> Plan:
    """The plan it was made by. Raises UserError: there is none of that name."""
    return Plan.from_path(_file(name, ".toml"))


def shipped_sweep(name: str = "plan") -> Path:
    """Its results, for ``store.open_store``: every pair, and distance curves. Raises UserError as ``shipped``."""
    return _file(name, ".sqlite")


def fits_weights(table: PhaseFile) -> bool:
    """True if every model of a table has the weights that are found under its name now.

    Raises:
        UserError: a model that cannot be found.
    """
    return all(locate(name).sha256 == digest for name, digest in table.model_hashes.items())


def _file(name: str, ending: str) -> Path:
    if name not in NAMES:
        raise UserError(f"There is no shipped sweep {name}; there are {', '.join(NAMES)}.")
    return FOLDER / f"{name}{ending}"
