"""``python -m glauber_core rectangle``: what is printed, written and refused."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from glauber_core.cli import main
from glauber_core.commands import rectangle as command
from glauber_core.models import load, open_model
from glauber_core.rectangle import rectangle
from tests.models.checkpoints import folder, model

TEXT = "the cat sat on the mat"


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tiny BERT in the built-in one's place."""

    def named(name: str) -> str:
        return str(folder("bert")) if name == "glauber-mini" else name

    monkeypatch.setattr(command, "load", lambda name, *options: load(named(name), *options))
    monkeypatch.setattr(command, "open_model", lambda name, *options: open_model(named(name), *options))


def words(count: int) -> list[str]:
    """Words that the tiny BERT writes as one token."""
    lm = model("bert")
    shown = [lm.vocabulary.surface(t) for t in range(lm.vocab_size) if bool(lm.allowed[t])]
    return [s.text for s in shown if s.text.isalpha() and not s.glued and s.text not in TEXT][:count]


def test_one_rectangle(capsys: pytest.CaptureFixture[str]) -> None:
    a, b = words(2)
    assert main(["rectangle", TEXT, "--pair", "2", "6", "--to", a, b]) == 0
    lm = model("bert")
    new = [lm.vocabulary.word_id(word, False) for word in (a, b)]
    probe = rectangle(lm, lm.vocabulary.encode(TEXT).ids, 1, 5, *new)
    out = capsys.readouterr().out
    assert f"delta {probe.delta:.6f} nats" in out and f"x -> y: {probe.ratios[0]:+.6f}" in out


