"""Seconds from opening the page to a sentence on the screen, and to its first move, in a real browser."""

from __future__ import annotations


def measure() -> dict[str, float]:
    return {}
