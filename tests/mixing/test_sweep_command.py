"""``python -m glauber_core sweep``: progress, tables on paper and on disk, a bar on a terminal."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import pytest

from glauber_core.cli import main
from glauber_core.mixing.export import read_phase_csv
from glauber_core.mixing.plan import Plan
from tests.mixing.sweeps import table, undisturbed

PLAN = """
models = ["exact:curie-weiss:1.5"]
taus = [0.15, 3.0]
lengths = [3]
starts = ["extremes"]
replicates = 2
pairs = 4
horizon = 250
"""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(PLAN, encoding="utf-8")
    return path


def test_a_sweep_prints_its_cells_and_the_phase_table(
    plan: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    phases, pairs = tmp_path / "phase.csv", tmp_path / "pairs.csv"
    assert main(["sweep", str(plan), "--csv", str(phases), "--pairs-csv", str(pairs)]) == 0
    out, err = capsys.readouterr()
    assert [line.split()[0] for line in err.splitlines()] == ["1/4", "2/4", "3/4", "4/4"]
    assert err.splitlines()[0] == "1/4 exact:curie-weiss:1.5 tau 3 n 3 extremes 0: 4 of 4 met"
    lines = out.splitlines()
    assert len(lines) == 3 and "tau 3 " in lines[0] and lines[0].endswith("8 of 8 met  fast")
    assert re.search(r"boundary \(median 10 times the hottest\): between tau 0.15 and 3", lines[2])
    whole = undisturbed(Plan.from_toml(PLAN), tmp_path)
    assert table(plan.with_suffix(".sqlite")) == whole
    assert [p.median.times for p in read_phase_csv(phases.read_text(encoding="utf-8")).points] == [8, 8]
    assert len(pairs.read_text(encoding="utf-8").splitlines()) == 1 + len(whole)
    assert main(["sweep", str(plan)]) == 0  # complete: nothing is run again
    again = capsys.readouterr()
    assert again.err == "" and again.out == out


def test_a_bar_on_a_terminal(plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    plan.write_text(PLAN.replace("250", "5"), encoding="utf-8")
    assert main(["sweep", str(plan)]) == 0
    shown = sys.stderr.getvalue().split("\r")  # type: ignore[attr-defined]
    assert shown[-1].strip() == f"[{'#' * 30}] 4 of 4 cells"
    assert any("2 of 4 cells, about" in line for line in shown)
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert main(["sweep", str(plan), "--quiet"]) == 0
    assert sys.stderr.getvalue() == ""  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--out", "a.txt"], "end in"),
        (["--csv", "a.json"], "end in"),
        (["--backend", "dask"], "--scheduler"),
        (["--backend", "processes", "--workers", "0"], "at least 1"),
    ],
)
def test_what_cannot_be_done(
    more: list[str], words: str, plan: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(plan.parent)
    assert main(["sweep", str(plan), *more]) == 2
    assert words in capsys.readouterr().err


def test_no_plan(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", "nowhere.toml"]) == 2
    assert "no plan to read" in capsys.readouterr().err
