"""``make soak``: measurements that take minutes, each a module of this folder with a ``main() -> int``.

python -m tests.soak             all of them
python -m tests.soak sessions    one
"""

from __future__ import annotations

import importlib
import sys

NAMES = ("sessions", "sweep")


def main(names: list[str]) -> int:
    """Exit status 0 if all did what they should, 2 if one is not known."""
    unknown = [n for n in names if n not in NAMES]
    if unknown:
        print(f"unknown measurement {unknown[0]}; choose from {', '.join(NAMES)}", file=sys.stderr)
        return 2
    status = 0
    for name in names or NAMES:
        print(f"== {name}", flush=True)
        try:
            module = importlib.import_module(f"tests.soak.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"tests.soak.{name}":
                raise
            print(f"there is no tests/soak/{name}.py here", file=sys.stderr)
            status = 1
            continue
        status |= module.main()
    return status


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
