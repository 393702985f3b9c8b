"""Whole-state figures: exact exit rate, margins, and the trap verdict (MATH section 4; arXiv 2605.16378, section 4)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float64, Int64
from torch import Tensor

from glauber_core.kernels import entropy_of, log_conditional, lowest_argmax, margin_of
from glauber_core.types import Conditionals

HOLD = 0.99
WINDOW_SWEEPS = 20
_ROWS = 16


class StateProfile(NamedTuple):
    """Figures of one state at one temperature; position-wise arrays are float64/bool [n], NaN at locked positions.

    Attributes:
        log_prob: log p_i^tau(x_i | x_-i), nats (-inf at tau = 0 where x_i is not the argmax).
        entropy: of p_i^tau(. | x_-i), nats.
        margin: g_i(x), nats at tau = 1; NaN where x_i lies outside V.
        defined: free positions whose token lies in V; the rest is left out of margins and of the exit rate.
        argmax: x_i is the conditional's most likely token (lowest id on ties).
        log_exit: log q with q = (1/n) sum_i sum_{v != x_i} p_i^tau(v | x_-i), the sum over defined positions;
            -inf when absorbed, NaN when no position is defined.
        tau: the temperature.
    """

    log_prob: Float64[np.ndarray, " n"]
    entropy: Float64[np.ndarray, " n"]
    margin: Float64[np.ndarray, " n"]
    defined: Bool[np.ndarray, " n"]
    argmax: Bool[np.ndarray, " n"]
    log_exit: float
    tau: float

    @property
    def exit_rate(self) -> float:
        """q, per step; exact up to the model's own rounding."""
        return math.exp(self.log_exit)

    @property
    def holding(self) -> float:
        """h = 1 - q, the probability that one step changes nothing."""
        return -math.expm1(self.log_exit)

    @property
    def dwell(self) -> float:
        """Mean number of steps until the next change, 1/q; inf when absorbed or above 1e308."""
        return math.inf if self.log_exit <= -709 else math.exp(-self.log_exit)

    def summary(self, step: int) -> dict[str, Any]:
        """The figures a run record keeps, JSON-ready."""
        margins = self.margin[self.defined]
        return {
            "step": step,
            "tau": self.tau,
            "log_exit": float(self.log_exit),
            "holding": self.holding,
            "argmax": int(self.argmax[self.defined].sum()),
            "defined": int(self.defined.sum()),
            "min_margin": float(margins.min()) if len(margins) else math.nan,
        }


def profile(
    conditionals: Conditionals, tokens: Int64[Tensor, " n"], tau: float, free: Int64[Tensor, " m"]
) -> StateProfile:
    """Evaluate one state at every free position: m rows of the model, in batches of at most 16.

    Args:
        tokens: int64 [n], the state.
        tau: temperature, >= 0.
        free: int64 [m], the positions that may be resampled.
    """
    n = len(tokens)
    arrays = {name: np.full(n, np.nan) for name in ("log_prob", "entropy", "margin")}
    defined, best, leave = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool), []
    allowed = conditionals.allowed.cpu()
    for part in torch.split(free, _ROWS) if len(free) else ():
        logits = conditionals(tokens.expand(len(part), -1), part)
        own = tokens[part].to(logits.device)
        log_p = log_conditional(logits, torch.full((len(part),), tau, dtype=torch.float64, device=logits.device))
        where = part.numpy()
        inside = allowed[tokens[part]]
        arrays["entropy"][where] = entropy_of(log_p).cpu().numpy()
        arrays["margin"][where] = margin_of(logits, own).cpu().numpy()
        arrays["log_prob"][where] = log_p.gather(1, own[:, None])[:, 0].cpu().numpy()
        defined[where] = inside.numpy()
        best[where] = (lowest_argmax(logits) == own).cpu().numpy()
        # The probabilities of change are summed themselves: 1 - p would lose everything below 1e-16.
        others = log_p.scatter(1, own[:, None], -torch.inf)
        leave.append(torch.logsumexp(others, dim=1)[inside.to(logits.device)].cpu())
    arrays["log_prob"][~defined] = np.nan
    terms = torch.cat(leave) if leave else torch.empty(0, dtype=torch.float64)
    log_exit = float(torch.logsumexp(terms, dim=0)) - math.log(len(free)) if len(terms) else math.nan
    return StateProfile(
        arrays["log_prob"], arrays["entropy"], arrays["margin"], defined, best & defined, min(log_exit, 0.0), tau
    )


@dataclass(frozen=True)
class Verdict:
    """Attributes:
    kind: ``perfect``, ``approximate``, ``wandering`` or ``unknown``.
    reason: ``margins``, ``holding``, ``window`` or ``none``: which part of the definition decided.
    skipped: free positions left out because their token lies outside V.
    """

    kind: str
    reason: str
    skipped: int


def verdict(
    figures: StateProfile, free: int, recent: Int64[np.ndarray, "k n"] | None = None, hold: float = HOLD
) -> Verdict:
    """Perfect trap, approximate trap or wandering (MATH section 4, its defaults).

    Args:
        figures: profile of the present state at the chain's temperature.
        free: number of free positions.
        recent: int64 [k, n], every state of the last ``WINDOW_SWEEPS`` sweeps, or None if the chain is younger.
        hold: holding probability from which a state counts as an approximate trap.
    """
    margins = figures.margin[figures.defined]
    skipped = free - len(margins)
    if len(margins) == 0 or math.isnan(figures.log_exit):
        return Verdict("unknown", "none", skipped)
    if bool((margins > 0).all()):
        return Verdict("perfect", "margins", skipped)
    if figures.holding >= hold:
        return Verdict("approximate", "holding", skipped)
    if recent is not None and confined(recent, max(1.0, free / 8)):
        return Verdict("approximate", "window", skipped)
    return Verdict("wandering", "none", skipped)


def confined(states: Int64[np.ndarray, "k n"], radius: float) -> bool:
    """True if some visited state has all the others within Hamming distance ``radius``."""
    distinct = np.unique(states, axis=0)
    # Every other state lies within twice the radius of the first, or no centre can exist.
    if ((distinct != distinct[0]).sum(axis=1) > 2 * radius).any():
        return False
    return any(bool(((distinct != centre).sum(axis=1) <= radius).all()) for centre in distinct)
