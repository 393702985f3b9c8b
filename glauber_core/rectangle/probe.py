"""One rectangle, in full: corners, log-ratios, sums, curl, noise floor and verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Bool
from torch import Tensor

from glauber_core.errors import UserError
from glauber_core.rectangle.results import EDGES, Measured, Rectangles, corners
from glauber_core.rectangle.survey import measure
from glauber_core.temperature import check_tau
from glauber_core.types import Conditionals, JointLaw

SINGLE_ROWS = 4  # a rectangle's own rows, in one batch
MIN_TAU = 1e-100  # below it log-ratios could leave the range of float64
Verdict = Literal["contradiction", "agree", "zero", "unknown"]


@dataclass(frozen=True)
class Probe:
    """One rectangle.

    Attributes:
        x, y, w, z: token ids of the four corners (``results``).
        i, j: the positions, 0-based.
        tau: temperature of the numbers.
        ratios: log-ratios along the edges in the order of ``EDGES``, nats.
        l1, l2: sums along the two ways from x to z, nats.
        curl: l1 - l2, nats.
        delta: |curl|, nats.
        relative: |curl| / (|l1| + |l2|), 0 where both are 0.
        floor: noise floor at this temperature, nats; None if it has not been measured.
        verdict: ``contradiction`` (delta above the floor: no joint law has these conditionals), ``agree`` (not above
            it), ``zero`` (a joint law by construction), ``unknown`` (no floor).
    """

    x: tuple[int, ...]
    y: tuple[int, ...]
    w: tuple[int, ...]
    z: tuple[int, ...]
    i: int
    j: int
    tau: float
    ratios: tuple[float, float, float, float]
    l1: float
    l2: float
    curl: float
    delta: float
    relative: float
    floor: float | None
    verdict: Verdict

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; the four ratios under the names of their edges."""
        data = asdict(self)
        return data | {"ratios": dict(zip(EDGES, self.ratios, strict=True))}


def rectangle(
    model: Conditionals | JointLaw,
    tokens: Sequence[int],
    i: int,
    j: int,
    a_new: int,
    b_new: int,
    tau: float = 1.0,
    floor: float | None = None,
) -> Probe:
    """Test one rectangle (arXiv 2605.16378, section 3): four model rows in one batch.

    Args:
        model: conditionals, or a joint law as a control.
        tokens: token ids of the sentence x.
        i, j: two different positions, 0-based.
        a_new, b_new: replacements of the tokens at i and at j.
        tau: temperature, at least ``MIN_TAU``; all log-ratios scale with 1/tau.
        floor: noise floor in nats at tau = 1 (``floor.noise_floor``).

    Raises:
        UserError: no such rectangle (equal positions, a replacement equal to the present token, a token that the model
            never writes, fewer than two words), or a temperature below ``MIN_TAU`` or not finite.
    """
    tau = check_tau(tau)
    if tau < MIN_TAU:
        raise UserError("The rectangle test needs a temperature above 0: at 0 the logarithms are infinite.")
    check(model.allowed, tokens, i, j, a_new, b_new)
    columns = (np.array([value], dtype=np.int64) for value in (0, i, j, tokens[i], tokens[j], a_new, b_new))
    only = Rectangles(*columns)
    ratios = measure(model, torch.tensor([list(tokens)]), only, None, SINGLE_ROWS)
    return probe(Measured(only, ratios), 0, tokens, tau, floor, isinstance(model, Conditionals))


def probe(
    measured: Measured,
    row: int,
    tokens: Sequence[int],
    tau: float = 1.0,
    floor: float | None = None,
    conditional: bool = True,
) -> Probe:
    """Rectangle ``row`` of a survey in full; ``conditional`` is False for a joint law. Other arguments as above."""
    r = measured.rectangles
    i, j = int(r.i[row]), int(r.j[row])
    ratios = measured.ratios[row] / tau
    curl = float(measured.curl[row]) / tau
    # Both scale with 1/tau, so they are compared where neither can underflow.
    above = floor is not None and measured.delta[row] > floor
    verdict: Verdict = "unknown" if floor is None else "contradiction" if above else "agree"
    return Probe(
        *corners(tokens, i, j, int(r.a_new[row]), int(r.b_new[row])),
        i,
        j,
        tau,
        (float(ratios[0]), float(ratios[1]), float(ratios[2]), float(ratios[3])),
        float(measured.l1[row]) / tau,
        float(measured.l2[row]) / tau,
        curl,
        abs(curl),
        float(measured.relative[row]),
        None if floor is None else floor / tau,
        verdict if conditional else "zero",
    )


def check(allowed: Bool[Tensor, " V"], tokens: Sequence[int], i: int, j: int, a_new: int, b_new: int) -> None:
    """Raise UserError, one sentence, if these do not make a rectangle; words are counted from 1 in it."""
    n = len(tokens)
    if n < 2:
        raise UserError("A rectangle needs two words: type a longer sentence.")
    for place in (i, j):
        if not 0 <= place < n:
            raise UserError(f"There is no word {place + 1}: the sentence has {n} tokens.")
    if i == j:
        raise UserError("Both corners are the same word: choose two different ones.")
    for place, new in ((i, a_new), (j, b_new)):
        if not 0 <= tokens[place] < len(allowed) or not bool(allowed[tokens[place]]):
            raise UserError(f"Word {place + 1} is not one the model writes, so it cannot be a corner: choose another.")
        if not 0 <= new < len(allowed) or not bool(allowed[new]):
            raise UserError(f"The model never writes the replacement of word {place + 1}: choose another.")
        if new == tokens[place]:
            raise UserError(f"Word {place + 1} already stands there: choose a different replacement.")
