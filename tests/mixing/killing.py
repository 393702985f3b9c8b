"""Run the sweep command, and kill it with SIGKILL once some cells are there: timed by its results, not by a clock."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[2]
GONE_S = 60


def command(plan: Path, out: Path, more: Sequence[str] = ()) -> list[str]:
    return [sys.executable, "-m", "glauber_core", "sweep", str(plan), "--out", str(out), *more]


def killed_after(cells: int, plan: Path, out: Path, more: Sequence[str] = ()) -> int:
    """Kill the sweep when it reports the ``cells``-th cell of this run; its exit status. Its workers must end, too.

    The command reports a cell, one line, after it is kept.
    """
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        command(plan, out, more), cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr is not None
        seen = []
        for line in process.stderr:
            seen.append(line)
            if len(seen) == cells:
                break
        workers = psutil.Process(process.pid).children(recursive=True) if len(seen) == cells else []
        process.send_signal(signal.SIGKILL)
        status = process.wait()
    deadline = time.monotonic() + GONE_S
    while any(_runs(worker) for worker in workers):
        assert time.monotonic() < deadline, f"left behind: {workers}"
        time.sleep(0.02)
    assert len(seen) == cells, b"".join(seen)
    return status


def _runs(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
