"""``python -m glauber_core rectangle``: one rectangle, a test of many sentences, or several models side by side."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np
import torch

from glauber_core.commands.files import check_out, write
from glauber_core.errors import UserError
from glauber_core.models import BUILT_IN, CausalLM, MaskedLM, load, open_model
from glauber_core.rectangle.compare import MAX_TOKENS, Row, compare, line_up, subject
from glauber_core.rectangle.export import header, to_csv, to_json
from glauber_core.rectangle.probe import Probe, rectangle
from glauber_core.rectangle.report import Report, run_test
from glauber_core.rectangle.results import EDGES, Measured, Rectangles
from glauber_core.rectangle.schemes import Positions, Replacements, Rule
from glauber_core.rectangle.statistics import Summary, worst
from glauber_core.shape import versions
from glauber_core.texts import from_pasted, from_path


def add(commands: Any) -> None:
    """Add the command to argparse's sub-commands."""
    command = commands.add_parser("rectangle", help="test whether a model's conditionals contradict each other")
    add = command.add_argument
    add("text", nargs="?", help="a sentence; or name a file with --file")
    add("--file", type=Path, help=".txt with a sentence a line, or .csv or .tsv with a column of text")
    add("--model", default=BUILT_IN, help="built-in name, hub id or folder (default: %(default)s)")
    add("--pair", type=int, nargs=2, metavar=("I", "J"), help="one rectangle: two words, counted from 1")
    add("--to", nargs=2, metavar=("A", "B"), help="their replacements")
    add("--replacements", choices=get_args(Replacements), default="natural", help="default: %(default)s")
    add("--positions", choices=get_args(Positions), default="all", help="pairs of words (default: %(default)s)")
    add("--alternatives", type=int, default=1, help="replacements a position (default: %(default)s)")
    add("--pairs", type=int, default=10, help="pairs a sentence, for random positions (default: %(default)s)")
    add("--distance", type=int, default=2, help="tokens apart, for positions at a distance (default: %(default)s)")
    add("--k", type=int, default=10, help="for top-k replacements (default: %(default)s)")
    add("--seed", type=int, default=0, help="of the draws (default: %(default)s)")
    add("--against", nargs="+", default=[], metavar="MODEL", help="further models, masked or causal, side by side")
    add("--controls", action="store_true", help="also a bigram chain, the Curie-Weiss magnet and random conditionals")
    add("--device", default="cpu", help="cpu, cuda, ... (default: %(default)s)")
    add("--out", type=Path, help="write every rectangle, of the first model if several, here (.json or .csv)")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Do what the arguments say. Raises UserError where they cannot be done."""
    if arguments.out is not None:
        check_out(arguments.out)
    if (arguments.text is None) == (arguments.file is None):
        raise UserError("Give one sentence, or a file with --file.")
    if (arguments.pair is None) != (arguments.to is None):
        raise UserError("One rectangle needs both --pair (two words) and --to (their replacements).")
    if arguments.pair is not None and (arguments.against or arguments.controls):
        raise UserError("--against and --controls compare many rectangles: leave --pair out.")
    texts = from_pasted(arguments.text) if arguments.file is None else from_path(arguments.file)
    _note(texts.notes)
    model = load(arguments.model, arguments.device)
    if arguments.pair is not None:
        return _one(model, texts.sentences, arguments)
    rule = Rule(
        arguments.replacements,
        arguments.positions,
        arguments.alternatives,
        arguments.pairs,
        arguments.distance,
        arguments.k,
        arguments.seed,
    )
    if arguments.against or arguments.controls:
        return _compare(model, texts.sentences, rule, arguments)
    sentences = subject(model, texts.sentences).sentences
    _left_out(model, len(texts.sentences) - len(sentences))
    report = run_test(model, sentences, rule, lambda: _twin(model, arguments), _bar)
    print(f"{model.name}: {rule}")
    _figures(report.summary)
    f = report.floor
    print(f"  noise floor {f.value:.2g} nats ({f.dtype}, largest over {f.rectangles} rectangles: an estimate)")
    for distance, summary in report.distances.items():
        print(f"  distance {distance:3d}: median {summary.median:.4f} nats, {summary.rectangles} rectangles")
    _worst(model, report)
    _write(arguments.out, model, report)
    return 0


def _one(model: MaskedLM, sentences: Sequence[str], arguments: argparse.Namespace) -> int:
    if len(sentences) > 1:
        raise UserError("One rectangle needs one sentence: give it as text.")
    words = model.vocabulary
    encoded = words.encode(sentences[0])
    _note(encoded.notes)
    i, j = (place - 1 for place in arguments.pair)
    new = [words.word_id(word, place == 0) for word, place in zip(arguments.to, (i, j), strict=True)]
    probe = rectangle(model, encoded.ids, i, j, *new)
    for name, corner in zip("xywz", (probe.x, probe.y, probe.w, probe.z), strict=True):
        print(f"  {name}: {words.text(corner)}")
    for edge, ratio in zip(EDGES, probe.ratios, strict=True):
        print(f"  {edge[0]} -> {edge[1]}: {ratio:+.6f} nats")
    print(f"  L1 {probe.l1:+.6f}, L2 {probe.l2:+.6f} nats; delta {probe.delta:.6f} nats, relative {probe.relative:.4f}")
    if arguments.out is not None:
        _write_one(arguments.out, model, probe)
    return 0


def _compare(model: MaskedLM, texts: Sequence[str], rule: Rule, arguments: argparse.Namespace) -> int:
    opened: list[MaskedLM | CausalLM] = [model, *(open_model(name, arguments.device) for name in arguments.against)]
    subjects = line_up(opened, texts, rule, lambda m: _twin(m, arguments), arguments.controls)
    for m, s in zip(opened, subjects, strict=False):  # the controls come after the models
        _left_out(m, len(texts) - len(s.sentences))
    rows = compare(subjects, rule, lambda k, share: _bar((k + share) / len(subjects)))
    print(f"{rule}; delta in nats at tau = 1")
    for row in rows:
        _row(row)
    first = rows[0]
    if arguments.out is not None:
        _save(arguments.out, model, rule, first)
    return 0


def _twin(model: MaskedLM, arguments: argparse.Namespace) -> MaskedLM:
    return load(model.name, arguments.device, torch.float64)


def _row(row: Row) -> None:
    s = row.summary
    print(
        f"  {row.subject.name:28s} {row.subject.kind:16s} mean {s.mean:9.3g}{_interval(s, 'mean')}  median "
        f"{s.median:9.3g}{_interval(s, 'median')}  above the floor {100 * s.above:5.1f} %  "
        f"(floor {row.floor.value:.1g}; {s.rectangles} rectangles)"
    )


def _interval(summary: Summary, name: str) -> str:
    ends = summary.intervals.get(name)
    return "" if ends is None else f" [{ends[0]:.3g}, {ends[1]:.3g}]"


def _figures(s: Summary) -> None:
    print(f"  {s.rectangles:,} rectangles of {s.sentences} sentences; 95 % intervals over sentences in brackets")
    for name in ("mean", "median", "q25", "q75", "q90", "q99", "relative_median", "above"):
        label = {"above": "share above the floor", "relative_median": "median relative delta"}.get(
            name, f"{name} delta"
        )
        print(f"  {label:22s} {getattr(s, name):.4f}{_interval(s, name)}")


def _worst(model: MaskedLM, report: Report) -> None:
    r, text = report.measured.rectangles, model.vocabulary.text
    for k in worst(report.measured, 5):
        i, j = int(r.i[k]), int(r.j[k])
        changes = (
            f"{text([int(r.a[k])])} -> {text([int(r.a_new[k])])}, {text([int(r.b[k])])} -> {text([int(r.b_new[k])])}"
        )
        sentence = text(list(report.sentences[int(r.sentence[k])]))
        print(f"  {report.measured.delta[k]:7.3f} nats  words {i + 1} and {j + 1}: {changes}  in: {sentence}")


def _write_one(out: Path, model: MaskedLM, probe: Probe) -> None:
    """One rectangle: as a table of one row, or as JSON that names its corners."""
    if out.suffix.lower() == ".csv":
        places = (0, probe.i, probe.j, probe.x[probe.i], probe.x[probe.j], probe.z[probe.i], probe.z[probe.j])
        only = Rectangles(*(np.array([value], dtype=np.int64) for value in places))
        write(out, to_csv(Measured(only, np.array([probe.ratios])), _text(model)))
        return
    head = {"model": model.name, "model_hash": model.model_hash, "versions": versions()}
    tokens = {name: [_text(model)(t) for t in getattr(probe, name)] for name in "xywz"}
    write(out, json.dumps({**head, **probe.to_dict(), "tokens": tokens}, ensure_ascii=False, allow_nan=False))


def _text(model: MaskedLM) -> Callable[[int], str]:
    return lambda token: model.vocabulary.surface(token).text


def _write(out: Path | None, model: MaskedLM, report: Report) -> None:
    if out is None:
        return
    text = _text(model)
    if out.suffix.lower() == ".csv":
        write(out, to_csv(report.measured, text))
        return
    head = header(model.name, model.model_hash, report.rule, report.complete)
    write(out, to_json(report.measured, text, report.sentences, head, report.floor, report.summary))


def _save(out: Path, model: MaskedLM, rule: Rule, row: Row) -> None:
    sentences = tuple(tuple(s) for s in row.subject.sentences)
    _write(out, model, Report(rule, sentences, row.measured, row.floor, row.summary, {}, True))


def _left_out(model: MaskedLM | CausalLM, count: int) -> None:
    if count:
        these = "1 sentence has" if count == 1 else f"{count} sentences have"
        _note([f"{these} more than {MAX_TOKENS} tokens, or none, for {model.name}; left out"])


def _note(notes: Sequence[str]) -> None:
    for note in notes:
        print(f"note: {note}", file=sys.stderr)


def _bar(share: float) -> None:
    if sys.stderr.isatty():
        print(f"\r{100 * share:5.1f} %", end="" if share < 1 else "\r       \r", file=sys.stderr, flush=True)
