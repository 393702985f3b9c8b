"""Thirty visitors at once: how evenly they are served, how soon a click is answered, how memory grows."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.load.crowd import Visitor, together
from tests.load.server import App, serve

SESSIONS = 30
KEYS = ("sessions30_spread", "sessions30_p95_ms", "sessions30_rss_growth_mb")


@dataclass(frozen=True)
class Crowd:
    """What a run of many visitors showed, warm-up left out.

    Attributes:
        steps: that each visitor saw.
        clicks: seconds to the bars of a clicked word, all visitors.
        memory: [K, 2] seconds since the warm-up ended and resident memory of the server, MB.
        cores: processor time of the server a second.
        wrong: errors shown, and what belonged to another visitor.
    """

    steps: list[int]
    clicks: list[float]
    memory: np.ndarray
    cores: float
    wrong: list[str]

    @property
    def spread(self) -> float:
        """Steps of the fastest visitor over those of the slowest; infinite if one stood still."""
        return max(self.steps) / min(self.steps) if min(self.steps) else float("inf")

    @property
    def p95_ms(self) -> float:
        """95th percentile of the clicks, ms."""
        return float(np.quantile(self.clicks, 0.95)) * 1e3

    @property
    def growth_mb(self) -> float:
        """Memory at the end less memory at the end of the warm-up, each the mean of a tenth of the time, MB."""
        tenth = max(1, len(self.memory) // 10)
        return float(self.memory[-tenth:, 1].mean() - self.memory[:tenth, 1].mean())

    @property
    def slope_mb(self) -> float:
        """MB in ten minutes of a straight line through the memory."""
        return float(np.polyfit(self.memory[:, 0], self.memory[:, 1], 1)[0]) * 600


def crowd(seconds: float, warm_up: float, count: int = SESSIONS, log: Path | None = None) -> Crowd:
    """``count`` visitors of a fresh server play for ``warm_up`` and then ``seconds``, and click every ten seconds.

    Raises:
        RuntimeError, TimeoutError, ConnectionError: the server did not start, answer or stay.
    """
    with serve(log) as app:
        return asyncio.run(_crowd(app, seconds, warm_up, count))


async def _crowd(app: App, seconds: float, warm_up: float, count: int) -> Crowd:
    samples: list[tuple[float, float]] = []
    start: list[float] = []

    def begun() -> None:
        start.extend((time.monotonic(), app.cpu()))

    visitors, steps = await together(
        app.url, count, warm_up, seconds, sample=lambda: samples.append((time.monotonic(), app.memory())), begun=begun
    )
    cores = (app.cpu() - start[1]) / (time.monotonic() - start[0])
    await asyncio.gather(*(v.tab.close() for v in visitors))
    memory = np.array([(t - start[0], mb) for t, mb in samples if t >= start[0]])
    clicks = [took for v in visitors for at, took in v.clicks if at >= start[0]]
    return Crowd(steps, clicks, memory, cores, _wrong(visitors))


def _wrong(visitors: list[Visitor]) -> list[str]:
    return [f"visitor {v.seed}: {what}" for v in visitors for what in (*v.tab.wrong, *v.mixed)]


def figures(seconds: float, warm_up: float) -> dict[str, float]:
    """The figures of ``KEYS``, printed with what they are made of.

    Raises:
        RuntimeError: a visitor saw an error or somebody else's chain.
    """
    found = crowd(seconds, warm_up)
    clicks = np.array(found.clicks)
    print(
        f"{len(found.steps)} visitors, {seconds:.0f} s after {warm_up:.0f} s: {sum(found.steps) / seconds:.1f} steps/s "
        f"together, {min(found.steps)} to {max(found.steps)} each; {len(clicks)} clicks, median "
        f"{np.median(clicks) * 1e3:.0f} ms, worst {clicks.max() * 1e3:.0f} ms; memory {found.memory[0, 1]:.0f} to "
        f"{found.memory[-1, 1]:.0f} MB, {found.slope_mb:+.0f} MB in ten minutes by a straight line; the server used "
        f"{found.cores:.2f} cores"
    )
    if found.wrong:
        raise RuntimeError(f"{len(found.wrong)} things no visitor should see, first: {found.wrong[0]}")
    return dict(zip(KEYS, (found.spread, found.p95_ms, found.growth_mb), strict=True))