@pytest.mark.parametrize("ending", [".csv", ".json"])
def test_a_survey_of_a_file_is_written(tmp_path: Path, ending: str, capsys: pytest.CaptureFixture[str]) -> None:
    texts, out = tmp_path / "texts.tsv", tmp_path / f"all{ending}"
    texts.write_text("1\tthe cat sat on the mat\n2\tthe cat sat\n", encoding="utf-8")
    arguments = ["rectangle", "--file", str(texts), "--replacements", "uniform", "--alternatives", "2"]
    assert main([*arguments, "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    count = 4 * (15 + 3)
    assert f"{count} rectangles of 2 sentences" in printed and "noise floor" in printed and "distance   1" in printed
    content = out.read_text(encoding="utf-8")
    rows: list[Any] = (
        list(csv.DictReader(content.splitlines())) if ending == ".csv" else json.loads(content)["rectangles"]
    )
    assert len(rows) == count


def test_models_and_controls(capsys: pytest.CaptureFixture[str]) -> None:
    against = [str(folder("roberta")), str(folder("gpt2"))]
    assert main(["rectangle", TEXT, "--positions", "adjacent", "--against", *against, "--controls"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + 6
    kinds = ["masked", "masked", "by construction", "control", "control", "control"]
    assert all(kind in line for kind, line in zip(kinds, lines[1:], strict=True))


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ([], "Give one sentence"),
        ([TEXT, "--file", "x.txt"], "Give one sentence"),
        ([TEXT, "--pair", "1", "2"], "--to"),
        ([TEXT, "--to", "cat", "mat"], "--pair"),
        ([TEXT, "--pair", "1", "2", "--to", "catsat", "mat"], "tokens (c"),
        ([TEXT, "--pair", "1", "2", "--to", "[MASK]", "mat"], "only a single token"),
        (["the [MASK] sat", "--pair", "2", "3", "--to", "cat", "mat"], "Word 2 is not one the model writes"),
        (["", "--pair", "1", "2", "--to", "cat", "mat"], "no sentence"),
        (["the " * 600, "--pair", "1", "2", "--to", "cat", "mat"], "limit here is 510"),
        (["the cat\nthe mat", "--pair", "1", "2", "--to", "cat", "mat"], "one sentence"),
        ([TEXT, "--pair", "1", "2", "--to", "cat", "mat", "--controls"], "leave --pair out"),
        ([TEXT, "--device", "abacus"], "no device called"),
        ([TEXT, "--model", "/etc"], "config.json"),
        (["the " * 65], "limit here is 64"),
        (["", "--controls"], "no sentence"),
        ([TEXT, "--k", "0", "--replacements", "top-k"], "for k"),
        ([TEXT, "--pair", "1", "1", "--to", "cat", "mat"], "same word"),
        ([TEXT, "--pair", "1", "9", "--to", "cat", "mat"], "no word 9"),
        ([TEXT, "--pair", "0", "2", "--to", "cat", "mat"], "no word 0"),
        ([TEXT, "--pair", "2", "6", "--to", "cat", "mat"], "already stands there"),
        ([TEXT, "--alternatives", "0"], "alternatives"),
        ([TEXT, "--seed", "-1"], "seed"),
        ([TEXT, "--positions", "distance", "--distance", "50"], "distance"),
        (["cat"], "two words"),
        (["--file", "nothing.txt"], "nothing.txt"),
        ([TEXT, "--out", "x.png"], ".json or .csv"),
        ([TEXT, "--against", "no/such model"], "no model"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    arguments: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rectangle", *arguments]) == 2
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert error.startswith("error: ") and why in error


def test_a_single_rectangle_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = words(2)
    out = tmp_path / "one.json"
    arguments = ["rectangle", TEXT, "--pair", "6", "2", "--to", a, b, "--out"]
    assert main([*arguments, str(out)]) == 0
    lm = model("bert")
    new = [lm.vocabulary.word_id(word, False) for word in (a, b)]
    probe = rectangle(lm, lm.vocabulary.encode(TEXT).ids, 5, 1, *new)
    document = json.loads(out.read_text(encoding="utf-8"))
    assert document["delta"] == probe.delta and document["ratios"]["yz"] == probe.ratios[1]
    assert document["tokens"]["z"] == ["the", b, "sat", "on", "the", a] and document["model_hash"] == lm.model_hash
    assert main([*arguments, str(out.with_suffix(".csv"))]) == 0
    (row,) = csv.DictReader(out.with_suffix(".csv").read_text(encoding="utf-8").splitlines())
    assert (row["i"], row["j"], row["a_new"], row["b"]) == ("5", "1", a, "cat")
    assert float(row["delta_nats"]) == probe.delta


@pytest.mark.parametrize("against", [[], ["--against", str(folder("roberta"))]])
def test_sentences_left_out_are_said(against: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = tmp_path / "texts.txt"
    texts.write_text(f"{TEXT}\n{'the ' * 70}\n", encoding="utf-8")
    assert main(["rectangle", "--file", str(texts), "--positions", "adjacent", *against]) == 0
    notes = capsys.readouterr().err.splitlines()
    assert len(notes) == 1 + bool(against)
    assert all(note.startswith("note: 1 sentence has more than 64 tokens, or none, for ") for note in notes)


def test_a_causal_model_of_the_same_vocabulary_takes_the_masked_one_s_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "first.json"
    arguments = ["--against", str(folder("gpt2-wordpiece")), "--out", str(out), "--alternatives", "2"]
    assert main(["rectangle", TEXT, *arguments]) == 0
    first, second = capsys.readouterr().out.splitlines()[1:]
    assert "by construction" in second and "above the floor   0.0 %" in second and "above the floor 100.0 %" in first
    document = json.loads(out.read_text(encoding="utf-8"))
    assert document["model_hash"] == model("bert").model_hash and len(document["rectangles"]) == 4 * 15
    assert document["noise_floor"]["value"] < 1e-3 and document["complete"]


@pytest.mark.parametrize("out", ["x.png", "nowhere/x.csv"])
def test_a_file_that_cannot_be_written_is_refused_before_anything_is_computed(
    out: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "load", lambda *_: pytest.fail("the model was loaded"))
    assert main(["rectangle", TEXT, "--out", out]) == 2
    assert capsys.readouterr().err.startswith("error: ")
