"""``make bench``: every figure is a ratio of two things measured in this run, side by side.

    python -m tests.bench            all groups
    python -m tests.bench chain      one group

Writes bench.json, one key a figure; a group that was not run keeps its older keys.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

from tests.bench import chains, engine, first_page, landscape, mixing, model, rectangles, service, sessions

GROUPS: dict[str, Callable[[], dict[str, float]]] = {
    "chain": chains.measure,
    "engine": engine.measure,
    "page": first_page.measure,
    "landscape": landscape.measure,
    "mixing": mixing.measure,
    "model": model.measure,
    "rectangle": rectangles.measure,
    "service": service.measure,
    "sessions": sessions.measure,
}
OUT = Path(__file__).resolve().parents[2] / "bench.json"


def main(names: list[str]) -> int:
    unknown = [n for n in names if n not in GROUPS]
    if unknown:
        print(f"unknown group {unknown[0]}; choose from {', '.join(GROUPS)}", file=sys.stderr)
        return 2
    figures = json.loads(OUT.read_text()) if OUT.is_file() else {}
    for name in names or list(GROUPS):
        print(f"== {name}")
        found = GROUPS[name]()
        for key, value in found.items():
            print(f"{key:28s} {value:.4g}")
        figures.update(found)
        OUT.write_text(json.dumps(figures, indent=1, sort_keys=True) + "\n")
    return 0


raise SystemExit(main(sys.argv[1:]))
