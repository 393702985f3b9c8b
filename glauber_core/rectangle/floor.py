"""The noise floor: how large a delta rounding alone can make (MATH section 2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from glauber_core.rectangle.edges import ROWS
from glauber_core.rectangle.results import Measured
from glauber_core.rectangle.schemes import generator
from glauber_core.rectangle.survey import measure_again
from glauber_core.types import Conditionals, JointLaw

SAMPLE = 24
SHAPES = (1, 4)  # other micro-batch sizes to compare with; 4 is that of a single rectangle


@dataclass(frozen=True)
class Floor:
    """The largest disagreement about delta among ways of computing that agree in exact arithmetic.

    Attributes:
        value: nats; a delta above it is a contradiction, not rounding. The larger of the next two, plus ``arithmetic``:
            a delta that is all rounding differs from the float64 one by nearly itself, not by all of itself.
        precision: nats, largest |delta in the model's dtype - delta in float64| at any of these micro-batch sizes; 0
            for a float64 model.
        jitter: nats, largest difference between micro-batches of ``ROWS`` and of ``SHAPES`` rows.
        arithmetic: nats, rounding of the float64 sums themselves.
        rectangles: how many it was measured on.
        dtype: of the model, ``float32`` for example.
    """

    value: float
    precision: float
    jitter: float
    arithmetic: float
    rectangles: int
    dtype: str


def noise_floor(
    model: Conditionals | JointLaw,
    precise: Conditionals | JointLaw | None,
    sentences: Sequence[Sequence[int]],
    measured: Measured,
    sample: int = SAMPLE,
    seed: int = 0,
    progress: Callable[[float], None] = lambda share: None,
) -> Floor:
    """Measure rectangles again in float64 and in batches of other shapes.

    Args:
        model: what measured them.
        precise: the same model in float64; None if ``model`` computes in float64 already.
        sentences: token ids, those that ``measured.rectangles.sentence`` counts.
        measured: N rectangles in the model's dtype.
        sample: at most so many of them are measured again, the largest delta among them, the others drawn at random.
        seed: of that draw.
        progress: called with the share done; what it raises ends the work.
    """
    chosen = np.arange(len(measured))
    if len(chosen) > sample:
        worst = int(np.argmax(measured.delta))
        rest = generator(seed, 0).choice(np.delete(chosen, worst), size=sample - 1, replace=False)
        chosen = np.sort(np.append(rest, worst))
    mine = measured.take(chosen)
    ways = [(model, ROWS), *((model, rows) for rows in SHAPES)] + ([] if precise is None else [(precise, ROWS)])
    found = []
    for done, (how, rows) in enumerate(ways):

        def within(share: float, done: int = done) -> None:
            progress((done + share) / len(ways))

        found.append(measure_again(how, sentences, mine.rectangles, rows, within))
    usual, others = found[0], found[1 : len(SHAPES) + 1]
    jitter = max(_gap(other, usual) for other in others)
    precision = 0.0 if precise is None else max(_gap(one, found[-1]) for one in (usual, *others))
    # Eight logits of the size of tens of nats, each rounded, then seven additions.
    size = float(np.abs(usual.ratios).sum(axis=1).max(initial=10.0))
    arithmetic = 64.0 * float(np.finfo(np.float64).eps) * size
    dtype = str(getattr(model, "dtype", "float64")).removeprefix("torch.")
    return Floor(max(precision, jitter) + arithmetic, precision, jitter, arithmetic, len(mine), dtype)


def _gap(one: Measured, other: Measured) -> float:
    return float(np.abs(one.delta - other.delta).max(initial=0.0))
