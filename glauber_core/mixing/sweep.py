"""Run a sweep: the cells of a plan that a file does not hold yet, on any backend, each kept as soon as it is there."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from glauber_core.mixing.backends import Backend, run_tasks
from glauber_core.mixing.cell import CellResult, tasks_of, texts_hash
from glauber_core.mixing.plan import Plan
from glauber_core.mixing.store import new_store


class Progress(NamedTuple):
    """How far a sweep is.

    Attributes:
        done, total: cells.
        share: share of the horizon that the cell in hand has done, in [0, 1); always 0 on other backends.
        result: the cell that was just kept, or None.
    """

    done: int
    total: int
    share: float = 0.0
    result: CellResult | None = None


def run_sweep(
    plan: Plan,
    out: Path,
    backend: Backend = "in-process",
    workers: int | None = None,
    scheduler: str | None = None,
    progress: Callable[[Progress], None] = lambda progress: None,
) -> None:
    """Complete a sweep file. Begun before, it goes on where it was; complete already, it is left as it is.

    Args:
        plan: what to measure.
        out: the file, new or begun with this plan.
        backend, workers, scheduler: as of ``backends.run_tasks``.
        progress: called often, with ``result`` once a cell is safely kept; what it raises (``Cancelled``) ends the
            sweep, and what is complete stays.

    Raises:
        UserError: the file, the backend or a cell cannot be used.
    """
    tasks = tasks_of(plan)
    with new_store(out, plan, texts_hash(tasks)) as store:
        kept = store.done()
        todo = [task for task in tasks if task.cell.key not in kept]
        done, total = len(tasks) - len(todo), len(tasks)
        progress(Progress(done, total))

        def tick(share: float) -> None:
            progress(Progress(done, total, share))

        with closing(run_tasks(todo, backend, workers, scheduler, tick)) as results:
            for result in results:
                store.add(result)
                done += 1
                progress(Progress(done, total, 0.0, result))
