"""A sweep that is killed with SIGKILL loses the cells in hand alone, and ends in the same table."""

from __future__ import annotations

import signal
from pathlib import Path

from glauber_core.cli import main
from glauber_core.mixing.plan import Plan
from tests.mixing.killing import killed_after
from tests.mixing.sweeps import SLOW, table, undisturbed

KILLS: list[tuple[str, ...]] = [(), ("--backend", "processes", "--workers", "1"), ()]


def test_killed_three_times_it_ends_in_the_same_table(tmp_path: Path) -> None:
    plan, out = tmp_path / "plan.toml", tmp_path / "sweep.sqlite"
    plan.write_text(SLOW, encoding="utf-8")
    whole = undisturbed(Plan.from_toml(SLOW), tmp_path)
    cells = len(Plan.from_toml(SLOW))
    assert len(whole) == cells * 4 and not any(row.met for row in whole)
    have = 0
    for more in KILLS:
        assert killed_after(2, plan, out, more) == -signal.SIGKILL
        rows = table(out)
        assert have + 2 * 4 <= len(rows) < len(whole)  # what was reported is there, and it was killed on its way
        assert set(rows) < set(whole)
        have = len(rows)
    assert main(["sweep", str(plan), "--out", str(out), "--quiet"]) == 0
    assert table(out) == whole
