"""A few visitors of the real app at once, over its own websocket protocol."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from glauber_core.starters import STARTERS
from tests.load.crowd import Visitor, together
from tests.load.server import serve

pytestmark = pytest.mark.slow
COUNT = 6


def test_everybody_gets_on_and_sees_only_what_is_theirs(tmp_path: Path) -> None:
    told: list[str] = []

    async def play(url: str) -> tuple[list[Visitor], list[int]]:
        visitors, steps = await together(url, COUNT, 0.0, 10.0, every=4.0)
        told.append((tmp_path / "log.txt").read_text(errors="replace"))
        await asyncio.gather(*(v.tab.close() for v in visitors))  # their work ends with an exception in the log
        return visitors, steps

    with serve(tmp_path / "log.txt") as app:
        visitors, steps = asyncio.run(play(app.url))
    assert len({v.text for v in visitors}) == COUNT
    assert [v.mixed for v in visitors] == [[]] * COUNT
    assert [v.tab.wrong for v in visitors] == [[]] * COUNT
    assert min(steps) > 0
    assert sum(len(v.clicks) for v in visitors) >= COUNT // 2
    assert "Traceback" not in told[0]


def test_a_closed_tab_computes_no_more(tmp_path: Path) -> None:
    async def play() -> tuple[int, float]:
        visitor = await Visitor.come(app.url, 0, 1.0)
        await visitor.play()
        await visitor.tab.until("a step", lambda: (visitor.look(), visitor.step > 0)[1])
        await visitor.tab.close()
        end = time.monotonic() + 20.0  # ten are promised; the machine may be slow
        while time.monotonic() < end:
            before = app.cpu()
            await asyncio.sleep(3.0)
            if (used := app.cpu() - before) < 0.3:  # playing takes about half a core
                return visitor.step, used
        return visitor.step, used

    with serve(tmp_path / "log.txt") as app:
        step, used = asyncio.run(play())
    assert step > 0
    assert used < 0.3


def test_what_belongs_to_somebody_else_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check of the test above can fail: another seed, and words that the steps shown do not lead to."""

    class Shown:
        at = 1.0

    visitor = Visitor.__new__(Visitor)
    Visitor.__init__(visitor, tab=type("T", (), {"drawn": {"stage": Shown}})(), seed=7, text=STARTERS[0].text)  # type: ignore[arg-type]

    def page(seed: int, words: list[str]) -> None:
        chain = {"title": f"chain A, seed {seed}", "step": 0, "frames": [], "tokens": [{"t": w} for w in words]}
        monkeypatch.setattr(visitor.tab, "data", lambda _: {"chains": [chain]}, raising=False)
        Shown.at += 1
        visitor.look()

    page(7, ["a", "b"])
    assert visitor.mixed == []
    page(7, ["a", "c"])
    assert len(visitor.mixed) == 1
    page(8, ["a", "c"])
    assert len(visitor.mixed) == 2
