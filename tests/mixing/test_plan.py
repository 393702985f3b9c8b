"""Plans: what they hold, what is refused, and streams that depend on the cell alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from glauber_core.errors import UserError
from glauber_core.exact import Bigram, ConditionalTable, CurieWeiss
from glauber_core.mixing import subjects
from glauber_core.mixing.plan import Cell, Plan
from glauber_core.mixing.subjects import open_subject, sweep_shape
from tests.mixing.sweeps import SLOW
from tests.models.checkpoints import model as checkpoint


def test_a_plan_from_toml_and_back(tmp_path: Path) -> None:
    plan = Plan.from_toml(SLOW)
    assert plan.taus == (0.1, 0.2) and plan.lengths == (10,) and plan.models == ("exact:curie-weiss:1.5",)
    assert plan.seed == 0 and plan.device == "cpu" and len(plan) == len(list(plan.cells())) == 14
    (tmp_path / "p.toml").write_text(SLOW, encoding="utf-8")
    assert Plan.from_path(tmp_path / "p.toml") == plan
    assert Plan.from_toml("taus = [1, 2]").taus == (1.0, 2.0)
    assert plan.sha256 == Plan.from_toml(SLOW).sha256 != replace(plan, seed=1).sha256


def test_cells_come_hottest_first_and_are_all_different() -> None:
    plan = Plan(taus=(0.5, 3.0, 1.0), lengths=(8, 9), starts=("topics", "uniform"), replicates=3)
    cells = list(plan.cells())
    assert len({cell.key for cell in cells}) == len(plan) == 36
    assert [cell.tau for cell in cells] == [3.0] * 12 + [1.0] * 12 + [0.5] * 12


def test_a_cells_stream_does_not_depend_on_the_grid() -> None:
    cell = Cell("m", 0.7, 8, "topics", 1)
    wide, narrow = (Plan(models=("m",), taus=t, lengths=(8,), replicates=2) for t in ((0.7, 1.0), (0.7,)))
    assert cell in set(wide.cells()) & set(narrow.cells())
    seeds = {c.seed(s) for c in wide.cells() for s in (0, 1)}
    assert len(seeds) == 2 * len(wide) and min(seeds) >= 0 and max(seeds) < 2**63
    assert cell.seed(3) == Cell("m", 0.7, 8, "topics", 1).seed(3)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("taus = [", "not valid TOML"),
        ("tau = 1", "unknown key, tau"),
        ("taus = 1", "taus must be a list"),
        ("taus = []", "one or more different"),
        ("taus = [1, 1.0]", "one or more different"),
        ('taus = ["1"]', "taus must be a number"),
        ("taus = [true]", "taus must be a number"),
        ("taus = [-1]", "negative"),
        ("taus = [nan]", "finite"),
        ("lengths = [0]", "between 1 and 512"),
        ("lengths = [8.5]", "whole number"),
        ("pairs = 0", "pairs must lie"),
        ("horizon = true", "whole number"),
        ("seed = -1", "seed"),
        ('starts = ["nowhere"]', "A start must be"),
        ('starts = ["file:"]', "A start must be"),
        ('models = [" "]', "needs a name"),
        ('models = ["exact:ising:1"]', "no exact model"),
        ('models = ["exact:curie-weiss:x"]', "no exact model"),
        ('models = ["exact:curie-weiss"]', "no exact model"),
        ('models = ["exact:table:1:1"]', "no exact model"),
        ('models = ["exact:bigram:65:1"]', "no exact model"),
        ("replicates = 10000\ntaus = [1, 2, 3, 4]", "cells; at most"),
        ("device = 3", "device must be text"),
    ],
)
def test_what_is_refused(text: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        Plan.from_toml(text)


def test_a_plan_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "none.toml", tmp_path):
        with pytest.raises(UserError, match="no plan to read"):
            Plan.from_path(path)


def test_a_language_model_is_loaded_once_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[str, str]] = []
    monkeypatch.setattr(subjects, "load", lambda name, device: calls.append((name, device)) or checkpoint("bert"))
    subjects._language_model.cache_clear()
    for n in (8, 9):
        assert open_subject("some-model", n) is checkpoint("bert")
    subjects._language_model.cache_clear()
    assert calls == [("some-model", "cpu")]


def test_exact_subjects() -> None:
    assert open_subject("exact:curie-weiss:0.6", 5) == CurieWeiss(0.6)
    table, again = (open_subject("exact:table:3:7", 4) for _ in range(2))
    assert isinstance(table, ConditionalTable) and table.n == 4 and isinstance(again, ConditionalTable)
    assert table.model_hash == again.model_hash
    bigram = open_subject("exact:bigram:5:2", 9)
    assert isinstance(bigram, Bigram) and bigram.vocab_size == 5
    shape = sweep_shape(table, 6)
    assert (shape.rows, shape.threads, shape.dtype) == (6, 1, "float64")
