"""What skipping the waiting gains in a cold trap, and what the hybrid costs where there is nothing to skip."""

from __future__ import annotations

import itertools
import math

import numpy as np
import torch

from glauber_core.hybrid import run_hybrid
from glauber_core.models import load
from glauber_core.rejection_free import Path, run_rejection_free
from glauber_core.runners import run
from glauber_core.starters import STARTERS
from tests.bench.machine import side_by_side

COLD, HOT = 0.3, 2.0
CHANGES = 100  # of each starter, in search of a trap
EXITS, STEPS, ROUNDS = 8, 32, 25


def measure() -> dict[str, float]:
    """rejection_free_gain, rejection_free_q, rejection_free_gain_wanted (0.15 / q); hybrid_ratio_hot (wanted 0.8).

    Both runs of a gain are one chain, begun in the trap again for every exit or block of steps, and nothing is kept
    from one run to the next. Simulated steps are those drawn, not their mean.
    """
    model = load("glauber-mini")
    starts = [torch.tensor([model.vocabulary.encode(s.text).ids]) for s in STARTERS]
    found = [run_rejection_free(model, start, COLD, changes=CHANGES).paths[0] for start in starts]
    log_q, tokens = min(_deepest(start[0], path) for start, path in zip(starts, found, strict=True))
    trap = torch.tensor([tokens])
    q, n = math.exp(log_q), len(tokens)
    print(f"deepest of {CHANGES} changes from each of {len(starts)} starters at tau {COLD}: q {q:.3g}, n {n}")
    print(f"  mean wait {1 / q:.4g} steps: {model.vocabulary.text(list(tokens))}")

    seeds, simulated = itertools.count(1), []

    def skipping() -> None:
        for _ in range(EXITS):
            (path,) = run_rejection_free(model, trap, COLD, changes=1, seed=next(seeds)).paths
            simulated.append(path.steps)

    def stepping() -> None:
        run(model, trap, COLD, STEPS, seed=next(seeds))

    times = side_by_side({"skipping": skipping, "stepping": stepping}, ROUNDS)
    skipped, stepped = np.mean(simulated) * EXITS / times["skipping"], STEPS / times["stepping"]
    gain = skipped / stepped
    print(f"in the trap: rejection-free {skipped:.4g} simulated steps/s, plain {stepped:.1f} steps/s")
    print(f"  {len(simulated)} waits drawn, mean {np.mean(simulated) * q:.3f} / q; gain x q = {gain * q:.3f}")

    hot = starts[0]
    works = {
        "hybrid": lambda: run_hybrid(model, hot, HOT, horizon=STEPS, seed=next(seeds)),
        "plain": lambda: run(model, hot, HOT, STEPS, seed=next(seeds)),
    }
    times = side_by_side(works, ROUNDS)
    return {
        "rejection_free_gain": gain,
        "rejection_free_gain_wanted": 0.15 / q,
        "rejection_free_q": q,
        "hybrid_ratio_hot": times["plain"] / times["hybrid"],
    }


def _deepest(start: torch.Tensor, path: Path) -> tuple[float, tuple[int, ...]]:
    """The smallest log q that a path has left, and that state."""
    state = start.clone()
    best = (math.inf, tuple(state.tolist()))
    for position, new, log_exit in zip(path.position, path.new, path.log_exit, strict=True):
        best = min(best, (float(log_exit), tuple(state.tolist())))
        state[position] = int(new)
    return best
