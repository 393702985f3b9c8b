"""Every backend gives the table of the one in this process; what goes wrong in a worker is said; cancelling ends it."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest
import torch

from glauber_core.errors import Cancelled, UserError
from glauber_core.mixing import backends
from glauber_core.mixing.cell import CellResult, Task, measure_alone, tasks_of
from glauber_core.mixing.plan import Plan
from glauber_core.mixing.sweep import Progress, run_sweep
from tests.mixing.sweeps import PLAN, table, undisturbed


def test_local_processes_give_the_same_table(tmp_path: Path) -> None:
    run_sweep(PLAN, tmp_path / "p.sqlite", "processes", workers=2)
    assert table(tmp_path / "p.sqlite") == undisturbed(PLAN, tmp_path)
    assert multiprocessing.active_children() == []


def test_a_local_dask_cluster_of_two_workers_gives_the_same_table(tmp_path: Path) -> None:
    from distributed import LocalCluster

    seen: list[Progress] = []
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", local_directory=str(tmp_path)
    ) as cluster:
        run_sweep(PLAN, tmp_path / "d.sqlite", "dask", scheduler=cluster.scheduler_address, progress=seen.append)
    assert table(tmp_path / "d.sqlite") == undisturbed(PLAN, tmp_path)
    assert [p.done for p in seen if p.result is not None] == list(range(1, len(PLAN) + 1))


def test_a_cell_that_fails_in_a_worker_says_why(tmp_path: Path) -> None:
    wrong = Plan(models=("no-such-folder-or-model-here",), lengths=(3,), starts=("topics",))
    with pytest.raises(UserError, match="no-such-folder-or-model-here"):
        run_sweep(wrong, tmp_path / "a.sqlite", "processes", workers=1)
    assert multiprocessing.active_children() == []
    assert table(tmp_path / "a.sqlite") == []


def endless() -> Plan:
    """Cells that would take hours."""
    return Plan(models=("exact:curie-weiss:9",), taus=(0.01,), lengths=(50, 60), starts=("extremes",), horizon=10**6)


def test_cancelling_ends_workers_in_the_middle_of_a_cell(tmp_path: Path) -> None:
    calls: list[Progress] = []

    def progress(p: Progress) -> None:
        calls.append(p)
        if len(calls) == 3:
            raise Cancelled

    with pytest.raises(Cancelled):
        run_sweep(endless(), tmp_path / "a.sqlite", "processes", 1, progress=progress)
    assert multiprocessing.active_children() == [] and table(tmp_path / "a.sqlite") == []


def test_cancelling_in_this_process_keeps_what_is_complete(tmp_path: Path) -> None:
    shares: list[float] = []

    def progress(p: Progress) -> None:
        shares.append(p.share)
        if p.done == 3 and p.share > 0:
            raise Cancelled

    with pytest.raises(Cancelled):
        run_sweep(PLAN, tmp_path / "a.sqlite", progress=progress)
    whole = undisturbed(PLAN, tmp_path)
    assert table(tmp_path / "a.sqlite") == whole[: 3 * PLAN.pairs]
    assert 0 < max(shares) <= 1
    run_sweep(PLAN, tmp_path / "a.sqlite")
    assert table(tmp_path / "a.sqlite") == whole


def test_a_killed_worker_is_reported(tmp_path: Path) -> None:
    def progress(p: Progress) -> None:
        for child in multiprocessing.active_children():
            child.kill()

    with pytest.raises(UserError, match="worker process was killed"):
        run_sweep(endless(), tmp_path / "a.sqlite", "processes", 1, progress=progress)


def test_a_lone_worker_runs_on_one_thread() -> None:
    task = tasks_of(PLAN)[0]
    torch.set_num_threads(2)
    result = measure_alone(task)
    assert torch.get_num_threads() == 1
    assert isinstance(result, CellResult) and result.shape["threads"] == 1 and result.shape["rows"] == PLAN.rows


@pytest.mark.parametrize(
    ("backend", "more", "words"),
    [
        ("dask", {}, "needs the address"),
        ("dask", {"scheduler": "nonsense://x"}, "No Dask scheduler answers"),
        ("processes", {"workers": 0}, "at least 1"),
    ],
)
def test_bad_backends(backend: str, more: dict[str, object], words: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=words):
        run_sweep(PLAN, tmp_path / "a.sqlite", backend, **more)


def test_dask_without_the_package_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "distributed", None)
    tasks: list[Task] = tasks_of(PLAN)
    with pytest.raises(UserError, match="pip install distributed"):
        next(backends.dask(tasks, "tcp://127.0.0.1:1", lambda share: None))
