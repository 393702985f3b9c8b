"""Run chains of a language model and measure how far their meaning drifts (``drift`` holds the definitions)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float32, Float64, Int64
from torch import Tensor

from glauber_core.errors import UserError
from glauber_core.mixing.drift import FRACTION, Hitting, Reference, hitting_times, semantic_drift
from glauber_core.mixing.walk import walk
from glauber_core.models import MaskedLM
from glauber_core.shape import EvaluationShape, shape_for

Embed = Callable[[Sequence[str]], Float32[np.ndarray, "m d"]]


class DriftRun(NamedTuple):
    """Drift of C chains at one temperature.

    Attributes:
        tau: temperature.
        n: tokens of a sentence.
        steps: int64 [K], times looked at; n steps are a sweep.
        drift: float64 [K, C], 1 - cos(e(x_0), e(x_t)).
        hitting: when each chain first was as far as stated; medians by ``survival.median``.
        shape: the evaluation shape the chains are reproducible at.
    """

    tau: float
    n: int
    steps: Int64[np.ndarray, " K"]
    drift: Float64[np.ndarray, "K C"]
    hitting: Hitting
    shape: EvaluationShape


def run_drift(
    model: MaskedLM,
    embed: Embed,
    start: Int64[Tensor, "C n"],
    tau: float,
    sweeps: int,
    reference: Reference,
    fraction: float = FRACTION,
    looks: int = 1,
    seed: int = 0,
    shape: EvaluationShape | None = None,
    progress: Callable[[float], None] = lambda share: None,
) -> DriftRun:
    """Plain chains from given sentences, looked at at regular times.

    Args:
        model: its vocabulary writes the sentences out.
        embed: texts -> unit rows, float32 [m, d]; each different sentence is embedded once.
        start: int64 [C, n].
        tau: temperature.
        sweeps: length of the run, >= 1.
        reference: distance of independent sentences, by the same embedder (``drift.reference_distance``).
        fraction: of it, for the hitting time.
        looks: a sweep, >= 1; at most n.
        seed: of the streams.
        shape: canonical evaluation shape; ``shape_for`` the chains if None.
        progress: called often with the share done; what it raises ends the run.

    Raises:
        UserError: no chain, a number of sweeps or looks outside its range, or a bad temperature or seed.
    """
    count, n = start.shape
    if sweeps < 1 or not 1 <= looks <= n:
        raise UserError("A drift run needs at least one sweep, and from one look a sweep to one a step.")
    times = np.unique(np.arange(sweeps * looks + 1) * n // looks)
    chosen = shape or shape_for(model, max(count, 1))
    known: dict[str, Float32[np.ndarray, " d"]] = {}
    rows = []
    for tokens in walk(model, start, tau, times, seed, chosen, progress=progress):
        texts = [model.vocabulary.text(row) for row in tokens.tolist()]
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known.update(zip(new, embed(new), strict=True))
        rows.append(np.stack([known[text] for text in texts]))
    drift = semantic_drift(rows[0], np.stack(rows))
    return DriftRun(tau, n, times, drift, hitting_times(drift, times, reference, fraction), chosen)
