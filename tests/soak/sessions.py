"""Thirty visitors play for ten minutes.

python -m tests.soak sessions
"""

from __future__ import annotations

from tests.load.measure import KEYS, figures

SECONDS = 600.0
WARM_UP = 120.0  # until the cache of conditionals, which is bounded, is full
WANTED = dict(zip(KEYS, (2.0, 500.0, 50.0), strict=True))


def main() -> int:
    """Exit status 0 if all figures are as wanted."""
    found = figures(SECONDS, WARM_UP)
    for key, value in found.items():
        print(f"{key:28s} {value:.4g}   (at most {WANTED[key]:.4g} wanted)")
    return int(any(found[key] > WANTED[key] for key in KEYS))
