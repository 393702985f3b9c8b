"""Rectangles a second: all pairs of one sentence at once, against one rectangle after another."""

from __future__ import annotations

import torch

from glauber_core.models import load
from glauber_core.rectangle import Rule, rectangle, survey
from tests.bench.machine import side_by_side

TEXT = "the doctor told the patient to drink more water and rest at home this week ."
RULE = Rule("top-k", alternatives=4, k=4)
LOOP, ROUNDS = 48, 5


def measure() -> dict[str, float]:
    """rectangles_batch_speedup: all-pairs test of 16 tokens with 4 alternatives a position / a loop over ``rectangle``.

    The loop measures every fortieth of the same rectangles.
    """
    model = load("glauber-mini")
    ids = model.vocabulary.encode(TEXT).ids
    assert len(ids) == 16
    every = survey(model, [ids], RULE)
    assert len(every) == 120 * 16
    r = every.rectangles
    chosen = range(0, len(every), len(every) // LOOP)

    def loop() -> object:
        return [rectangle(model, ids, int(r.i[k]), int(r.j[k]), int(r.a_new[k]), int(r.b_new[k])) for k in chosen]

    times = side_by_side({"batch": lambda: survey(model, [ids], RULE), "loop": loop}, ROUNDS)
    batch, single = len(every) / times["batch"], len(chosen) / times["loop"]
    print(f"threads {torch.get_num_threads()}; batch {batch:.0f} rectangles/s, one after another {single:.1f}")
    return {"rectangles_batch_speedup": batch / single}
