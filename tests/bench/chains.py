"""Steps a second of our chain, at tau = 1 and with no cache, against plain baselines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from transformers import AutoModelForMaskedLM

from glauber_core.models import MaskedLM, load
from glauber_core.models.source import ASSETS
from glauber_core.runners import run
from tests.bench.machine import matmul_peak, side_by_side

TOKENS, ROUNDS, STEPS = 16, 7, {1: 48, 8: 12, 64: 4}


def plain_steps(
    network: Any, model: MaskedLM, states: torch.Tensor, steps: int, generator: torch.Generator
) -> torch.Tensor:
    """What public BERT-Gibbs scripts do: vocabulary logits at every position, then one softmax and one draw.

    All rows of ``states`` [B, n] go in one forward pass; the scripts call it with B = 1, one chain after another.
    """
    words = model.vocabulary
    frame = torch.tensor([words.prefix]).expand(len(states), -1), torch.tensor([words.suffix]).expand(len(states), -1)
    rows = torch.arange(len(states))
    ids = torch.cat([frame[0], states, frame[1]], dim=1)
    with torch.inference_mode():
        for _ in range(steps):
            where = torch.randint(states.shape[1], (len(states),), generator=generator) + len(words.prefix)
            ids[rows, where] = words.mask_id
            logits = network(input_ids=ids).logits[rows, where] + model._barred
            ids[rows, where] = torch.multinomial(torch.softmax(logits, dim=1), 1, generator=generator)[:, 0]
    return ids


def model_flops(model: MaskedLM, tokens: int) -> float:
    """Multiply-adds times two of one conditional: encoder on the unpadded row, vocabulary head at one position."""
    config = model._model.config
    width, inner, layers = config.hidden_size, config.intermediate_size, config.num_hidden_layers
    length = tokens + len(model.vocabulary.prefix) + len(model.vocabulary.suffix)
    encoder = layers * length * (4 * width * width + 2 * width * inner + 2 * length * width)
    return 2.0 * (encoder + width * width + width * model.vocab_size)


def measure() -> dict[str, float]:
    """chain_speedup_{1,8,64}: steps/s, ours / one plain chain at a time; gemm_share_64x16."""
    model = load("glauber-mini")
    network = AutoModelForMaskedLM.from_pretrained(ASSETS / model.name, dtype=torch.float32).eval()
    generator = torch.Generator().manual_seed(1)
    sentence = model.vocabulary.encode(
        "the doctor told the patient to drink more water and rest at home this week ."
    ).ids
    assert len(sentence) == TOKENS
    start = torch.tensor([sentence])
    found: dict[str, float] = {}
    print(f"threads {torch.get_num_threads()}, {TOKENS} tokens, tau 1, medians of {ROUNDS} rounds in turn")
    for count, steps in STEPS.items():
        batch = start.expand(count, -1).contiguous()

        def ours(batch: torch.Tensor = batch, steps: int = steps) -> object:
            return run(model, batch, 1.0, steps)

        def plain(steps: int = steps) -> object:
            return plain_steps(network, model, start, 8 * steps, generator)

        def batched(batch: torch.Tensor = batch, steps: int = steps) -> object:
            return plain_steps(network, model, batch, steps, generator)

        works: dict[str, Callable[[], object]] = {"ours": ours, "plain": plain, "batched": batched}
        times = side_by_side(works, ROUNDS)
        rate = {
            "ours": count * steps / times["ours"],
            "plain": 8 * steps / times["plain"],
            "batched": count * steps / times["batched"],
        }
        print(
            f"{count:3d} chains: ours {rate['ours']:7.1f} steps/s, plain one at a time {rate['plain']:6.1f}, "
            f"plain batched {rate['batched']:6.1f} ({rate['ours'] / rate['batched']:.2f} of it)"
        )
        found[f"chain_speedup_{count}"] = rate["ours"] / rate["plain"]
        if count == 64:
            peak = matmul_peak()
            share = rate["ours"] * model_flops(model, TOKENS) / peak
            print(f"float32 matmul peak {peak / 1e9:.0f} GFLOP/s, {model_flops(model, TOKENS) / 1e6:.0f} MFLOP a step")
            found["gemm_share_64x16"] = share
    return found
