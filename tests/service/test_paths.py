"""Bit for bit: what a session gets does not depend on its company, on the cache, or on being served at all."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch

from glauber_core.chain import Chain
from glauber_core.models.registry import ModelRegistry
from glauber_core.rejection_free import run_rejection_free
from glauber_core.runners import run
from glauber_core.service import Client, ConditionalCache, Samplers, SamplerService
from glauber_core.service.evaluate import evaluate
from glauber_core.shape import EvaluationShape, shape_for
from glauber_core.types import Conditionals
from tests.models.checkpoints import FAMILIES, folder, model, named

Serve = Callable[..., SamplerService]
STARTS = {name: model(name).vocabulary.encode("the cat told the doctor to drink").ids for name in FAMILIES}


class AtShape:
    """The plain model at the shape of a service: what every client must see, without any service."""

    fills_up = True

    def __init__(self, inner: Any, shape: EvaluationShape) -> None:
        self._inner, self.shape = inner, shape
        self.vocab_size, self.allowed = inner.vocab_size, inner.allowed

    def __call__(self, states: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        return evaluate(self._inner, self.shape, list(states), positions)[0]


def everything(conditionals: Conditionals, start: tuple[int, ...], seed: int = 3, scale: int = 1) -> list[object]:
    """What a chain does and shows, to the last bit."""
    chain = Chain(conditionals, start, seed, 0.4)
    chain.advance(6 * scale)
    chain.skip(2 * scale)
    chain.resample(1)
    figures, found = chain.look()
    shown = chain.conditional(0)
    chain.skip(1, horizon=5)
    branch = chain.branch(3, 9)
    branch.advance(3 * scale)
    entries = [tuple(map(repr, e)) for e in (*chain.record.entries, *branch.record.entries)]
    return [entries, *(repr(x.tolist()) for x in figures[:5]), figures.log_exit, found, shown]


def in_company(service: SamplerService, start: tuple[int, ...], scale: int) -> list[object]:
    """One chain beside seven threads that ask for other things at the same time."""
    stop, ready = threading.Event(), threading.Barrier(8)

    def other(k: int) -> None:
        client = service.client(f"other {k}")
        chain = Chain(client, start[: 3 + k % 5] if k < 4 else start, 100 + k, 1.0)
        ready.wait()
        while not stop.is_set():
            chain.advance(1)
            if k % 3 == 0:
                chain.look()

    others = [threading.Thread(target=other, args=(k,)) for k in range(7)]
    for thread in others:
        thread.start()
    ready.wait()
    try:
        return everything(service.client("me"), start, scale=scale)
    finally:
        stop.set()
        for thread in others:
            thread.join()


@pytest.mark.parametrize(("name", "rows"), [("bert", 1), ("roberta", 2), ("modernbert", 4), ("bert", 3)])
def test_a_chain_alone_in_company_and_with_or_without_a_cache(name: str, rows: int, serve: Serve) -> None:
    lm, start = model(name), STARTS[name]
    none = serve(lm, rows, cache=ConditionalCache(0))
    wanted = everything(AtShape(lm, none.shape), start)
    assert everything(none.client("alone"), start) == wanted
    assert none.cache.hits == 0
    cached = serve(lm, rows)
    for _ in range(2):
        assert everything(cached.client("alone"), start) == wanted
    assert cached.cache.hit_rate > 0.5  # the second time nearly all rows were there
    assert in_company(serve(lm, rows, cache=ConditionalCache(0)), start, 1) == wanted
    assert in_company(serve(lm, rows), start, 1) == wanted


@pytest.mark.parametrize("name", FAMILIES)
def test_sentences_of_several_lengths_share_a_batch_and_no_bit_changes(name: str, serve: Serve) -> None:
    lm, ids = model(name), list(STARTS[name]) * 2
    places = len(lm.vocabulary.prefix) + len(lm.vocabulary.suffix)
    lengths = [n for n in range(1, 12) if 8 < n + places < 12]  # 12 places, of which some are padding
    assert len(lengths) == 3 and len({lm.kin(n) for n in lengths}) == 1
    assert lm.kin(12 - places) != lm.kin(lengths[0])  # nothing is padded there
    states = [torch.tensor(ids[:n]) for n in lengths]
    positions = torch.arange(len(states))
    together = lm.mixed(states, positions)
    for k, state in enumerate(states):
        alone = lm(state.expand(len(states), -1), positions[k].expand(len(states)))[0]
        assert torch.equal(together[k], alone)
    service = serve(lm, len(states), cache=ConditionalCache(0))
    barrier = threading.Barrier(len(states))
    found: dict[int, torch.Tensor] = {}

    def ask(k: int) -> None:
        client = service.client(str(k))
        barrier.wait()
        for _ in range(20):
            found[k] = client(states[k][None], positions[k : k + 1])[0]

    threads = [threading.Thread(target=ask, args=(k,)) for k in range(len(states))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(torch.equal(found[k], together[k]) for k in range(len(states)))
    assert service.batches < 20 * len(states)


def test_the_built_in_model_in_company(serve: Serve) -> None:
    lm = named("glauber-mini")
    start = lm.vocabulary.encode("the doctor told the patient").ids
    service = serve(lm, cache=ConditionalCache(0))
    assert in_company(service, start, 1) == everything(AtShape(lm, service.shape), start)


def test_steps_are_those_of_a_plain_run_of_that_shape(serve: Serve) -> None:
    lm, start = model("bert"), STARTS["bert"]
    service = serve(lm, 4)
    chain = Chain(service.client("a"), start, 5, 0.8)
    assert chain.header.shape == EvaluationShape(4, 1, "cpu", "float32", lm.kernels, 0).as_dict()
    plain = Chain(lm, start, 5, 0.8, shape=EvaluationShape(4, 1, "cpu", "float32", lm.kernels))
    for mine, other in zip(chain.advance(20), plain.advance(20), strict=True):
        assert (mine.position, mine.old, mine.new, mine.log_prob) == (
            other.position, other.old, other.new, other.log_prob,
        )  # fmt: skip
    assert chain.header.model_hash == lm.model_hash and chain.header.model == lm.name


def test_runs_of_many_chains_do_not_depend_on_how_many(serve: Serve) -> None:
    client = serve(model("roberta"), 4).client("a")
    start = torch.tensor([STARTS["roberta"]])
    alone, many = (run(client, start.expand(c, -1), 0.9, 5, chains=[7, 8, 9, 10, 11][:c]) for c in (1, 5))
    assert alone.shape == many.shape == client.shape
    for a, b in ((alone.new, many.new), (alone.position, many.position), (alone.log_prob, many.log_prob)):
        assert torch.equal(a[:, 0], b[:, 0])
    lone, all_ = (
        run_rejection_free(client, start.expand(c, -1), 0.5, changes=3, chains=[7, 8, 9][:c]).paths[0] for c in (1, 3)
    )
    assert lone.dwell == all_.dwell and lone.log_exit.tolist() == all_.log_exit.tolist()
    assert lone.new.tolist() == all_.new.tolist() and lone.log_prob.tolist() == all_.log_prob.tolist()


def test_a_client_is_the_model_to_everybody_else(serve: Serve) -> None:
    lm = model("bert")
    client = serve(lm).client("a")
    assert isinstance(client, Conditionals) and isinstance(client, Client)
    assert (client.vocab_size, client.name, client.model_hash) == (lm.vocab_size, lm.name, lm.model_hash)
    assert (client.device, client.dtype, client.kernels) == (lm.device, lm.dtype, lm.kernels)
    assert client.vocabulary is lm.vocabulary and torch.equal(client.allowed, lm.allowed)
    assert shape_for(client, 1) == shape_for(client, 64) == client.shape


def test_what_is_given_back_is_the_callers_own(serve: Serve) -> None:
    client = serve(model("bert")).client("a")
    asked = torch.tensor([STARTS["bert"]]), torch.tensor([2])
    first = client(*asked)
    kept = first.clone()
    first.zero_()
    second = client(*asked)
    assert torch.equal(second, kept)
    second.zero_()
    assert torch.equal(client(*asked), kept)


def test_the_token_that_is_read_is_no_part_of_the_question(serve: Serve) -> None:
    service = serve(model("bert"))
    client = service.client("a")
    state = torch.tensor([STARTS["bert"]])
    other = state.clone()
    other[0, 2] = 20
    assert torch.equal(client(state, torch.tensor([2])), client(other, torch.tensor([2])))
    assert (service.cache.hits, service.cache.misses, service.evaluated, service.batches) == (1, 1, 1, 1)
    both = client(torch.cat([other, other]), torch.tensor([1, 1]))  # one row, asked for twice in one call
    assert torch.equal(both[0], both[1]) and service.evaluated == 2


def test_thirty_visitors_of_one_new_model() -> None:
    registry, samplers, start = ModelRegistry(), Samplers(), threading.Barrier(30)
    found: list[tuple[int, SamplerService, list[object]]] = []
    tokens = STARTS["bert"]

    def visit(k: int) -> None:
        start.wait()
        service = samplers.of(registry.request(str(folder("bert"))).result(60))
        chain = Chain(service.client(f"visitor {k}"), tokens, k % 5, 1.0)
        found.append((k % 5, service, [(e.position, e.new, e.log_prob) for e in chain.advance(6)]))

    visitors = [threading.Thread(target=visit, args=(k,)) for k in range(30)]
    for visitor in visitors:
        visitor.start()
    for visitor in visitors:
        visitor.join()
    service = found[0][1]
    service.close()
    assert len(found) == 30 and all(other is service for _, other, _ in found)
    for seed in range(5):
        wanted = Chain(AtShape(model("bert"), service.shape), tokens, seed, 1.0).advance(6)
        mine = [(e.position, e.new, e.log_prob) for e in wanted]
        assert [path for k, _, path in found if k == seed] == [mine] * 6


def test_samplers_are_one_for_each_model() -> None:
    samplers = Samplers()
    bert, roberta = samplers.of(model("bert")), samplers.of(model("roberta"))
    assert samplers.of(model("bert")) is bert is not roberta and bert.cache is roberta.cache is samplers.cache
    bert.close()
    assert samplers.of(model("bert")) is not bert and samplers.of(model("roberta")) is roberta
