"""A sweep killed with SIGKILL twenty times ends in the table of an undisturbed one.

python -m tests.soak.sweep
"""

from __future__ import annotations

import signal
import sys
import tempfile
from pathlib import Path

from glauber_core.mixing.plan import Plan
from glauber_core.mixing.sweep import run_sweep
from tests.mixing.killing import killed_after
from tests.mixing.sweeps import table, undisturbed

KILLS = 20
PLAN = """
models = ["exact:curie-weiss:1.5", "exact:table:3:1"]
taus = [0.1, 0.2, 3.0]
lengths = [6, 7]
starts = ["extremes", "uniform"]
replicates = 3
pairs = 4
horizon = 40
"""
BACKENDS: list[tuple[str, ...]] = [(), ("--backend", "processes", "--workers", "2")]


def main() -> int:
    """Exit status 0 if the tables are the same."""
    with tempfile.TemporaryDirectory() as folder:
        plan, out = Path(folder, "plan.toml"), Path(folder, "sweep.sqlite")
        plan.write_text(PLAN, encoding="utf-8")
        whole = undisturbed(Plan.from_toml(PLAN), Path(folder))
        for kill in range(KILLS):
            status = killed_after(1, plan, out, BACKENDS[kill % len(BACKENDS)])
            rows = table(out)
            print(f"kill {kill + 1}: status {status}, {len(rows)} of {len(whole)} pairs kept", flush=True)
            if status != -signal.SIGKILL or not set(rows) < set(whole):
                print("it was complete, or it held a wrong row", file=sys.stderr)
                return 1
        run_sweep(Plan.from_toml(PLAN), out)
        same = table(out) == whole
    print("the same table" if same else "ANOTHER TABLE")
    return 0 if same else 1


if __name__ == "__main__":
    raise SystemExit(main())
