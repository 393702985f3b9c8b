"""Thirty visitors of the real app at once, for a minute; ``make soak`` does ten."""

from __future__ import annotations

from tests.load.measure import figures


def measure() -> dict[str, float]:
    """sessions30_spread (fastest/slowest), sessions30_p95_ms (a click on a word), sessions30_rss_growth_mb.

    In one minute memory still grows by the bounded cache of conditionals; the ten minutes of ``make soak`` begin when
    it is full.
    """
    return figures(60.0, 15.0)
