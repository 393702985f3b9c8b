"""Coupled pairs a second against a plain pair at a time, cells of a sweep a second, and two exact mixing times."""

from __future__ import annotations

import itertools
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForMaskedLM

from glauber_core.mixing.curie_weiss import magnetisation_chain, mixing_time
from glauber_core.mixing.meeting import run_coupled
from glauber_core.mixing.plan import Plan
from glauber_core.mixing.sweep import run_sweep
from glauber_core.models import MaskedLM, load
from glauber_core.models.source import ASSETS
from tests.bench.machine import side_by_side

TEXTS = (
    "the doctor told the patient to drink more water and rest at home this week .",
    "the young team won its third game in a row on sunday in the rain .",
)
TOKENS, PAIRS, STEPS, ROUNDS = 16, 16, 6, 5
SWEEP = Plan(
    models=("exact:curie-weiss:1.0",), taus=(1.0, 2.0, 3.0), lengths=(8, 12), starts=("extremes",), replicates=4
)


def plain_pair(
    network: Any, model: MaskedLM, pair: torch.Tensor, steps: int, generator: torch.Generator
) -> torch.Tensor:
    """One pair [2, n] as a short script would couple it: full logits of both rows, a softmax, a maximal coupling."""
    words = model.vocabulary
    frame = torch.tensor([words.prefix]).expand(2, -1), torch.tensor([words.suffix]).expand(2, -1)
    ids = torch.cat([frame[0], pair, frame[1]], dim=1)
    with torch.inference_mode():
        for _ in range(steps):
            where = int(torch.randint(pair.shape[1], (), generator=generator)) + len(words.prefix)
            ids[:, where] = words.mask_id
            p, q = torch.softmax(network(input_ids=ids).logits[:, where] + model._barred, dim=1)
            both = torch.minimum(p, q)
            if float(torch.rand((), generator=generator)) < float(both.sum()):
                ids[:, where] = torch.multinomial(both, 1, generator=generator)
            else:
                ids[0, where] = torch.multinomial((p - both).clamp_min(0), 1, generator=generator)
                ids[1, where] = torch.multinomial((q - both).clamp_min(0), 1, generator=generator)
    return ids


def measure() -> dict[str, float]:
    """coupling_pair_steps_per_s, coupling_speedup (over plain_pair); sweep_cells_per_s; curie_weiss_tmix_500_{03,06}.

    Pairs are apart from the first to the last step at tau = 1, and every run has seeds of its own. Cells: 8 pairs of a
    small exact model, kept in a file each.
    """
    model = load("glauber-mini")
    network = AutoModelForMaskedLM.from_pretrained(ASSETS / model.name, dtype=torch.float32).eval()
    generator = torch.Generator().manual_seed(1)
    sentences = [list(model.vocabulary.encode(text).ids) for text in TEXTS]
    assert [len(ids) for ids in sentences] == [TOKENS, TOKENS]
    x, y = (torch.tensor([ids]).expand(PAIRS, -1) for ids in sentences)
    seeds = itertools.count(1)

    def ours() -> None:
        done = run_coupled(model, x, y, 1.0, STEPS, next(seeds))
        assert not done.met.any()

    def plain() -> None:
        plain_pair(network, model, torch.tensor(sentences), STEPS, generator)

    with tempfile.TemporaryDirectory() as folder:

        def sweep() -> None:
            seed = next(seeds)
            run_sweep(replace(SWEEP, seed=seed), Path(folder, f"{seed}.sqlite"))

        times = side_by_side({"ours": ours, "plain": plain, "sweep": sweep}, ROUNDS)
    rate, alone = PAIRS * STEPS / times["ours"], STEPS / times["plain"]
    print(f"threads {torch.get_num_threads()}; {PAIRS} pairs {rate:.1f} pair steps/s, one plain pair {alone:.1f}")
    exact = [mixing_time(magnetisation_chain(500, beta)) for beta in (0.3, 0.6)]
    return {
        "coupling_pair_steps_per_s": rate,
        "coupling_speedup": rate / alone,
        "sweep_cells_per_s": len(SWEEP) / times["sweep"],
        "curie_weiss_tmix_500_03": float(exact[0] or 0),
        "curie_weiss_tmix_500_06": float(exact[1] or 0),
    }
