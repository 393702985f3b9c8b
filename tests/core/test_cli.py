"""The command line: exit codes, what is printed, what is written."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from glauber_core.chain import Chain
from glauber_core.cli import main
from glauber_core.commands import chain as chain_command
from glauber_core.models import load
from glauber_core.record import RunRecord
from tests.models.checkpoints import builtin, folder, model

TEXT = "the cat sat on the mat"
N = 6


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tiny BERT in the built-in one's place."""
    monkeypatch.setattr(
        chain_command, "load", lambda name, device: model("bert") if name == "glauber-mini" else load(name, device)
    )


def test_a_run_prints_a_line_a_sweep(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chain", TEXT, "--tau", "0.7", "--sweeps", "3", "--seed", "4"]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert len(lines) == 4 and err == ""
    assert [line.split()[0] for line in lines] == ["0.0", "1.0", "2.0", "3.0"]
    assert lines[0].endswith(TEXT) and all("tau 0.7" in line and " h " in line for line in lines)
    chain = Chain(model("bert"), model("bert").vocabulary.encode(TEXT).ids, 4, 0.7)
    chain.advance(3 * N)
    assert lines[-1].endswith(model("bert").vocabulary.text(chain.tokens))


def test_json_is_a_run_record(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run.json"
    assert main(["chain", "the [MASK] 🤖 sat", "--sweeps", "2", "--lock", "1", "4", "--out", str(out)]) == 0
    record = RunRecord.from_dict(json.loads(out.read_text(encoding="utf-8")))
    assert len(record) == 2 * 2 and record.header.start_text == "the [MASK] 🤖 sat"
    assert {e.position for e in record.entries} <= {1, 2} and len(record.profiles) == 3
    assert record.header.model_hash == model("bert").model_hash
    notes = capsys.readouterr().err.splitlines()
    assert len(notes) == 2 and all(line.startswith("note: ") for line in notes)


def test_csv_is_the_steps(tmp_path: Path) -> None:
    out = tmp_path / "run.csv"
    assert main(["chain", TEXT, "--sweeps", "2.5", "--quiet", "--out", str(out)]) == 0
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 15 and rows[-1]["step"] == "15"
    surface = model("bert").vocabulary.surface
    assert all(row["new"] == surface(int(row["new_id"])).text for row in rows)


def test_schedules(tmp_path: Path) -> None:
    out = tmp_path / "run.json"
    assert main(["chain", TEXT, "--tau", "0.5", "--schedule", "anneal", "--sweeps", "21", "--out", str(out)]) == 0
    taus = [e.tau for e in RunRecord.from_dict(json.loads(out.read_text())).entries]
    assert taus[0] == 3.0 and taus[-1] == 0.5 and taus == sorted(taus, reverse=True)


def test_quiet_prints_the_last_sentence_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chain", TEXT, "--sweeps", "3"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert main(["chain", TEXT, "--sweeps", "3", "--quiet"]) == 0
    assert capsys.readouterr().out.splitlines() == [last]
    assert main(["chain", TEXT, "--sweeps", "0", "--quiet"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_a_run_of_no_sweeps_is_written_too(tmp_path: Path) -> None:
    out = tmp_path / "run.json"
    assert main(["chain", TEXT, "--sweeps", "0", "--out", str(out)]) == 0
    record = RunRecord.from_dict(json.loads(out.read_text(encoding="utf-8")))
    assert len(record) == 0 and [p["step"] for p in record.profiles] == [0]


@pytest.mark.parametrize("suffix", ["json", "csv"])
def test_an_argument_that_is_not_utf8_is_written_as_utf8(suffix: str, tmp_path: Path) -> None:
    out = tmp_path / f"run.{suffix}"
    assert main(["chain", "the \udcff cat", "--sweeps", "1", "--out", str(out)]) == 0
    assert out.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "arguments, reason",
    [
        (["", "--sweeps", "1"], "no word to work with"),
        (["   "], "no word to work with"),
        (["the " * 600], "the limit here is 510"),
        ([TEXT, "--tau", "-1"], "cannot be negative"),
        ([TEXT, "--tau", "nan"], "finite"),
        ([TEXT, "--tau", "warm"], "must be a number"),
        ([TEXT, "--seed", "-1"], "seed"),
        ([TEXT, "--sweeps", "-1"], "number of sweeps"),
        ([TEXT, "--sweeps", "nan"], "number of sweeps"),
        ([TEXT, "--sweeps", "1e9"], "number of sweeps"),
        ([TEXT, "--lock", "7"], "no position 7"),
        ([TEXT, "--lock", "0"], "no position 0"),
        ([TEXT, "--lock", *"123456"], "Every word is locked"),
        ([TEXT, "--model", "nobody/nothing"], "hub cannot be reached"),
        ([TEXT, "--model", "/etc"], "holds no config.json"),
        ([TEXT, "--out", "/nowhere/at/all/run.json"], "no folder"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_and_exit_2(
    arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["chain", *arguments]) == 2
    err = capsys.readouterr().err
    assert err.startswith("error: ") and reason in err and len(err.splitlines()) == 1


def test_an_unwritable_file_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chain", TEXT, "--sweeps", "1", "--out", str(tmp_path)]) == 2
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["dance"], ["chain"], ["chain", TEXT, "--seed", "abc"]])
def test_usage_errors_exit_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2 and "usage:" in capsys.readouterr().err


def test_an_interrupted_run_is_kept_as_far_as_it_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    advance = Chain.advance

    def interrupted(self: Chain, steps: int) -> object:
        if self.steps >= 2 * N:
            raise KeyboardInterrupt
        return advance(self, steps)

    monkeypatch.setattr(Chain, "advance", interrupted)
    out = tmp_path / "run.json"
    assert main(["chain", TEXT, "--sweeps", "100", "--out", str(out)]) == 130
    assert len(RunRecord.from_dict(json.loads(out.read_text()))) == 2 * N
    assert capsys.readouterr().err == "stopped\n"


def test_a_folder_of_ones_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chain", "the cat sat", "--model", str(folder("roberta")), "--sweeps", "1"]) == 0
    assert capsys.readouterr().out.splitlines()[0].endswith("the cat sat")


def test_as_a_module() -> None:
    command = [sys.executable, "-m", "glauber_core", "chain", "the cat sat .", "--sweeps", "1", "--tau", "0.5"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 2 and done.stdout.splitlines()[0].endswith("the cat sat .")
    assert builtin().name == "glauber-mini"


@pytest.mark.parametrize("name", ["", ".", "run.txt", "nowhere/run.json"])
def test_a_file_that_cannot_be_written_is_refused_before_anything_is_computed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(chain_command, "load", lambda *_: pytest.fail("the model was loaded"))
    assert main(["chain", TEXT, "--out", name]) == 2
    assert capsys.readouterr().err.startswith("error: ")


def test_endings_are_read_without_regard_to_case(tmp_path: Path) -> None:
    assert main(["chain", TEXT, "--sweeps", "1", "--out", str(tmp_path / "run.CSV")]) == 0
    assert (tmp_path / "run.CSV").read_text(encoding="utf-8").startswith("step,kind,position")


def test_a_reader_that_goes_away_is_no_fault() -> None:
    command = f"{sys.executable} -m glauber_core chain '{TEXT}' --sweeps 3 | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "Traceback" not in done.stderr


def test_waiting_can_be_skipped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run.json"
    arguments = [
        "--tau",
        "0.5",
        "--skip-waiting",
        "--sweeps",
        "3",
        "--lock",
        "1",
        "2",
        "3",
        "4",
        "5",
        "--out",
        str(out),
    ]
    assert main(["chain", TEXT, *arguments]) == 0
    record = RunRecord.from_dict(json.loads(out.read_text(encoding="utf-8")))
    assert record.elapsed == 3 and {e.kind for e in record.entries} <= {"skip"}
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].split()[0] == "3.0" and len(lines) <= 2 + len(record)


def test_a_frozen_chain_gets_to_the_end_of_any_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run.csv"
    assert main(["chain", TEXT, "--tau", "0", "--skip-waiting", "--sweeps", "1e200", "--out", str(out)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].startswith("1.00e+200") and "perfect" in lines[-1]
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[-1]["kind"] == "held" and rows[-1]["log_exit_nats"] == "-inf"
    assert sum(int(row["dwell_steps"]) for row in rows) == round(1e200 * N)
    assert main(["chain", TEXT, "--skip-waiting", "--sweeps", "1e300"]) == 2
