"""Where the cells of a sweep run: in this process, in local processes, or on a Dask cluster that exists already.

Every backend runs the same function at the same shape with one thread, so all give the same table; results come in
whatever order they are ready. Closing the iterator ends the work.

On a SLURM cluster, start a scheduler with dask-jobqueue (a package of its own) and name its address:

    from dask_jobqueue import SLURMCluster
    cluster = SLURMCluster(cores=1, processes=1, memory="4GB", walltime="08:00:00")
    cluster.scale(100)
    print(cluster.scheduler_address)        # tcp://...

    python -m glauber_core sweep plan.toml --backend dask --scheduler tcp://... --out sweep.sqlite

Every worker needs this package at the same version, and the model: built in, on the hub, or in a folder all can read.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.synchronize import Event
from typing import Literal, get_args

import torch

from glauber_core.errors import Cancelled, UserError
from glauber_core.mixing.cell import CellResult, Task, measure, measure_alone

Backend = Literal["in-process", "processes", "dask"]
BACKENDS: tuple[Backend, ...] = get_args(Backend)
Results = Generator[CellResult, None, None]
Tick = Callable[[float], None]  # share of a cell's horizon that is done

_POLL_S = 0.2
_AHEAD = 2  # tasks handed out for each worker


def run_tasks(
    tasks: Sequence[Task],
    backend: Backend,
    workers: int | None = None,
    scheduler: str | None = None,
    tick: Tick = print,
) -> Results:
    """Results of the tasks, as they come.

    Args:
        tasks: the cells.
        backend: one of ``BACKENDS``.
        workers: local processes; one a processor if None.
        scheduler: address of a Dask scheduler, ``tcp://host:port``.
        tick: called often: in this process with the share done of the cell in hand, else with 0; what it raises ends
            the work.

    Raises:
        UserError: no scheduler, no worker, or what a cell raises.
    """
    if backend == "in-process":
        return in_process(tasks, tick)
    if backend == "processes":
        return processes(tasks, workers, tick)
    return dask(tasks, scheduler, tick)


def in_process(tasks: Sequence[Task], tick: Tick) -> Results:
    """One cell after another, in this process."""
    for task in tasks:
        yield measure(task, tick)


def processes(tasks: Sequence[Task], workers: int | None, tick: Tick) -> Results:
    """Cells in local processes, which are spawned, load each model once, and end with this one, however it ends.

    Raises:
        UserError: fewer than one worker, or a worker was killed (by the system for want of memory, as a rule).
    """
    count = (os.cpu_count() or 1) if workers is None else workers
    if count < 1:
        raise UserError("The number of worker processes must be at least 1.")
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    pool = ProcessPoolExecutor(min(count, max(1, len(tasks))), context, _begin_worker, (stop,))
    waiting: set[Future[CellResult]] = set()
    todo = iter(tasks)
    try:
        while True:
            while len(waiting) < _AHEAD * count and (task := next(todo, None)) is not None:
                waiting.add(pool.submit(_in_worker, task))
            if not waiting:
                return
            ready, waiting = wait(waiting, _POLL_S, FIRST_COMPLETED)
            for future in ready:
                yield future.result()
            tick(0.0)
    except BrokenProcessPool:
        raise UserError(
            "A worker process was killed, perhaps for want of memory; what was finished is kept: start the sweep again "
            "with fewer workers."
        ) from None
    finally:
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)


_stop: Event | None = None


def _begin_worker(stop: Event) -> None:
    global _stop
    _stop = stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides what it means
    torch.set_num_threads(1)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A parent that is killed cannot tell its workers; they would wait for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _in_worker(task: Task) -> CellResult:
    return measure(task, _until_stopped)


def _until_stopped(share: float) -> None:
    if _stop is not None and _stop.is_set():
        raise Cancelled


def dask(tasks: Sequence[Task], scheduler: str | None, tick: Tick) -> Results:
    """Cells on the workers of an existing Dask scheduler.

    Raises:
        UserError: no address, ``distributed`` is not installed, or no scheduler answers.
    """
    if not scheduler:
        raise UserError("The Dask backend needs the address of a scheduler: --scheduler tcp://host:port.")
    try:
        from distributed import Client, as_completed
    except ImportError:
        raise UserError("The Dask backend needs the package distributed: pip install distributed.") from None
    try:
        client = Client(scheduler, set_as_default=False, timeout="15s")
    except (OSError, ValueError, TypeError):
        raise UserError(f"No Dask scheduler answers at {scheduler}; check the address.") from None
    with client:
        futures = [client.submit(measure_alone, task, pure=False) for task in tasks]
        try:
            arriving = as_completed(futures, loop=client.loop)
            while not arriving.is_empty():
                while not arriving.has_ready():
                    tick(0.0)
                    time.sleep(_POLL_S)
                for future in arriving.next_batch(block=False):
                    result: CellResult = future.result()
                    yield result
        finally:
            client.cancel(futures)
