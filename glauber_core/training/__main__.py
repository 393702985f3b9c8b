"""Train a masked or a small causal language model on text files: ``python -m glauber_core.training --help``."""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from glauber_core.errors import UserError
from glauber_core.training.config import Config
from glauber_core.training.run import Job, train

EXAMPLE = """
A sentence or short paragraph a line. Continue the built-in model on your own text for half an hour:
  python -m glauber_core.training --texts my.txt --init glauber_core/assets/glauber-mini --out my-model --minutes 30
Stop it with Ctrl-C and go on later with the same command and --resume. A small causal model from nothing:
  python -m glauber_core.training --kind causal --texts my.txt --tokenizer glauber_core/assets/glauber-mini --out my-lm
"""
# Fresh weights of a small model bear higher rates than trained ones.
FRESH_RATE = 2e-3


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code, 2 for input that cannot be used."""
    parser = _parser()
    options = parser.parse_args(argv)
    try:
        train(_job(options), _config(options), lambda line: print(line, flush=True))
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m glauber_core.training",
        description=__doc__.partition(":")[0] + ".",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--kind", choices=("masked", "causal"), default="masked", help="of model (%(default)s)")
    add("--texts", nargs="+", type=Path, required=True, metavar="FILE", help="UTF-8 text, plain or .gz")
    add("--replay", nargs="+", type=Path, default=[], metavar="FILE", help="texts the starting model has already seen")
    add("--replay-share", type=_share, default=0.3, metavar="S", help="their share of the tokens (%(default)s)")
    add("--heldout", nargs="+", type=Path, default=[], metavar="FILE",
        help="texts to evaluate on (default: one line in 50 of --texts is held out)")  # fmt: skip
    add("--init", metavar="MODEL", help="folder or name of the model to continue; without it fresh weights")
    add("--tokenizer", metavar="MODEL", help="folder or name whose tokenizer fresh weights use")
    add("--size", nargs=3, type=_positive_int, default=(128, 4, 4), metavar=("WIDTH", "LAYERS", "HEADS"),
        help="of fresh weights (128 4 4)")  # fmt: skip
    add(
        "--out",
        type=Path,
        required=True,
        metavar="FOLDER",
        help="where the model goes; the run's files go to run/ in it",
    )
    add("--resume", action="store_true", help="continue the run in --out")
    add("--minutes", type=_positive, default=30.0, help="wall time of the whole run (%(default)s)")
    add("--tokens", type=_positive, default=math.inf, help="of the whole run (no limit)")
    add("--rates", nargs=3, type=_positive, metavar=("HEAD", "ENCODER", "EMBEDDINGS"),
        help=f"peak learning rates (0.001 0.0004 0.0003; fresh weights: {FRESH_RATE:g} each)")  # fmt: skip
    add("--warmup", type=int, default=150, metavar="STEPS", help="steps of warm-up (%(default)s)")
    add("--mask-rate", type=_share, default=0.25, metavar="S", help="share of the pieces predicted (%(default)s)")
    add("--precision", choices=("auto", "float32", "bfloat16"), default="auto", help="of matrix products (%(default)s)")
    add("--no-compile", action="store_true", help="do not compile the step (slower; needs no C++ compiler)")
    add("--threads", type=_positive_int, default=os.cpu_count() or 1, help="most threads to use (%(default)s)")
    add("--batch", nargs=2, type=_positive_int, default=(16, 128), metavar=("ROWS", "LENGTH"), help="(16 128)")
    add("--report-minutes", type=_positive, default=10.0, metavar="M", help="between reports (%(default)s)")
    add("--notes", type=Path, metavar="FILE", help="Markdown for the model card: licences of your texts, for example")
    add("--seed", type=int, default=0, help="(%(default)s)")
    return parser


def _job(options: argparse.Namespace) -> Job:
    width, layers, heads = options.size
    if width % heads:
        raise UserError(f"The width {width} cannot be shared by {heads} heads; take a multiple.")
    try:
        notes = options.notes.read_text(encoding="utf-8") if options.notes else ""
    except (OSError, UnicodeDecodeError):
        raise UserError(f"The notes {options.notes} cannot be read; check the path.") from None
    return Job(
        out=options.out,
        texts=options.texts,
        replay=options.replay,
        heldout=options.heldout,
        init=options.init,
        tokenizer=options.tokenizer,
        width=width,
        layers=layers,
        heads=heads,
        choose_precision=options.precision == "auto",
        resume=options.resume,
        report_minutes=options.report_minutes,
        notes=notes,
    )


def _config(options: argparse.Namespace) -> Config:
    head, encoder, embeddings = options.rates or ((1e-3, 4e-4, 3e-4) if options.init else (FRESH_RATE,) * 3)
    rows, length = options.batch
    if length < 4:
        raise UserError("A batch needs rows of at least four pieces.")
    return Config(
        kind=options.kind,
        minutes=options.minutes,
        tokens=options.tokens,
        rows=rows,
        length=length,
        max_pieces=min(Config.max_pieces, length - 2),
        mask_rate=options.mask_rate,
        replay_share=options.replay_share if options.replay else 0.0,
        head_rate=head,
        encoder_rate=encoder,
        embedding_rate=embeddings,
        warmup_steps=options.warmup,
        precision="float32" if options.precision == "auto" else options.precision,
        compile=not options.no_compile,
        threads=options.threads,
        seed=options.seed,
    )


def _positive(text: str) -> float:
    value = float(text)
    if not value > 0:
        raise argparse.ArgumentTypeError("must be above 0")
    return value


def _positive_int(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def _share(text: str) -> float:
    value = float(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError("must lie between 0 and 1")
    return value


if __name__ == "__main__":
    sys.exit(main())
