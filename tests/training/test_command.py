"""The training command from text file to exported model, at smoke size, and what it says to wrong input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from glauber_core.evaluate.__main__ import main as evaluate
from glauber_core.training.__main__ import main as train
from tests.training import tiny


@pytest.fixture(scope="session")
def vocabulary(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("tokenizer")
    tiny.tokenizer().save_pretrained(folder)
    return str(folder)


def command(texts: Path, out: Path, vocabulary: str, *more: str) -> list[str]:
    size = ["--size", "16", "1", "2", "--batch", "4", "32", "--rates", "5e-3", "5e-3", "5e-3", "--warmup", "5"]
    budget = ["--tokens", "6000", "--no-compile", "--threads", "1", "--precision", "float32"]
    return ["--texts", str(texts), "--out", str(out), "--tokenizer", vocabulary, *size, *budget, *more]


@pytest.mark.parametrize("kind", ["masked", "causal"])
def test_smoke(tmp_path: Path, vocabulary: str, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    texts, out = tiny.text_file(tmp_path / "text.txt"), tmp_path / "model"
    assert train(command(texts, out, vocabulary, "--kind", kind)) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert "Exported to" in said.out
    assert {p.name for p in out.iterdir()} == {
        "README.md", "config.json", "manifest.json", "model.safetensors", "run", "tokenizer.json",
        "tokenizer_config.json", *(["generation_config.json"] if kind == "causal" else []),
    }  # fmt: skip
    curve = [json.loads(line) for line in (out / "run" / "curve.jsonl").read_text().splitlines()]
    assert curve[-1]["progress"] == 1.0
    assert curve[-1]["loss"] < 3.0  # log 29 = 3.4 nats is what a uniform guess costs
    text = (out / "README.md").read_text()
    assert str(tmp_path) not in text
    assert "| text | 29" in text and "6,0" in text and "raw" in text

    figures = tmp_path / "figures.json"
    arguments = [str(out), "--kind", kind, "--texts", str(texts), "--limit", "40", "--json", str(figures)]
    assert evaluate([*arguments, "--no-chains"]) == 0
    found = json.loads(figures.read_text())["heldout"]
    assert found["source"]["text"] == found["all"]["all"]
    assert found["all"]["all"]["loss"] < 3.0


def test_interrupted_and_resumed(tmp_path: Path, vocabulary: str, capsys: pytest.CaptureFixture[str]) -> None:
    texts, out = tiny.text_file(tmp_path / "text.txt"), tmp_path / "model"
    first = command(texts, out, vocabulary)
    assert train(first) == 0
    assert train(first) == 2
    assert "--resume" in capsys.readouterr().err
    longer = [argument if argument != "6000" else "9000" for argument in first]
    assert train([*longer, "--resume"]) == 0
    curve = [json.loads(line) for line in (out / "run" / "curve.jsonl").read_text().splitlines()]
    assert [line["tokens"] // 1000 for line in curve] == [6, 9]
    assert train([*longer, "--resume", "--seed", "1"]) == 2
    assert "must keep its seed" in capsys.readouterr().err


def test_continuing_a_model(tmp_path: Path, vocabulary: str, capsys: pytest.CaptureFixture[str]) -> None:
    texts = tiny.text_file(tmp_path / "text.txt")
    assert train(command(texts, tmp_path / "one", vocabulary)) == 0
    budget = ["--tokens", "2000", "--no-compile", "--threads", "1", "--batch", "4", "32", "--warmup", "5"]
    start = ["--init", str(tmp_path / "one"), "--replay", str(texts), "--heldout", str(texts)]
    assert train(["--texts", str(texts), "--out", str(tmp_path / "two"), *start, *budget]) == 0
    assert "the weights of one" in (tmp_path / "two" / "README.md").read_text()
    assert train(["--texts", str(texts), "--out", str(tmp_path / "three"), "--kind", "causal", *start, *budget]) == 2
    assert "causal" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"--texts": "missing.txt"}, "no text file"),
        ({"--texts": "empty.txt"}, "holds no text"),
        ({"--out": "text.txt/model"}, "cannot be written to"),
        ({"--tokenizer": "nowhere"}, "no tokenizer"),
        ({"--tokenizer": None}, "--init"),
        ({"--init": "nowhere"}, "no tokenizer"),
        ({"--notes": "missing.md"}, "notes"),
        ({"--resume": None}, "no checkpoint"),
    ],
)
def test_wrong_input_is_one_sentence_and_code_2(
    tmp_path: Path, vocabulary: str, capsys: pytest.CaptureFixture[str], change: dict[str, str | None], message: str
) -> None:
    (tmp_path / "empty.txt").write_text(" \n")
    texts = tiny.text_file(tmp_path / "text.txt")
    arguments = command(texts, tmp_path / "model", vocabulary)
    for option, value in change.items():
        if option in arguments:
            at = arguments.index(option)
            arguments[at : at + 2] = []
        if value is not None:
            arguments += [option, str(tmp_path / value)]
        elif option == "--resume":
            arguments.append(option)
    assert train(arguments) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert said.err.count("\n") == 1 and "Traceback" not in said.err


def test_wrong_option_values_are_refused(tmp_path: Path, vocabulary: str) -> None:
    texts = tiny.text_file(tmp_path / "text.txt")
    for wrong in (["--minutes", "0"], ["--mask-rate", "1.5"], ["--threads", "0"], ["--minutes", "soon"]):
        with pytest.raises(SystemExit) as stopped:
            train([*command(texts, tmp_path / "model", vocabulary), *wrong])
        assert stopped.value.code == 2


def test_evaluate_refuses_what_it_cannot_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert evaluate([str(tmp_path)]) == 2
    assert "config.json" in capsys.readouterr().err
    short = tmp_path / "short.txt"
    short.write_text("one\n")
    assert evaluate(["glauber-mini", "--texts", str(short), "--no-chains"]) == 2
    assert "three word pieces" in capsys.readouterr().err
