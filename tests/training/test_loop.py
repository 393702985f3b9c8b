from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from glauber_core.errors import UserError
from glauber_core.training.loop import Trainer
from glauber_core.training.state import FILE, State
from tests.training import tiny


def trainer(folder: Path, resume: bool = False, **changes: Any) -> Trainer:
    settings = tiny.config(**changes)
    folder.mkdir(exist_ok=True)
    return Trainer(tiny.model(settings), tiny.tokenizer(), tiny.stream(settings), settings, folder, resume)


class Losses:
    """Collects reports; ``stop_at`` ends the run at the first report from that step on."""

    def __init__(self, run: Trainer, stop_at: int | None = None) -> None:
        self.found: list[tuple[int, float]] = []
        self._run, self._stop_at = run, stop_at

    def __call__(self, state: State, loss: float) -> None:
        self.found.append((state.step, loss))
        self._run.stop = self._stop_at is not None and state.step >= self._stop_at


@pytest.mark.parametrize("kind", ["masked", "causal"])
def test_training_lowers_the_loss(tmp_path: Path, kind: str) -> None:
    run = trainer(tmp_path, kind=kind, tokens=12_000.0)
    reports = Losses(run)
    run.run(reports, report_seconds=0.0)
    losses = [loss for _, loss in reports.found]
    assert len(losses) == run.state.step > 50
    assert sum(losses[-10:]) / 10 < sum(losses[:10]) / 10 - 0.5


@pytest.mark.parametrize("kind", ["masked", "causal"])
def test_a_resumed_run_ends_with_the_same_weights(tmp_path: Path, kind: str) -> None:
    whole = trainer(tmp_path / "whole", kind=kind)
    whole.run(lambda state, loss: None)

    first = trainer(tmp_path / "parts", kind=kind)
    first.run(Losses(first, stop_at=13), report_seconds=0.0)
    assert first.state.step == 13
    second = trainer(tmp_path / "parts", resume=True, kind=kind)
    assert second.state.step == 13
    second.run(lambda state, loss: None)

    assert second.state.step == whole.state.step > 20
    assert second.state.epoch >= 1  # the comparison crosses the end of an epoch
    for name, weights in whole.model.state_dict().items():
        assert torch.equal(weights, second.model.state_dict()[name]), name
    for name, weights in whole.average.weights.items():
        assert torch.equal(weights, second.average.weights[name]), name


def test_another_seed_ends_with_other_weights(tmp_path: Path) -> None:
    runs = [trainer(tmp_path / str(seed), seed=seed) for seed in (0, 1)]
    for run in runs:
        run.run(lambda state, loss: None)
    one, other = (run.model.state_dict()["bert.embeddings.word_embeddings.weight"] for run in runs)
    assert not torch.equal(one, other)


def test_bfloat16_tracks_float32(tmp_path: Path) -> None:
    # Each is trained for 30 steps; measured differences are below 0.01 nats.
    losses = []
    for precision in ("float32", "bfloat16"):
        run = trainer(tmp_path / precision, precision=precision)
        reports = Losses(run)
        run.run(reports, report_seconds=0.0)
        losses.append(torch.tensor([loss for _, loss in reports.found]))
    assert float((losses[0] - losses[1]).abs().max()) < 0.05


def test_time_alone_ends_a_run(tmp_path: Path) -> None:
    run = trainer(tmp_path, tokens=float("inf"), minutes=0.02)
    run.run(lambda state, loss: None)
    assert run.progress() == 1.0
    assert run.state.seconds < 30.0


def test_global_generator_is_left_alone(tmp_path: Path) -> None:
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    run = trainer(tmp_path)
    run.step(1.0)
    assert torch.equal(torch.rand(3), expected)


def test_checkpoints_come_by_time(tmp_path: Path) -> None:
    run = trainer(tmp_path, tokens=900.0)
    steps = []

    def report(state: State, loss: float) -> None:
        if (tmp_path / FILE).exists():
            steps.append(torch.load(tmp_path / FILE, weights_only=True)["state"]["step"])

    run.run(report, report_seconds=0.0, checkpoint_seconds=0.0)
    assert steps[:5] == [1, 2, 3, 4, 5]


def test_resuming_without_or_with_a_wrong_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no checkpoint"):
        trainer(tmp_path, resume=True)
    (tmp_path / FILE).write_bytes(b"not a checkpoint")
    with pytest.raises(UserError, match="damaged"):
        trainer(tmp_path, resume=True)
    trainer(tmp_path).save()
    with pytest.raises(UserError, match="another model"):
        trainer(tmp_path, resume=True, kind="causal")
