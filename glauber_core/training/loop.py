"""The training loop: one step, repeated until a budget is spent."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from glauber_core.training.average import Average
from glauber_core.training.config import Config
from glauber_core.training.masking import ordinary_ids
from glauber_core.training.objective import CausalObjective, MaskedObjective, causal_inputs, masked_inputs
from glauber_core.training.optimizer import build_optimizer
from glauber_core.training.packing import Rows
from glauber_core.training.precision import autocast
from glauber_core.training.schedule import progress, rate_factor
from glauber_core.training.state import State, restore, save
from glauber_core.training.stream import Stream
from glauber_core.training.threads import Threads


class Trainer:
    """A run in one folder.

    Args:
        model: BertForMaskedLM or GPT2LMHeadModel in float32, without dropout; trained in place.
        tokenizer: its tokenizer.
        stream: the batches.
        config: the settings.
        folder: where the checkpoint goes; it exists.
        resume: continue from the folder's checkpoint.

    Raises:
        UserError: the checkpoint to resume from is missing or does not fit.

    Attributes:
        state: the counters.
        average: the averaged weights.
        stop: set it (from a signal handler, say) to end ``run`` after the present step.
    """

    def __init__(
        self, model: Any, tokenizer: Any, stream: Stream, config: Config, folder: Path, resume: bool = False
    ) -> None:
        self.model, self.config, self.folder = model, config, folder
        self.stop = False
        self._tokenizer, self._stream = tokenizer, stream
        self._vocabulary = ordinary_ids(tokenizer)
        self._optimizer = build_optimizer(model, config)
        self.average = Average(model, config.average_decay)
        self.state = restore(folder, model, self.average, self._optimizer) if resume else State()
        self._loss: Any = (MaskedObjective if config.kind == "masked" else CausalObjective)(model)
        if config.compile:
            # Without this option the number of threads would be compiled in.
            self._loss = torch.compile(self._loss, dynamic=False, options={"cpp.dynamic_threads": True})
        self._threads = Threads(config.threads)

    def run(
        self,
        report: Callable[[State, float], None],
        report_seconds: float = 600.0,
        checkpoint_seconds: float = 300.0,
    ) -> None:
        """Train until a budget is spent or ``stop`` is set; then store a checkpoint.

        Args:
            report: called with the counters and the mean training loss (nats) since the last call.
            report_seconds, checkpoint_seconds: wall time between reports, and between checkpoints.

        Raises:
            UserError: a checkpoint could not be written.
        """
        self.model.train()
        begin = time.monotonic() - self.state.seconds
        reported = stored = self.state.seconds
        losses: list[Tensor] = []
        while not self.stop and (done := self.progress()) < 1.0:
            before = time.monotonic()
            losses.append(self.step(rate_factor(self.state.step, self.config.warmup_steps, done)))
            self._threads.after_step(time.monotonic() - before)
            self.state.seconds = time.monotonic() - begin
            if self.state.seconds - reported >= report_seconds:
                report(self.state, _mean(losses))
                self.model.train()
                reported, losses = time.monotonic() - begin, []
            if self.state.seconds - stored >= checkpoint_seconds:
                self.save()
                stored = time.monotonic() - begin
        self.save()
        if losses:
            report(self.state, _mean(losses))

    def save(self) -> None:
        """Store a checkpoint. Raises UserError as ``state.save``."""
        save(self.folder, self.state, self.model, self.average, self._optimizer)

    def progress(self) -> float:
        """Share of the run that is over, in [0, 1]."""
        return progress(self.state.tokens, self.config.tokens, self.state.seconds, self.config.minutes * 60)

    def loss(self, rows: Rows) -> Float[Tensor, ""]:
        """Loss of one batch in nats, at the weights and with the masking of the present step."""
        return self._loss(**self._inputs(rows))

    def step(self, factor: float) -> Float[Tensor, ""]:
        """One optimizer step at ``factor`` times the peak rates; returns the loss in nats, detached."""
        state = self.state
        rows = self._stream.batch(state.epoch, state.index)
        with autocast(self.config.precision):
            loss = self.loss(rows)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip)
        for group in self._optimizer.param_groups:
            group["lr"] = group["peak"] * factor
        self._optimizer.step()
        self._optimizer.zero_grad()
        state.step += 1
        state.tokens += int((rows.segments >= 0).sum())
        state.index += 1
        if state.index >= self._stream.batches(state.epoch):
            state.epoch, state.index = state.epoch + 1, 0
        self.average.update(self.model, state.step)
        return loss.detach()

    def _inputs(self, rows: Rows) -> dict[str, Tensor]:
        if self.config.kind == "causal":
            return causal_inputs(rows)
        # A generator per step: a resumed run draws what an uninterrupted one would have drawn.
        generator = torch.Generator().manual_seed(self.config.seed * 1_000_003 + self.state.step)
        return masked_inputs(rows, self._tokenizer, self._vocabulary, self.config.mask_rate, generator)


def _mean(losses: list[Tensor]) -> float:
    return float(torch.stack(losses).mean())
