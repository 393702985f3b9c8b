"""Reports of a run while it goes on: held-out figures on a fixed sample, one JSON line each."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from glauber_core.errors import UserError
from glauber_core.evaluate.report import figures
from glauber_core.evaluate.scores import Example
from glauber_core.training.loop import Trainer
from glauber_core.training.state import State

SAMPLE = 800


class Reporter:
    """Evaluates the present weights and appends a line to the curve; call it with the counters and the training loss.

    A line has the counters of ``State``, ``progress``, ``train_loss`` (nats) and ``evaluate.report.figures``.

    Args:
        trainer: the run.
        tokenizer: of its model.
        cases: held-out examples; a fixed random sample of at most SAMPLE of them is used.
        path: the JSON lines file.
        say: where a line for the user goes.
    """

    def __init__(
        self, trainer: Trainer, tokenizer: Any, cases: Sequence[Example], path: Path, say: Callable[[str], None]
    ) -> None:
        self._cases = [cases[i] for i in np.random.default_rng(0).permutation(len(cases))[:SAMPLE]]
        self._trainer, self._tokenizer, self._path, self._say = trainer, tokenizer, path, say

    def __call__(self, state: State, train_loss: float) -> None:
        line: dict[str, Any] = asdict(state) | {"progress": self._trainer.progress(), "train_loss": train_loss}
        line |= figures(self._trainer.config.kind, self._trainer.model, self._cases, self._tokenizer)
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        except OSError as error:
            raise UserError(f"{self._path} cannot be written ({error.strerror}).") from None
        held = f", held-out {line['loss']:.3f} nats, top-1 {line['top1']:.1%}" if self._cases else ""
        rate = state.tokens / max(state.seconds, 1e-9)
        self._say(
            f"{time.strftime('%H:%M:%S')} step {state.step:,}, {state.tokens:,} tokens ({rate:,.0f}/s), "
            f"training {train_loss:.3f} nats{held}"
        )


def read_curve(path: Path) -> list[dict[str, Any]]:
    """The lines of a curve, oldest first; empty if there is no such file."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
