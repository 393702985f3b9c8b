"""One training run from text files to an exported folder: the pieces put together."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Any

from transformers.utils import logging

from glauber_core.errors import UserError
from glauber_core.evaluate.report import figures, find_examples
from glauber_core.evaluate.scores import Example
from glauber_core.training.card import card
from glauber_core.training.config import FIXED, Config, Precision
from glauber_core.training.data import encode, read_lines, split
from glauber_core.training.export import export, with_weights
from glauber_core.training.loop import Trainer
from glauber_core.training.models import fresh_model, load_model, load_tokenizer, pieces_limit, writable_folder
from glauber_core.training.packing import Rows
from glauber_core.training.precision import faster
from glauber_core.training.report import Reporter, read_curve
from glauber_core.training.state import FILE, State
from glauber_core.training.stream import Stream

HELD_OUT_ONE_IN = 50


@dataclass(frozen=True)
class Job:
    """What to train on what, beside the settings of ``Config``.

    Attributes:
        out: folder of the exported model; the run's own files go to ``out/run``.
        texts: text files, one sentence or short paragraph a line.
        replay: text files the starting model has already seen.
        heldout: text files to evaluate on; without any, one line in HELD_OUT_ONE_IN of ``texts`` is held out.
        init: model folder or name to continue from; None for fresh weights.
        tokenizer: model folder or name of the tokenizer of fresh weights.
        width, layers, heads: size of fresh weights.
        choose_precision: time both precisions first and take the faster.
        resume: continue the run in ``out/run``.
        report_minutes, checkpoint_minutes: wall time between reports, and between checkpoints.
        notes: Markdown for the model card.
    """

    out: Path
    texts: Sequence[Path]
    replay: Sequence[Path] = ()
    heldout: Sequence[Path] = ()
    init: str | None = None
    tokenizer: str | None = None
    width: int = 128
    layers: int = 4
    heads: int = 4
    choose_precision: bool = True
    resume: bool = False
    report_minutes: float = 10.0
    checkpoint_minutes: float = 5.0
    notes: str = ""


@dataclass(frozen=True)
class Outcome:
    """Result of a run.

    Attributes:
        state: the counters.
        finished: False if the run was interrupted; then nothing was exported.
        sha256: of the exported weights.
        figures: held-out figures (``evaluate.report.figures``) of the last weights, ``raw``, and of their ``average``.
    """

    state: State
    finished: bool
    sha256: str = ""
    figures: dict[str, dict[str, float]] = field(default_factory=dict)


def train(job: Job, config: Config, say: Callable[[str], None] = print) -> Outcome:
    """Train, evaluate and export.

    Args:
        job: files and starting weights.
        config: settings.
        say: where lines for the user go.

    Raises:
        UserError: something given cannot be used; the message says what.
    """
    source = job.init or job.tokenizer
    if source is None:
        raise UserError("Give --init (a model to continue) or --tokenizer (for fresh weights).")
    lines = {path: read_lines(path) for path in [*job.texts, *job.replay, *job.heldout]}
    folder = writable_folder(job.out / "run")
    if (folder / FILE).exists() and not job.resume:
        raise UserError(f"{job.out} already holds a run: add --resume to continue it, or choose another --out.")
    held = {path: lines[path] for path in job.heldout}
    if not job.heldout:
        for path in job.texts:
            lines[path], held[path] = split(lines[path], HELD_OUT_ONE_IN)

    logging.disable_progress_bar()
    tokenizer = load_tokenizer(source)
    model: Any = load_model(job.init, config.kind) if job.init else None
    if model is None:
        model = fresh_model(tokenizer, config, job.width, job.layers, job.heads)
    config = replace(config, max_pieces=min(config.max_pieces, pieces_limit(model)))
    encoded = {p: encode(lines[p], tokenizer, config.max_pieces, str(p)) for p in [*job.texts, *job.replay]}
    stream = Stream([encoded[p] for p in job.texts], [encoded[p] for p in job.replay], tokenizer, config)
    _keep_settings(folder, config, stream.fingerprint, job.resume)
    if job.choose_precision:
        config = replace(config, precision=_faster(model, tokenizer, stream, config, folder))
    cases = find_examples(config.kind, {_label(path): text for path, text in held.items()}, tokenizer)
    trainer = Trainer(model, tokenizer, stream, config, folder, job.resume)
    say(
        f"{stream.tokens:,} word pieces, {stream.batches(trainer.state.epoch):,} batches an epoch, "
        f"{len(cases):,} held-out sentences, {config.precision}"
    )
    with _stoppable(trainer):
        report = Reporter(trainer, tokenizer, cases, folder / "curve.jsonl", say)
        trainer.run(report, job.report_minutes * 60, job.checkpoint_minutes * 60)
    if trainer.progress() < 1.0:
        say(f"Stopped after {trainer.state.step:,} steps; the same command with --resume goes on from here.")
        return Outcome(trainer.state, finished=False)
    sizes = [(_label(path), len(text), len(text.ids)) for path, text in encoded.items()]
    return _finish(job, trainer, tokenizer, cases, sizes, say)


def _finish(
    job: Job,
    trainer: Trainer,
    tokenizer: Any,
    cases: Sequence[Example],
    sizes: Sequence[tuple[str, int, int]],
    say: Callable[[str], None],
) -> Outcome:
    models = {"raw": trainer.model, "average": with_weights(trainer.model, trainer.average.weights)}
    found = {name: figures(trainer.config.kind, model, cases, tokenizer) for name, model in models.items()}
    best = min(models, key=lambda name: found[name].get("loss", 0.0))
    chosen = "The stored weights are those at the end of the run."
    if cases:
        losses = ", ".join(f"{name} {values['loss']:.4f}" for name, values in found.items())
        chosen = (
            f"Of the weights at the end (raw) and their running average, the {best} ones are stored "
            f"(held-out loss in nats: {losses}; {len(cases):,} sentences)."
        )
    start = f"the weights of {Path(job.init).name}" if job.init else "random weights"
    text = card(
        job.out.resolve().name,
        trainer.model,
        start,
        sizes,
        trainer.config,
        trainer.state,
        read_curve(trainer.folder / "curve.jsonl"),
        chosen,
        job.notes,
    )
    digest = export(models[best], tokenizer, job.out, text)
    say(f"{chosen}\nExported to {job.out}, SHA-256 {digest}")
    return Outcome(trainer.state, True, digest, found)


def _label(path: Path) -> str:
    return path.name.removesuffix(".gz").removesuffix(".txt")


def _keep_settings(folder: Path, config: Config, fingerprint: int, resume: bool) -> None:
    """Store what a resumed run must not change, or compare with what is stored."""
    path = folder / "settings.json"
    present = {name: getattr(config, name) for name in FIXED} | {"texts": fingerprint}
    if resume and path.exists():
        stored = json.loads(path.read_text(encoding="utf-8"))
        if changed := [name for name in present if stored.get(name) != present[name]]:
            raise UserError(
                f"A resumed run must keep its {', '.join(changed)}; repeat the first command with --resume."
            )
    path.write_text(json.dumps(present) + "\n", encoding="utf-8")


def _faster(model: Any, tokenizer: Any, stream: Stream, config: Config, folder: Path) -> Precision:
    """The faster precision on a quarter of a batch, uncompiled: compiling both would take longer than it could win."""
    probe = Trainer(model, tokenizer, stream, replace(config, compile=False), folder)
    few = Rows(*(part[: max(1, config.rows // 4)] for part in stream.batch(0, 0)))
    try:
        return faster(lambda: probe.loss(few))
    finally:
        model.zero_grad()


@contextmanager
def _stoppable(trainer: Trainer) -> Iterator[None]:
    """While inside, SIGTERM and Ctrl-C end the run after the present step, with a checkpoint."""

    def stop(number: int, frame: FrameType | None) -> None:
        trainer.stop = True

    if threading.current_thread() is not threading.main_thread():  # only the main thread may set handlers
        yield
        return
    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
