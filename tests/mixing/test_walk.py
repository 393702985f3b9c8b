"""Plain chains looked at now and then are the runner's; drift runs on a tiny model with an embedder made by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch

from glauber_core.errors import Cancelled, UserError
from glauber_core.mixing.drift import Reference, semantic_drift
from glauber_core.mixing.drift_run import run_drift
from glauber_core.mixing.walk import walk
from glauber_core.runners import run
from glauber_core.shape import EvaluationShape
from tests.exact.models import incompatible
from tests.models.checkpoints import model as checkpoint

ROWS = EvaluationShape(rows=4, threads=1, dtype="float64")
REFERENCE = Reference(0.5, 0.4, 0.6, 20)


class ByLetters:
    """Counts of letters, as unit rows; remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        self.asked += texts
        rows = np.array([[1 + text.count(letter) for letter in "aeiost"] for text in texts], dtype=np.float64)
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def starts() -> torch.Tensor:
    model = checkpoint("bert")
    return torch.tensor([model.vocabulary.encode("the cat sat on the mat").ids] * 3)


def test_states_are_the_runners() -> None:
    model = incompatible()["conditional"][0]
    start = torch.tensor([[0, 1, 2], [2, 2, 2], [0, 0, 1]])
    times = [0, 1, 130, 300]
    found = list(walk(model, start, 0.7, times, 5, ROWS, locked=[1]))
    assert torch.equal(found[0], start)
    for t, tokens in zip(times, found, strict=True):
        assert torch.equal(tokens, run(model, start, 0.7, t, 5, locked=[1], shape=ROWS).final)


def test_drift_of_chains() -> None:
    model, embed = checkpoint("bert"), ByLetters()
    done = run_drift(model, embed, starts(), 2.0, 5, REFERENCE, fraction=0.2, looks=2, seed=3)
    assert done.steps.tolist() == list(range(0, 31, 3)) and done.drift.shape == (11, 3) and done.n == 6
    final = run(model, starts(), 2.0, 30, seed=3, shape=done.shape).final
    texts = [model.vocabulary.text(row) for row in final.tolist()]
    first = ByLetters()([model.vocabulary.text(starts()[0].tolist())])
    assert np.allclose(done.drift[-1], semantic_drift(first, ByLetters()(texts)), atol=1e-7)
    assert (done.drift[0] < 1e-6).all() and len(embed.asked) == len(set(embed.asked))
    below = done.drift < 0.2 * REFERENCE.mean
    for chain in range(3):
        if done.hitting.hit[chain]:
            k = done.steps.tolist().index(done.hitting.steps[chain])
            assert below[:k, chain].all() and not below[k, chain]
        else:
            assert below[:, chain].all()


def test_cancel_and_bad_arguments() -> None:
    def stop(share: float) -> None:
        raise Cancelled

    model = checkpoint("bert")
    with pytest.raises(Cancelled):
        run_drift(model, ByLetters(), starts(), 1.0, 3, REFERENCE, progress=stop)
    for change in ({"sweeps": 0}, {"looks": 0}, {"looks": 7}):
        with pytest.raises(UserError, match="at least one sweep"):
            run_drift(model, ByLetters(), starts(), 1.0, **({"sweeps": 2, "reference": REFERENCE} | change))
    for times in ([], [-1], [2, 2]):
        with pytest.raises(UserError, match="one chain and one time"):
            list(walk(model, starts(), 1.0, times, 0, ROWS))
    with pytest.raises(UserError, match="locked"):
        list(walk(model, starts(), 1.0, [1], 0, ROWS, locked=range(6)))
