"""One cell of a sweep: the coupling times of its pairs. What every backend runs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from glauber_core.mixing.meeting import run_coupled
from glauber_core.mixing.plan import Cell, Plan
from glauber_core.mixing.starts import Texts, start_pairs, texts_of
from glauber_core.mixing.subjects import open_subject, sweep_shape

CURVE_POINTS = 200


@dataclass(frozen=True)
class Task:
    """A cell and all that it needs; small, and can be sent to another machine.

    Attributes:
        cell: which.
        seed: of its streams.
        pairs, horizon, rows, device: of the plan.
        texts: what its starts are drawn from.
    """

    cell: Cell
    seed: int
    pairs: int
    horizon: int
    rows: int
    device: str
    texts: Texts


@dataclass(frozen=True)
class CellResult:
    """What a cell measured.

    Attributes:
        cell: which.
        model_hash: of the weights.
        shape: the evaluation shape.
        steps: T of each pair, steps; the horizon for a pair that did not meet.
        met: whether each pair met.
        sweeps: times of ``distance``, sweeps.
        distance: mean Hamming distance of the pairs, as a share of n.
    """

    cell: Cell
    model_hash: str
    shape: dict[str, object]
    steps: tuple[int, ...]
    met: tuple[bool, ...]
    sweeps: tuple[int, ...]
    distance: tuple[float, ...]


def tasks_of(plan: Plan) -> list[Task]:
    """All cells of a plan, in its order. Raises UserError: a file of sentences that cannot be read."""
    texts = {start: texts_of(start) for start in plan.starts}
    return [
        Task(c, c.seed(plan.seed), plan.pairs, plan.horizon, plan.rows, plan.device, texts[c.start])
        for c in plan.cells()
    ]


def texts_hash(tasks: Sequence[Task]) -> str:
    """SHA-256 of the sentences that the tasks begin with: a file may change while its path stays."""
    every = sorted({repr((task.cell.start, task.texts)) for task in tasks})
    return hashlib.sha256("\n".join(every).encode()).hexdigest()


def measure(task: Task, tick: Callable[[float], None] = lambda share: None) -> CellResult:
    """Run one cell.

    Args:
        task: which.
        tick: called after every step with the share of the horizon that is done; what it raises ends the cell.

    Raises:
        UserError: a model that cannot be opened, or starts that do not fit it.
    """
    cell = task.cell
    model = open_subject(cell.model, cell.n, task.device)
    x, y = start_pairs(cell.start, task.texts, model, cell.n, task.pairs, task.seed)
    horizon = task.horizon * cell.n
    found = run_coupled(
        model,
        x,
        y,
        cell.tau,
        horizon,
        task.seed,
        shape=sweep_shape(model, task.rows),
        progress=lambda step, met: tick(step / horizon),
    )
    points = np.unique(np.linspace(0, len(found.times) - 1, CURVE_POINTS).round().astype(np.int64))
    mean = found.distance[points].mean(axis=1) / cell.n
    return CellResult(
        cell,
        str(getattr(model, "model_hash", "")),
        found.shape.as_dict(),
        tuple(found.steps.tolist()),
        tuple(found.met.tolist()),
        tuple((found.times[points] // cell.n).tolist()),
        tuple(mean.tolist()),
    )


def measure_alone(task: Task) -> CellResult:
    """``measure`` in a worker that does nothing else: one thread of PyTorch for good."""
    torch.set_num_threads(1)
    return measure(task)
