"""The plan of a sweep: models x tau x n x start x replicate, read from a small TOML file.

models = ["glauber-mini"]       # names as of ``load``, or exact ones (``subjects``)
taus = [0.7, 1.0, 3.0]
lengths = [8, 12, 16]           # tokens
starts = ["topics"]             # "topics", "uniform", "extremes" or "file:sentences.csv" (``starts``)
replicates = 2                  # cells of each kind
pairs = 8                       # coupled pairs in a cell
horizon = 500                   # sweeps; a pair that has not met by then is censored
seed = 1
"""

from __future__ import annotations

import hashlib
import json
import math
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from glauber_core.errors import UserError
from glauber_core.mixing.subjects import check_name
from glauber_core.models.source import BUILT_IN
from glauber_core.streams import MAX_SEED, check_seed
from glauber_core.temperature import check_tau

MAX_CELLS = 100_000
MAX_LENGTH, MAX_PAIRS, MAX_SWEEPS = 512, 10_000, 10**7
STARTS = ("topics", "uniform", "extremes")
FILE = "file:"


@dataclass(frozen=True)
class Cell:
    """One cell of the grid.

    Attributes:
        model: its name.
        tau: temperature.
        n: tokens.
        start: one of ``STARTS``, or ``file:`` and a path.
        replicate: 0-based.
    """

    model: str
    tau: float
    n: int
    start: str
    replicate: int

    @property
    def key(self) -> str:
        """Names the cell in a store; part of its random stream."""
        return f"{self.model} | tau {self.tau!r} | n {self.n} | {self.start} | {self.replicate}"

    def seed(self, plan_seed: int) -> int:
        """Seed of the cell's own streams: it depends on the plan's seed and this cell alone, not on the grid."""
        digest = hashlib.sha256(f"{plan_seed} | {self.key}".encode()).digest()
        return int.from_bytes(digest[:8], "big") & MAX_SEED


@dataclass(frozen=True)
class Plan:
    """What a sweep measures.

    Attributes:
        models, taus, lengths, starts: the grid.
        replicates: cells for each of its points.
        pairs: coupled pairs a cell.
        horizon: sweeps after which a pair is censored. Take at least 100 times the median of the hottest tau, or a
            censored cell stays undecided (``phase``).
        seed: of all streams.
        rows: rows of a micro-batch (the canonical shape); one thread everywhere.
        device: where the models run.

    Raises:
        UserError: an empty or doubled list, or a value outside its range.
    """

    models: tuple[str, ...] = (BUILT_IN,)
    taus: tuple[float, ...] = (0.7, 1.0, 1.5, 2.0, 3.0)
    lengths: tuple[int, ...] = (8, 12, 16)
    starts: tuple[str, ...] = ("topics",)
    replicates: int = 1
    pairs: int = 8
    horizon: int = 500
    seed: int = 0
    rows: int = 8
    device: str = "cpu"

    def __post_init__(self) -> None:
        for name in ("models", "taus", "lengths", "starts"):
            values = getattr(self, name)
            if not values or len(set(values)) < len(values):
                raise UserError(f"The plan's {name} must be a list of one or more different values.")
        for model in self.models:
            check_name(model)
        for tau in self.taus:
            check_tau(tau)
        for n in self.lengths:
            _whole("lengths", n, 1, MAX_LENGTH)
        for start in self.starts:
            if start not in STARTS and not (start.startswith(FILE) and len(start) > len(FILE)):
                raise UserError(f"A start must be one of {', '.join(STARTS)}, or {FILE} and a path.")
        _whole("replicates", self.replicates, 1, 10_000)
        _whole("pairs", self.pairs, 1, MAX_PAIRS)
        _whole("horizon", self.horizon, 1, MAX_SWEEPS)
        _whole("rows", self.rows, 1, 1024)
        check_seed(self.seed)
        if len(self) > MAX_CELLS:
            raise UserError(f"The plan has {len(self):,} cells; at most {MAX_CELLS:,} are possible.")

    def __len__(self) -> int:
        """Number of cells."""
        return math.prod(map(len, (self.models, self.taus, self.lengths, self.starts))) * self.replicates

    def cells(self) -> Iterator[Cell]:
        """All cells, the hottest tau first: it is the quickest, and every verdict needs it."""
        for model in self.models:
            for tau in sorted(self.taus, reverse=True):
                for n in self.lengths:
                    for start in self.starts:
                        for replicate in range(self.replicates):
                            yield Cell(model, tau, n, start, replicate)

    def to_json(self) -> str:
        """The plan as one line of JSON, keys sorted."""
        return json.dumps(asdict(self), sort_keys=True, ensure_ascii=False)

    @property
    def sha256(self) -> str:
        """Hex digest of ``to_json``."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Plan:
        """A plan from plain values.

        Raises:
            UserError: an unknown key, a value of the wrong kind, or one outside its range.
        """
        known = {field.name: field for field in fields(cls)}
        unknown = sorted(set(data) - set(known))
        if unknown:
            raise UserError(f"The plan holds an unknown key, {unknown[0]}; the keys are {', '.join(known)}.")
        given: dict[str, Any] = {}
        for name, value in data.items():
            kind = str(known[name].type)
            if kind.startswith("tuple"):
                given[name] = tuple(_as(name, kind[6:-6], v) for v in _list(name, value))
            else:
                given[name] = _as(name, kind, value)
        return cls(**given)

    @classmethod
    def from_toml(cls, text: str) -> Plan:
        """A plan from the text of a TOML file. Raises UserError: no TOML, or as ``from_dict``."""
        try:
            return cls.from_dict(tomllib.loads(text))
        except tomllib.TOMLDecodeError as error:
            raise UserError(f"The plan is not valid TOML: {error}.") from None

    @classmethod
    def from_path(cls, path: Path) -> Plan:
        """A plan from a TOML file. Raises UserError: it cannot be read, or as ``from_toml``."""
        try:
            return cls.from_toml(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError):
            raise UserError(f"There is no plan to read at {path}; give the path of a TOML file.") from None


def _list(name: str, value: object) -> Sequence[object]:
    if not isinstance(value, (list, tuple)):
        raise UserError(f"The plan's {name} must be a list.")
    return value


def _as(name: str, kind: str, value: object) -> object:
    """A value as ``int``, ``float`` or ``str``; whole numbers stand for floats, nothing else is converted."""
    good = {"int": (int,), "float": (int, float), "str": (str,)}[kind]
    if isinstance(value, bool) or not isinstance(value, good):
        what = {"int": "a whole number", "float": "a number", "str": "text"}[kind]
        raise UserError(f"In the plan, {name} must be {what}.")
    return float(value) if kind == "float" and isinstance(value, (int, float)) else value


def _whole(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise UserError(f"In the plan, {name} must lie between {low:,} and {high:,}.")
