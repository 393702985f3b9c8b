"""How a time grows with the number of words: C n log n against C n^2 and C exp(c n) (MATH section 6).

Fits are on the log scale, where errors of times are of one size. Source: Levin & Peres, "Markov Chains and Mixing
Times", chapter 15 (n log n when fast, exponential when slow); comparison by Akaike's criterion: Burnham & Anderson,
"Model Selection and Multimodel Inference" (2002), chapter 2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float64
from scipy.optimize import curve_fit
from scipy.stats import t as student

from glauber_core.errors import UserError
from glauber_core.mixing.survival import LEVEL, TooFew

MIN_LENGTHS = 4

Curve = Callable[..., Float64[np.ndarray, " K"]]
# Name -> (log T as a function of n and of the log of C, and of c where there is one; number of parameters).
_CURVES: dict[str, tuple[Curve, int]] = {
    "n log n": (lambda n, log_c: log_c + np.log(n * np.log(n)), 1),
    "n^2": (lambda n, log_c: log_c + 2 * np.log(n), 1),
    "exp(c n)": (lambda n, log_c, rate: log_c + rate * n, 2),
}


class Fit(NamedTuple):
    """One curve through the times.

    Attributes:
        name: ``n log n``, ``n^2`` or ``exp(c n)``.
        scale: C, in the unit of the times.
        scale_low, scale_high: ends of its 95 % interval (Student's t on the log scale).
        rate: c of exp(c n), a word; NaN for the others.
        rate_low, rate_high: ends of its 95 % interval.
        residuals: float64 [K], log(T / fitted), nats.
        rss: sum of the squared residuals.
        aic: N log(rss / N) + 2 (parameters + 1): the smaller the better, differences below 2 mean little.
    """

    name: str
    scale: float
    scale_low: float
    scale_high: float
    rate: float
    rate_low: float
    rate_high: float
    residuals: Float64[np.ndarray, " K"]
    rss: float
    aic: float

    def at(self, n: Float64[np.ndarray, " M"]) -> Float64[np.ndarray, " M"]:
        """The curve, in the unit of the times."""
        curve, count = _CURVES[self.name]
        return np.exp(curve(n, *(np.log(self.scale), self.rate)[:count]))


class Scaling(NamedTuple):
    """Attributes:
    lengths, times: float64 [K], what was fitted.
    fits: one a curve, the best by AIC first.
    """

    lengths: Float64[np.ndarray, " K"]
    times: Float64[np.ndarray, " K"]
    fits: tuple[Fit, ...]

    def by_name(self, name: str) -> Fit:
        """The fit of one curve."""
        return next(fit for fit in self.fits if fit.name == name)

    def advantage(self, name: str) -> float:
        """AIC of the best other curve minus this one's: above 0 if this one is the best."""
        return min(fit.aic for fit in self.fits if fit.name != name) - self.by_name(name).aic


def fit_scaling(
    lengths: Sequence[float] | Float64[np.ndarray, " K"],
    times: Sequence[float] | Float64[np.ndarray, " K"],
    level: float = LEVEL,
    least: int = MIN_LENGTHS,
) -> Scaling:
    """Fit all three curves.

    Args:
        lengths: n >= 2 of each time; at least three different ones.
        times: in steps, finite and above 0; censored medians cannot be fitted: leave their lengths out, and say so.
        level: of the intervals.
        least: different lengths that are needed.

    Raises:
        TooFew: fewer than ``least`` different lengths; it carries the ``Scaling`` if there are at least three.
        UserError: lists that do not fit, a length below 2, or a time that is not finite and above 0.
    """
    n, t = np.asarray(lengths, dtype=np.float64), np.asarray(times, dtype=np.float64)
    if n.shape != t.shape or n.ndim != 1 or (n < 2).any():
        raise UserError("A fit needs one time for each length, and lengths of 2 or more.")
    if not np.isfinite(t).all() or (t <= 0).any():
        raise UserError("A fit needs finite times above 0; leave censored ones out.")
    different = len(np.unique(n))
    message = f"A fit of the growth with n needs at least {least} different lengths; there are {different}."
    if different < 3:
        raise TooFew(message)
    fits = sorted((_fit(name, n, t, level) for name in _CURVES), key=lambda fit: fit.aic)
    found = Scaling(n, t, tuple(fits))
    if different < least:
        raise TooFew(message, found)
    return found


def _fit(name: str, n: Float64[np.ndarray, " K"], t: Float64[np.ndarray, " K"], level: float) -> Fit:
    curve, count = _CURVES[name]
    goal = np.log(t)
    best, covariance = curve_fit(curve, n, goal, p0=np.zeros(count))
    residuals = goal - curve(n, *best)
    rss = float((residuals**2).sum())
    half = student.ppf((1 + level) / 2, len(n) - count) * np.sqrt(np.diag(covariance))
    low, high = best - half, best + half
    rates = (best[1], low[1], high[1]) if count == 2 else (np.nan,) * 3
    floor = max(rss, len(n) * np.finfo(np.float64).eps ** 2)  # an exact curve has a finite AIC
    aic = float(len(n) * np.log(floor / len(n)) + 2 * (count + 1))
    scale, scale_low, scale_high = (float(np.exp(ends[0])) for ends in (best, low, high))
    rate, rate_low, rate_high = map(float, rates)
    return Fit(name, scale, scale_low, scale_high, rate, rate_low, rate_high, residuals, rss, aic)
