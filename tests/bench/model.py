"""The model that comes with the package: size of all model files, and how well it guesses a hidden word."""

from __future__ import annotations

import os
from pathlib import Path

import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

from glauber_core.evaluate.report import figures, find_examples
from glauber_core.models.source import ASSETS, BUILT_IN
from glauber_core.training.data import read_lines

HELDOUT = Path(os.environ.get("GLAUBER_HELDOUT", Path(__file__).resolve().parents[3] / "shared/corpus/heldout"))


def measure() -> dict[str, float]:
    """model_files_total_mb: everything under assets/, in MB (10^6 bytes).

    model_top1, model_top5 (shares), model_loss_nats: one hidden word in each held-out sentence, all sentences of the
    folder GLAUBER_HELDOUT; absent where there is no such folder, because the texts are not part of the package.
    """
    found = {"model_files_total_mb": sum(f.stat().st_size for f in ASSETS.rglob("*") if f.is_file()) / 1e6}
    files = sorted(HELDOUT.glob("*.gz"))
    if not files:
        print("no held-out texts: set GLAUBER_HELDOUT to a folder of .gz files for model_top1, model_top5, model_loss")
        return found
    tokenizer = AutoTokenizer.from_pretrained(ASSETS / BUILT_IN)
    model = AutoModelForMaskedLM.from_pretrained(ASSETS / BUILT_IN, dtype=torch.float32)
    cases = find_examples("masked", {path.name: read_lines(path) for path in files}, tokenizer)
    scores = figures("masked", model, cases, tokenizer)
    print(f"{len(cases):,} held-out sentences")
    return found | {
        "model_top1": scores["top1"],
        "model_top5": scores["top5"],
        "model_loss_nats": scores["loss"],
    }
