"""The small parts: schedule, thread choice, precision choice, average, optimizer groups."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from glauber_core.training.average import Average
from glauber_core.training.optimizer import build_optimizer
from glauber_core.training.precision import faster
from glauber_core.training.schedule import progress, rate_factor
from glauber_core.training.threads import Threads
from tests.training import tiny


def test_progress_follows_the_budget_that_runs_out_first() -> None:
    assert progress(0, 100.0, 0.0, 60.0) == 0.0
    assert progress(50, 100.0, 10.0, 60.0) == 0.5
    assert progress(50, 100.0, 45.0, 60.0) == 0.75
    assert progress(101, 100.0, 0.0, 60.0) == 1.0
    assert progress(10**9, math.inf, 30.0, 60.0) == 0.5


def test_rate_warms_up_and_ends_at_zero() -> None:
    assert rate_factor(0, 10, 0.0) == pytest.approx(0.1)
    assert rate_factor(9, 10, 0.0) == 1.0
    assert rate_factor(500, 10, 0.5) == 0.5
    assert rate_factor(1000, 10, 1.0) == 0.0
    assert rate_factor(0, 0, 0.0) == 1.0


@pytest.fixture
def keep_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize(("duration", "best"), [({1: 1.0, 2: 3.0}, 1), ({1: 1.0, 2: 0.6}, 2)])
def test_the_faster_number_of_threads_is_taken(keep_threads: None, duration: dict[int, float], best: int) -> None:
    threads = Threads(2, period=10, trial=3)
    used = []
    for _ in range(40):
        used.append(torch.get_num_threads())
        threads.after_step(duration[used[-1]])
    assert threads.chosen == best
    assert used.count(3 - best) < 0.6 * len(used)
    assert {1, 2} == set(used[-11:])  # it keeps trying: the machine may change


def test_one_thread_is_left_alone(keep_threads: None) -> None:
    threads = Threads(1)
    for _ in range(200):
        threads.after_step(1.0)
    assert torch.get_num_threads() == 1


@pytest.mark.parametrize(("narrow", "best"), [(0.5, "bfloat16"), (2.0, "float32"), (100.0, "float32")])
def test_the_faster_precision_is_taken(narrow: float, best: str) -> None:
    now, passes = [0.0], [0]
    weight = torch.ones(2, 2, requires_grad=True)

    def loss() -> Tensor:
        product = weight @ weight
        passes[0] += 1
        now[0] += narrow if product.dtype == torch.bfloat16 else 1.0
        return product.float().sum()

    assert faster(loss, clock=lambda: now[0]) == best
    assert passes[0] <= (3 if narrow > 3 else 8)


def test_average_is_the_stated_sum() -> None:
    model = torch.nn.Linear(1, 1, bias=False)
    torch.nn.init.constant_(model.weight, 0.0)
    average = Average(model, decay=0.9, every=2)
    torch.nn.init.constant_(model.weight, 1.0)
    for step in range(1, 7):
        average.update(model, step)
    assert float(average.weights["weight"]) == pytest.approx(1 - 0.9**6)


def test_every_weight_is_in_one_group_with_its_rate() -> None:
    settings = tiny.config(head_rate=3.0, encoder_rate=2.0, embedding_rate=1.0)
    model = tiny.model(settings)
    groups = build_optimizer(model, settings).param_groups
    rate = {id(p): (group["peak"], group["weight_decay"]) for group in groups for p in group["params"]}
    assert len(rate) == len(list(model.parameters()))
    assert rate[id(model.bert.embeddings.word_embeddings.weight)] == (1.0, 0.01)
    assert rate[id(model.cls.predictions.transform.dense.weight)] == (3.0, 0.01)
    assert rate[id(model.cls.predictions.bias)] == (3.0, 0.0)
    assert rate[id(model.bert.encoder.layer[0].output.dense.weight)] == (2.0, 0.01)
