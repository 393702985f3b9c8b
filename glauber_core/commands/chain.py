"""``python -m glauber_core chain``: one chain, its sentence printed once a sweep."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from glauber_core.chain import Chain
from glauber_core.commands.files import check_out, write
from glauber_core.errors import UserError
from glauber_core.models import BUILT_IN, MaskedLM, load
from glauber_core.profile import StateProfile, Verdict
from glauber_core.temperature import SCHEDULES, Schedule, check_tau


def add(commands: Any) -> None:
    """Add the command to argparse's sub-commands."""
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
    chain.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the chain. Raises UserError where the arguments cannot be used."""
    tau = check_tau(arguments.tau)
    if not 0 <= arguments.sweeps < (1e300 if arguments.skip_waiting else 1e7):
        raise UserError("The number of sweeps must lie between 0 and ten million (1e300 with --skip-waiting).")
    out: Path | None = arguments.out
    if out is not None:
        check_out(out)
    model = load(arguments.model, arguments.device)
    encoded = model.vocabulary.encode(arguments.text)
    for note in encoded.notes:
        print(f"note: {note}", file=sys.stderr)
    chain = Chain(
        model, encoded.ids, arguments.seed, tau, schedule=Schedule(arguments.schedule), start_text=arguments.text
    )
    chain.set_locked(p - 1 for p in arguments.lock)
    try:
        _print(chain, model, arguments)
    finally:  # an interrupted run is kept as far as it came
        if out is not None:
            _write(out, chain, model)
    return 0


def _print(chain: Chain, model: MaskedLM, arguments: argparse.Namespace) -> None:
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
    write(out, text)
