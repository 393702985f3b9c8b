"""A class of thirty at one model, each with a chain of its own; and a large batch against the machine's matmul peak."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

import torch

from glauber_core.chain import Chain
from glauber_core.models import load
from glauber_core.runners import run
from glauber_core.service import ConditionalCache, SamplerService
from glauber_core.types import Conditionals
from tests.bench.chains import model_flops
from tests.bench.machine import matmul_peak, seconds, side_by_side

TEXT = "the doctor told the patient to drink more water and rest at home this week ."
VISITORS, STEPS, ROUNDS, LONE = 30, 4, 5, 24


def measure() -> dict[str, float]:
    """class_speedup_30, class_cached_30: steps/s of 30 threads, service / plain model; lone_slowdown; gemm_share_64x32.

    lone_slowdown is the time of a step of a lone visitor, service / plain model, the shortest of the rounds of each.
    All at tau = 1, in turn. The service keeps nothing, but for class_cached_30: there the chains begin again from the
    same sentence in every round, with other seeds.
    """
    model = load("glauber-mini")
    ids = model.vocabulary.encode(TEXT).ids
    service = SamplerService(model, cache=ConditionalCache(0))
    cached = SamplerService(model)
    seed = iter(range(10**6))

    def together(conditionals: Sequence[Conditionals]) -> None:
        chains = [Chain(c, ids, next(seed), 1.0) for c in conditionals]
        threads = [threading.Thread(target=chain.advance, args=(STEPS,)) for chain in chains]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def alone(conditionals: Conditionals) -> float:
        chain = Chain(conditionals, ids, next(seed), 1.0)
        begin = time.perf_counter()
        chain.advance(LONE)
        return time.perf_counter() - begin

    clients = {name: [s.client(f"{k}") for k in range(VISITORS)] for name, s in (("ours", service), ("kept", cached))}
    works: dict[str, Callable[[], object]] = {
        "plain": lambda: together([model] * VISITORS),
        "ours": lambda: together(clients["ours"]),
        "kept": lambda: together(clients["kept"]),
    }
    times = side_by_side(works, ROUNDS)
    rate = {name: VISITORS * STEPS / time_ for name, time_ in times.items()}
    print(
        f"threads {torch.get_num_threads()}, batches of {service.shape.rows}; {VISITORS} chains of {len(ids)} tokens: "
        f"plain {rate['plain']:.1f} steps/s, service {rate['ours']:.1f}, with its cache {rate['kept']:.1f} "
        f"(hit rate {cached.cache.hit_rate:.2f})"
    )
    pairs = [(alone(model), alone(clients["ours"][0])) for _ in range(ROUNDS)]
    plain, served = (1e3 * min(column) / LONE for column in zip(*pairs, strict=True))
    print(f"one chain: plain {plain:.1f} ms a step at best, served {served:.1f}")
    for each in (service, cached):
        each.close()

    start = torch.tensor([ids + ids]).expand(64, -1).contiguous()
    peak = matmul_peak()
    took = seconds(lambda: run(model, start, 1.0, 1), 3)
    flops = model_flops(model, start.shape[1])
    print(f"64 chains of {start.shape[1]} tokens: {64 / took:.1f} steps/s; matmul peak {peak / 1e9:.0f} GFLOP/s")
    return {
        "class_speedup_30": rate["ours"] / rate["plain"],
        "class_cached_30": rate["kept"] / rate["plain"],
        "lone_slowdown": served / plain,
        "gemm_share_64x32": 64 / took * flops / peak,
    }
