"""Results of a sweep in one SQLite file (WAL), a transaction a cell: a killed sweep loses the cells in hand alone.

After a kill the newest cells lie in the neighbour whose name ends in ``-wal``: move both, or open the file once first.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from glauber_core.errors import UserError
from glauber_core.mixing.cell import CellResult
from glauber_core.mixing.plan import Cell, Plan
from glauber_core.shape import versions

FORMAT = "glauber-sweep 1"
_WAIT_S = 30.0
_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS cells (
    key TEXT PRIMARY KEY, model TEXT NOT NULL, tau REAL NOT NULL, n INTEGER NOT NULL, start TEXT NOT NULL,
    replicate INTEGER NOT NULL, model_hash TEXT NOT NULL, shape TEXT NOT NULL, sweeps TEXT NOT NULL,
    distance TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pairs (
    key TEXT NOT NULL, pair INTEGER NOT NULL, steps INTEGER NOT NULL, met INTEGER NOT NULL,
    PRIMARY KEY (key, pair)) WITHOUT ROWID;
"""


class TableRow(NamedTuple):
    """One pair of one cell: a row of the sweep's table.

    Attributes:
        model, tau, n, start, replicate: the cell.
        pair: 0-based.
        steps: T, or the horizon if the pair did not meet.
        met: whether it met.
    """

    model: str
    tau: float
    n: int
    start: str
    replicate: int
    pair: int
    steps: int
    met: bool


class SweepStore:
    """An open sweep file. Use ``open_store`` or ``new_store``; one thread at a time."""

    def __init__(self, connection: sqlite3.Connection, plan: Plan) -> None:
        self._connection, self.plan = connection, plan

    @property
    def versions(self) -> dict[str, str]:
        """Versions it was begun with, of everything that can change a bit (``shape.versions``)."""
        row = self._connection.execute("SELECT value FROM meta WHERE name = 'versions'").fetchone()
        found: dict[str, str] = json.loads(row[0])
        return found

    def done(self) -> set[str]:
        """Keys of the cells that are complete."""
        return {row[0] for row in self._connection.execute("SELECT key FROM cells")}

    def add(self, result: CellResult) -> None:
        """Keep one cell, whole or not at all; one that is there already stays.

        Raises:
            UserError: other weights under the same model name than in earlier cells.
        """
        cell = result.cell
        self._check_weights(cell, result.model_hash)
        with self._connection:
            self._connection.execute(
                "INSERT INTO cells VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                (
                    *(cell.key, cell.model, cell.tau, cell.n, cell.start, cell.replicate, result.model_hash),
                    *map(json.dumps, (result.shape, result.sweeps, result.distance)),
                ),
            )
            self._connection.executemany(
                "INSERT INTO pairs VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                [(cell.key, k, *row) for k, row in enumerate(zip(result.steps, result.met, strict=True))],
            )

    def results(self) -> list[CellResult]:
        """All complete cells, in the order of the plan."""
        pairs: dict[str, list[tuple[int, bool]]] = {}
        query = "SELECT key, steps, met FROM pairs ORDER BY key, pair"
        for key, steps, met in self._connection.execute(query):
            pairs.setdefault(key, []).append((steps, bool(met)))
        found = {}
        for key, model, tau, n, start, replicate, model_hash, *texts in self._connection.execute("SELECT * FROM cells"):
            shape, sweeps, distance = map(json.loads, texts)
            steps, met = zip(*pairs[key], strict=True)
            cell = Cell(model, tau, n, start, replicate)
            found[key] = CellResult(cell, model_hash, shape, steps, met, tuple(sweeps), tuple(distance))
        return [found[cell.key] for cell in self.plan.cells() if cell.key in found]

    def table(self) -> list[TableRow]:
        """Every pair of every complete cell, in the order of the plan: the same whatever the backend, however often the
        sweep was killed."""
        return [
            TableRow(*(r.cell.model, r.cell.tau, r.cell.n, r.cell.start, r.cell.replicate), k, steps, met)
            for r in self.results()
            for k, (steps, met) in enumerate(zip(r.steps, r.met, strict=True))
        ]

    def _check_weights(self, cell: Cell, model_hash: str) -> None:
        query = "SELECT model_hash FROM cells WHERE model = ? AND n = ? LIMIT 1"  # an exact table has one for each n
        row = self._connection.execute(query, (cell.model, cell.n)).fetchone()
        if row is not None and row[0] != model_hash:
            raise UserError(f"{cell.model} has other weights than when this sweep was begun; begin a new file.")


@contextmanager
def new_store(path: Path, plan: Plan, texts: str) -> Iterator[SweepStore]:
    """Open a sweep file for writing: a new one, or one that was begun with the same plan and the same versions.

    Args:
        path: the file.
        plan: what it is for.
        texts: hash of the start sentences (``cell.texts_hash``).

    Raises:
        UserError: it cannot be written, is no sweep, or was begun with another plan or other versions.
    """
    with _connected(path) as connection:
        try:
            mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
            with connection:
                for statement in filter(str.strip, _SCHEMA.split(";")):
                    connection.execute(statement)
                fresh = {"format": FORMAT, "plan": plan.to_json(), "texts": texts}
                fresh["versions"] = json.dumps(versions(), sort_keys=True)
                connection.executemany("INSERT INTO meta VALUES (?, ?) ON CONFLICT DO NOTHING", fresh.items())
            kept = dict(connection.execute("SELECT name, value FROM meta"))
        except sqlite3.Error as error:
            raise UserError(f"{path} cannot be used for a sweep: {error}.") from None
        if mode != "wal":
            raise UserError(f"{path} lies where SQLite cannot write safely while it is read; choose a local disk.")
        if kept["format"] != FORMAT or kept["plan"] != fresh["plan"]:
            raise UserError(f"{path} was begun with another plan; use that one, or name another file.")
        if kept["texts"] != fresh["texts"]:
            raise UserError(f"{path} was begun with other start sentences; begin a new file.")
        if kept["versions"] != fresh["versions"]:
            was, now = (json.loads(v["versions"]) for v in (kept, fresh))
            name = next(k for k in now if was.get(k) != now[k])
            raise UserError(f"{path} was begun with {name} {was.get(name)}, this is {now[name]}; begin a new file.")
        yield SweepStore(connection, plan)


@contextmanager
def open_store(path: Path) -> Iterator[SweepStore]:
    """Open a sweep file for reading, also while a sweep writes to it.

    Raises:
        UserError: no such file, or no sweep.
    """
    if not path.is_file():
        raise UserError(f"There is no sweep at {path}.")
    with _connected(path) as connection:
        try:
            kept = dict(connection.execute("SELECT name, value FROM meta"))
            plan = Plan.from_dict(json.loads(kept["plan"]))
        except (sqlite3.Error, KeyError, ValueError):
            raise UserError(f"{path} holds no sweep.") from None
        yield SweepStore(connection, plan)


@contextmanager
def _connected(path: Path) -> Iterator[sqlite3.Connection]:
    try:
        connection = sqlite3.connect(path, timeout=_WAIT_S)
    except sqlite3.Error as error:
        raise UserError(f"{path} cannot be opened: {error}.") from None
    try:
        yield connection
    finally:
        connection.close()
