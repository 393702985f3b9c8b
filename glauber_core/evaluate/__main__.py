"""Held-out figures and sample chains of a model: ``python -m glauber_core.evaluate MODEL --texts FILE ...``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer
from transformers.utils import logging

from glauber_core.errors import UserError
from glauber_core.evaluate import chains, report
from glauber_core.models import MaskedLM
from glauber_core.models.source import Source, locate
from glauber_core.starters import STARTERS
from glauber_core.training.data import read_lines


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code, 2 for input that cannot be used."""
    options = _parser().parse_args(argv)
    try:
        _evaluate(options)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m glauber_core.evaluate", description=__doc__)
    parser.add_argument("model", help="glauber-mini, a hub name such as google-bert/bert-base-uncased, or a folder")
    parser.add_argument("--texts", nargs="+", type=Path, metavar="FILE",
                        help="held-out UTF-8 text, plain or .gz, a sentence a line (default: the package's own few "
                        "sentences, enough for a rough figure only)")  # fmt: skip
    parser.add_argument("--kind", choices=("masked", "causal"), default="masked", help="of the model (%(default)s)")
    parser.add_argument("--limit", type=int, metavar="N", help="at most N sentences per text, evenly spread")
    parser.add_argument("--seed", type=int, default=0, help="of the masked positions and the chains (%(default)s)")
    parser.add_argument("--sweeps", type=int, default=20, metavar="N", help="length of the sample chains (%(default)s)")
    parser.add_argument("--no-chains", action="store_true", help="held-out figures only (a causal model has no others)")
    parser.add_argument("--traps", nargs="+", type=float, default=[], metavar="TAU",
                        help="also the share of starters that reach a trap within 200 sweeps (slow)")  # fmt: skip
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures to this file too")
    return parser


def _evaluate(options: argparse.Namespace) -> None:
    source = locate(options.model)
    texts = {"own sentences": [*(s.text for s in STARTERS), *chains.PROMPTS]}
    if options.texts:
        texts = {path.name.removesuffix(".gz").removesuffix(".txt"): read_lines(path) for path in options.texts}
    if options.limit:
        texts = {name: lines[:: max(1, -(-len(lines) // options.limit))] for name, lines in texts.items()}
    model, tokenizer = _load(source, options.kind)
    cases = report.find_examples(options.kind, texts, tokenizer, options.seed)
    if not cases:
        raise UserError("The texts hold no sentence of three word pieces or more; give longer ones.")
    parts = report.breakdown(report.score(options.kind, model, cases, tokenizer), cases)
    found: dict[str, Any] = {"model": source.name, "sha256": source.sha256, "kind": options.kind}
    found |= {"heldout": report.as_json(parts)}
    print(f"{source.name} ({source.sha256[:12]})\n\n{report.table(parts)}", flush=True)
    if options.kind == "masked" and not options.no_chains:
        found |= _chains(MaskedLM(source), options.sweeps, options.seed)
        found["traps"] = {str(tau): _traps(MaskedLM(source), tau, options.seed) for tau in options.traps}
    if options.json:
        try:
            options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        except OSError as error:
            raise UserError(f"{options.json} cannot be written ({error.strerror}).") from None


def _chains(model: MaskedLM, sweeps: int, seed: int) -> dict[str, Any]:
    before, after = chains.fragments_at(model, [s.text for s in STARTERS], sweeps, seed=seed)
    print(
        f"\nWord-piece fragments after {sweeps} sweeps at tau = 1 from {len(STARTERS)} sentences: "
        f"{after:.1%} of the tokens ({before:.1%} at the start)\n\n{sweeps} sweeps at tau = 0.7:",
        flush=True,
    )
    written = chains.rewrite(model, sweeps=sweeps, seed=seed)
    for pair in written:
        print(f"- {pair.before}\n  {pair.after}")
    return {"fragments": {"before": before, "after": after}, "prompts": [pair._asdict() for pair in written]}


def _traps(model: MaskedLM, tau: float, seed: int) -> list[tuple[str, int]]:
    found = chains.trapped(model, [s.text for s in STARTERS], tau, seed=seed)
    kinds = [kind for kind, _ in found]
    print(
        f"\nTraps within 200 sweeps at tau = {tau:g}: {kinds.count('perfect')} perfect, "
        f"{kinds.count('approximate')} approximate, of {len(kinds)} starters",
        flush=True,
    )
    return found


def _load(source: Source, kind: str) -> tuple[Any, Any]:
    logging.disable_progress_bar()
    loader: Any = AutoModelForMaskedLM if kind == "masked" else AutoModelForCausalLM
    try:
        model = loader.from_pretrained(source.folder, dtype=torch.float32)
        tokenizer = AutoTokenizer.from_pretrained(source.folder)
    except (OSError, ValueError, KeyError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UserError(f"{source.name} cannot be loaded as a {kind} language model: {reason}") from None
    if tokenizer.pad_token_id is None or (kind == "masked" and tokenizer.mask_token_id is None):
        raise UserError(f"The tokenizer of {source.name} has no padding or no mask token, so it cannot be evaluated.")
    return model, tokenizer


if __name__ == "__main__":
    sys.exit(main())
