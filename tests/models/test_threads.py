"""One model and one tokenizer shared by many threads: no errors, and everybody gets what they would get alone."""

from __future__ import annotations

import threading

import pytest
import torch

from glauber_core.shape import threads
from tests.models.checkpoints import FAMILIES, model

THREADS, CALLS = 16, 250
SENTENCES = ["the cat sat on the mat", "the [MASK] told the doctor", "water", "al-ain 🤖 $5", "the cat [MASK]"]


@pytest.mark.parametrize("family", FAMILIES)
def test_sixteen_threads_on_one_tokenizer(family: str) -> None:
    words = model(family).vocabulary
    wanted = [(words.encode(s), words.text(words.encode(s).ids), words.word_id("the", True)) for s in SENTENCES]
    faults: list[object] = []
    start = threading.Barrier(THREADS)

    def work(me: int) -> None:
        start.wait()
        try:
            for call in range(CALLS):
                k = (me + call) % len(SENTENCES)
                found = words.encode(SENTENCES[k])
                if (found, words.text(found.ids), words.word_id("the", True)) != wanted[k]:
                    faults.append((me, call))
        except BaseException as error:  # noqa: B036 - a fault of any kind in a thread must reach the test
            faults.append(error)

    _together(work)
    assert faults == []


@pytest.mark.parametrize("family", FAMILIES)
def test_threads_on_one_network_get_the_logits_they_would_get_alone(family: str) -> None:
    lm = model(family)
    tasks = []
    for k, text in enumerate(SENTENCES):
        ids = torch.tensor([lm.vocabulary.encode(text).ids]).expand(1 + k % 3, -1)  # batches of different shapes
        tasks.append((ids, torch.full((len(ids),), k % ids.shape[1])))
    wanted = [lm(*task) for task in tasks]
    faults: list[object] = []

    def work(me: int) -> None:
        try:
            with threads(1):
                for call in range(CALLS // 10):
                    k = (me + call) % len(tasks)
                    if not torch.equal(lm(*tasks[k]), wanted[k]):
                        faults.append((me, call))
        except BaseException as error:  # noqa: B036
            faults.append(error)

    _together(work)
    assert faults == []


def _together(work: object) -> None:
    workers = [threading.Thread(target=work, args=(k,)) for k in range(THREADS)]  # type: ignore[arg-type]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
