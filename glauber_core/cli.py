"""The command line: ``python -m glauber_core``."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from glauber_core.chain import Chain
from glauber_core.errors import UserError
from glauber_core.models import BUILT_IN, MaskedLM, load
from glauber_core.profile import StateProfile, Verdict
from glauber_core.temperature import SCHEDULES, Schedule, check_tau


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m glauber_core", description="Glauber dynamics on language models.")
    commands = parser.add_subparsers(dest="command", required=True)
    chain = commands.add_parser("chain", help="run one chain and print its sentence once a sweep")
    chain.add_argument("text", help="the sentence to begin with; [MASK] leaves a blank")
    chain.add_argument("--model", default=BUILT_IN, help="built-in name, hub id or folder (default: %(default)s)")
    chain.add_argument("--tau", default="1.0", help="temperature, >= 0 (default: %(default)s)")
    chain.add_argument("--sweeps", type=float, default=20, help="length of the run (default: %(default)s)")
    chain.add_argument("--seed", type=int, default=0, help="seed of the random stream (default: %(default)s)")
    chain.add_argument("--schedule", choices=SCHEDULES, default="constant", help="temperature over time")
    chain.add_argument(
        "--lock", type=int, nargs="*", default=[], metavar="WORD", help="words (1-based) kept as they are"
    )
    chain.add_argument(
        "--skip-waiting",
        action="store_true",
        help="go from change to change: same law, other random numbers, and a trap costs no time; a line a change",
    )
    chain.add_argument("--device", default="cpu", help="cpu, cuda, ... (default: %(default)s)")
    chain.add_argument("--out", type=Path, help="write the run record here (.json, or .csv for the steps alone)")
    chain.add_argument("--quiet", action="store_true", help="print the last sentence only")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit status: 0, or 2 after one sentence about what cannot be done, 130 if interrupted."""
    arguments = _parser().parse_args(argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a word shows "?"
    try:
        return _chain(arguments)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of a pipe has seen enough
        sys.stdout = open(os.devnull, "w")
        return 0


def _chain(arguments: argparse.Namespace) -> int:
    tau = check_tau(arguments.tau)
    if not 0 <= arguments.sweeps < (1e300 if arguments.skip_waiting else 1e7):
        raise UserError("The number of sweeps must lie between 0 and ten million (1e300 with --skip-waiting).")
    out: Path | None = arguments.out
    if out is not None:
        _check_out(out)
    model = load(arguments.model, arguments.device)
    encoded = model.vocabulary.encode(arguments.text)
    for note in encoded.notes:
        print(f"note: {note}", file=sys.stderr)
    chain = Chain(
        model, encoded.ids, arguments.seed, tau, schedule=Schedule(arguments.schedule), start_text=arguments.text
    )
    chain.set_locked(p - 1 for p in arguments.lock)
    try:
        _run(chain, model, arguments)
    finally:  # an interrupted run is kept as far as it came
        if out is not None:
            _write(out, chain, model)
    return 0


def _check_out(out: Path) -> None:
    """Refuse a file that cannot be written before anything is computed."""
    parent = out.absolute().parent
    if not parent.is_dir():
        raise UserError(f"There is no folder {parent} to write to.")
    if out.is_dir() or not os.access(out if out.exists() else parent, os.W_OK):
        raise UserError(f"{out} cannot be written; name another file with --out.")
    if out.suffix.lower() not in (".json", ".csv"):
        raise UserError("The file given by --out must end in .json or .csv.")


def _run(chain: Chain, model: MaskedLM, arguments: argparse.Namespace) -> None:
    total = round(arguments.sweeps * chain.sweep_length)
    first = chain.look()
    if not arguments.quiet or total == 0:
        print(_line(chain, model, *first))
    while left := total - chain.record.elapsed:
        if arguments.skip_waiting:
            chain.skip(1, left)
        else:
            chain.advance(min(chain.sweep_length, left))
        figures, found = chain.look()
        if not arguments.quiet or chain.record.elapsed == total:
            print(_line(chain, model, figures, found), flush=True)


def _line(chain: Chain, model: MaskedLM, figures: StateProfile, found: Verdict) -> str:
    sweep = chain.record.elapsed / chain.sweep_length
    holding = f"h {figures.holding:.3f}"
    time = f"{sweep:7.1f}" if sweep < 1e7 else f"{sweep:7.2e}"
    return f"{time}  tau {figures.tau:<5.3g} {holding}  {found.kind:<11}  {model.vocabulary.text(chain.tokens)}"


def _write(out: Path, chain: Chain, model: MaskedLM) -> None:
    text = (
        chain.record.to_csv(lambda i: model.vocabulary.surface(i).text)
        if out.suffix.lower() == ".csv"
        else chain.record.to_json()
    )
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{out} cannot be written: {error.strerror}.") from None
