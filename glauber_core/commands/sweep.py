"""``python -m glauber_core sweep``: coupling times over models x tau x n, on this machine or a cluster."""

from __future__ import annotations

import argparse
import math
import sys
import time
from pathlib import Path
from typing import Any

from glauber_core.commands.files import check_out, write
from glauber_core.mixing.backends import BACKENDS
from glauber_core.mixing.export import pairs_csv, phase_csv
from glauber_core.mixing.phase import FACTOR, Boundary, PhasePoint, boundaries, phase_table
from glauber_core.mixing.plan import Plan
from glauber_core.mixing.store import open_store
from glauber_core.mixing.sweep import Progress, run_sweep

_WIDTH = 30


def add(commands: Any) -> None:
    """Add the command to argparse's sub-commands."""
    command = commands.add_parser("sweep", help="measure coupling times over a grid; an interrupted sweep goes on")
    add = command.add_argument
    add("plan", type=Path, help="TOML file: models, taus, lengths, starts, replicates, pairs, horizon, seed")
    add("--out", type=Path, help="SQLite file of the results (default: the plan's name, ending in .sqlite)")
    add("--backend", choices=BACKENDS, default="in-process", help="default: %(default)s")
    add("--workers", type=int, help="for processes: how many (default: one a processor)")
    add("--scheduler", metavar="ADDRESS", help="for dask: tcp://host:port of a scheduler that is running")
    add("--csv", type=Path, help="write the phase table here, with the plan in its header")
    add("--pairs-csv", type=Path, help="write every pair's time here")
    add("--quiet", action="store_true", help="show no progress")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Do what the arguments say. Raises UserError where they cannot be done."""
    plan = Plan.from_path(arguments.plan)
    out = arguments.out or arguments.plan.with_suffix(".sqlite")
    check_out(out, (".sqlite", ".db"))
    for table in (arguments.csv, arguments.pairs_csv):
        if table is not None:
            check_out(table, (".csv",))
    bar = _Bar(arguments.quiet)
    try:
        run_sweep(plan, out, arguments.backend, arguments.workers, arguments.scheduler, bar)
    finally:
        bar.end()
    with open_store(out) as store:
        points = phase_table(store.results())
        if arguments.csv is not None:
            write(arguments.csv, phase_csv(store))
        if arguments.pairs_csv is not None:
            write(arguments.pairs_csv, pairs_csv(store.table()))
    for point in points:
        print(_line(point))
    for found in boundaries(points):
        print(_boundary(found))
    return 0


class _Bar:
    """A bar on a terminal; elsewhere one line a finished cell."""

    def __init__(self, quiet: bool) -> None:
        self._quiet, self._terminal = quiet, sys.stderr.isatty()
        self._begun, self._first, self._shown = time.monotonic(), -1, 0.0

    def __call__(self, p: Progress) -> None:
        if self._quiet:
            return
        self._first = p.done if self._first < 0 else self._first
        if not self._terminal:
            if p.result is not None:
                cell = p.result.cell
                text = f"{cell.model} tau {cell.tau:g} n {cell.n} {cell.start} {cell.replicate}"
                print(
                    f"{p.done}/{p.total} {text}: {sum(p.result.met)} of {len(p.result.met)} met",
                    file=sys.stderr,
                    flush=True,
                )
            return
        now = time.monotonic()
        if p.result is None and now - self._shown < 0.2:
            return
        self._shown = now
        full = round(_WIDTH * (p.done + p.share) / p.total)
        here, left = p.done - self._first, p.total - p.done
        rest = f", about {_duration(left * (now - self._begun) / here)} left" if here and left else ""
        line = f"[{'#' * full}{'.' * (_WIDTH - full)}] {p.done} of {p.total} cells{rest}"
        print(f"\r{line:75s}", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        if self._terminal and not self._quiet:
            print(file=sys.stderr)


def _duration(seconds: float) -> str:
    return (
        f"{seconds:.0f} s"
        if seconds < 100
        else f"{seconds / 60:.0f} min"
        if seconds < 6000
        else f"{seconds / 3600:.1f} h"
    )


def _line(p: PhasePoint) -> str:
    m = p.median
    upper = "..." if math.isinf(m.high) else f"{m.high:.4g}"
    figure = f"> {m.beyond:.4g} (censored)" if m.censored else f"{m.value:.4g} [{m.low:.4g}, {upper}]"
    few = ", too few pairs" if p.few else ""
    where = f"{p.model}  {p.start}  n {p.n:3d}  tau {p.tau:<6g}"
    return f"{where} {figure:28s} sweeps, {m.events} of {m.times} met{few}  {p.verdict}"


def _boundary(b: Boundary) -> str:
    if b.slow == 0 or math.isinf(b.fast):
        where = "not within this grid"
    else:
        where = f"between tau {b.slow:g} and {b.fast:g}" + ("" if math.isnan(b.tau) else f", about {b.tau:.3g}")
    return f"{b.model}  {b.start}  n {b.n:3d}  boundary (median {FACTOR:g} times the hottest): {where}"
