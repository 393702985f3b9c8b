"""What this machine can do, and how long something takes on it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import torch


def seconds(work: Callable[[], object], repeats: int) -> float:
    """Median wall time of one call, in seconds, after one call that does not count."""
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def side_by_side(works: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Median wall time of each work, in seconds; they take turns, so that a drift of the machine meets all of them."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for work in works.values():
        work()
    for _ in range(rounds):
        for name, work in works.items():
            start = time.perf_counter()
            work()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(found) for name, found in times.items()}


def matmul_peak() -> float:
    """Best float32 matrix-multiply rate over a few sizes, in FLOP/s, at the present thread count."""
    best = 0.0
    for size in (512, 1024, 2048):
        a, b = torch.randn(size, size), torch.randn(size, size)
        times = []
        for _ in range(12):
            start = time.perf_counter()
            torch.mm(a, b)
            times.append(time.perf_counter() - start)
        best = max(best, 2 * size**3 / min(times))
    return best
