"""The sweep file: what is kept, what is refused, reading while it is written; CSV and back."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from glauber_core.errors import UserError
from glauber_core.mixing import store as store_module
from glauber_core.mixing.cell import measure, tasks_of
from glauber_core.mixing.export import pairs_csv, phase_csv, read_phase_csv
from glauber_core.mixing.phase import phase_table
from glauber_core.mixing.store import new_store, open_store
from glauber_core.mixing.sweep import run_sweep
from tests.mixing.sweeps import PLAN, table


def test_what_is_kept_is_what_was_measured(tmp_path: Path) -> None:
    path, results = tmp_path / "a.sqlite", [measure(task) for task in tasks_of(PLAN)[:3]]
    with new_store(path, PLAN, "texts") as store:
        for result in reversed(results):
            store.add(result)
            store.add(result)  # twice is once
        assert store.done() == {result.cell.key for result in results}
        with open_store(path) as reader:  # while it is open for writing
            assert reader.results() == results and reader.plan == PLAN
    cold = results[0].cell.tau == 3.0
    assert cold and all(0 <= d <= 1 for r in results for d in r.distance) and results[0].sweeps[0] == 0
    rows = table(path)
    assert len(rows) == 3 * PLAN.pairs and rows[1].steps == results[0].steps[1]


def test_a_cell_is_kept_whole_or_not_at_all(tmp_path: Path) -> None:
    path, result = tmp_path / "a.sqlite", measure(tasks_of(PLAN)[0])
    broken = replace(result, steps=(1, 2, 2**70, 4))  # more than SQLite can hold
    with new_store(path, PLAN, "texts") as store:
        with pytest.raises(OverflowError):
            store.add(broken)
        assert store.done() == set()
        store.add(result)
    assert len(table(path)) == PLAN.pairs


def test_a_file_of_another_sweep_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, result = tmp_path / "a.sqlite", measure(tasks_of(PLAN)[0])
    with new_store(path, PLAN, "texts") as store:
        store.add(result)
        with pytest.raises(UserError, match="other weights"):
            store.add(replace(result, model_hash="0" * 64))
    with pytest.raises(UserError, match="another plan"), new_store(path, replace(PLAN, seed=9), "texts"):
        pass
    with pytest.raises(UserError, match="other start sentences"), new_store(path, PLAN, "others"):
        pass
    monkeypatch.setattr(store_module, "versions", lambda: {"torch": "0.1"})
    with pytest.raises(UserError, match="torch"), new_store(path, PLAN, "texts"):
        pass


def test_files_that_are_no_sweep(tmp_path: Path) -> None:
    text = tmp_path / "notes.sqlite"
    text.write_text("this is no data base, but long enough to be read as one " * 20, encoding="utf-8")
    for opened in (
        new_store(text, PLAN, ""),
        new_store(tmp_path / "no" / "a.sqlite", PLAN, ""),
        new_store(tmp_path, PLAN, ""),
    ):
        with pytest.raises(UserError, match="cannot be"), opened:
            pass
    empty = tmp_path / "empty.sqlite"
    empty.touch()
    for path, words in ((text, "no sweep"), (empty, "no sweep"), (tmp_path / "none.sqlite", "There is no sweep")):
        with pytest.raises(UserError, match=words), open_store(path):
            pass


def test_a_changed_file_of_sentences_is_noticed(tmp_path: Path) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text("one\ntwo\n", encoding="utf-8")
    plan = replace(PLAN, models=("exact:curie-weiss:1",), starts=(f"file:{lines}",))
    with pytest.raises(UserError, match="no words"):
        run_sweep(plan, tmp_path / "a.sqlite")
    lines.write_text("one\nthree\n", encoding="utf-8")
    with pytest.raises(UserError, match="other start sentences"):
        run_sweep(plan, tmp_path / "a.sqlite")


# -- CSV --------------------------------------------------------------------------------------------------------------


def test_csv_and_back(tmp_path: Path) -> None:
    run_sweep(PLAN, tmp_path / "a.sqlite")
    with open_store(tmp_path / "a.sqlite") as store:
        text, pairs, points = phase_csv(store), pairs_csv(store.table()), phase_table(store.results())
        hashes = {r.cell.model: r.model_hash for r in store.results()}
        found = read_phase_csv(text)
        assert found.points == points and found.plan == PLAN
        assert found.model_hashes == hashes and found.versions == store.versions
    assert any(p.median.censored for p in points) and not all(p.median.censored for p in points)
    rows = list(csv.DictReader(pairs.splitlines()))
    assert len(rows) == len(PLAN) * PLAN.pairs
    assert [int(row["steps"]) for row in rows] == [row.steps for row in table(tmp_path / "a.sqlite")]
    assert rows[0]["met"] in "01" and rows[0]["model"] == PLAN.models[0]


def test_a_table_that_was_changed_is_refused(tmp_path: Path) -> None:
    run_sweep(PLAN, tmp_path / "a.sqlite")
    with open_store(tmp_path / "a.sqlite") as store:
        text = phase_csv(store)
    for wrong in (
        "",
        "a,b\n1,2\n",
        text.replace('"seed": 5', '"seed": 6'),
        text.replace(",fast", ",quick"),
        text.replace("format", "form"),
    ):
        assert wrong != text
        with pytest.raises(UserError, match="not a phase table"):
            read_phase_csv(wrong)
