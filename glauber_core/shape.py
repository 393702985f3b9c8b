"""The canonical evaluation shape: what bit-for-bit equality is promised at (MATH section 1).

Float rounding depends on how many rows are multiplied together and by how many threads. A chain is therefore always
stepped in micro-batches of exactly ``rows`` rows, dummy rows filling up; then its path depends on its own seed alone.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version

import torch
from jaxtyping import Float64, Int64
from torch import Tensor

from glauber_core.kernels import ChainState, StepInfo, draw, picked, step
from glauber_core.types import Conditionals


@dataclass(frozen=True)
class EvaluationShape:
    """Attributes:
    rows: rows of a micro-batch of single steps.
    states: sentences whose conditionals are all read in one call (rejection-free moves); 0 if these rows, too, are
        read in micro-batches of ``rows`` (``service``).
    threads: intra-op threads of PyTorch.
    device, dtype: where and in what the network runs.
    kernels: ``packed`` or ``plain`` linear layers (``models.packed``), which round differently.
    """

    rows: int = 1
    threads: int = 2
    device: str = "cpu"
    dtype: str = "float32"
    kernels: str = "plain"
    states: int = 1

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


def shape_for(conditionals: Conditionals, chains: int) -> EvaluationShape:
    """The shape a run of ``chains`` chains uses by default: 1, 4 or 16 rows, all of this process's threads.

    A CPU gains nothing from reading several sentences in one call: the positions of one fill a batch. A GPU does.
    Conditionals that keep to a shape of their own (``service.Client.shape``) decide themselves.
    """
    own = getattr(conditionals, "shape", None)
    if isinstance(own, EvaluationShape):
        return own
    rows = 1 if chains == 1 else 4 if chains <= 4 else 16
    dtype = str(getattr(conditionals, "dtype", torch.float64)).removeprefix("torch.")
    device, kernels = str(getattr(conditionals, "device", "cpu")), str(getattr(conditionals, "kernels", "plain"))
    states = 1 if device == "cpu" else rows
    return EvaluationShape(rows, torch.get_num_threads(), device, dtype, kernels, states)


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Run a block with ``count`` intra-op threads."""
    before = torch.get_num_threads()
    if before != count:
        torch.set_num_threads(count)
    try:
        yield
    finally:
        if before != count:
            torch.set_num_threads(before)


def groups(count: int, size: int) -> Iterator[tuple[Int64[Tensor, " size"], int]]:
    """Micro-batches of ``count`` items: ``size`` indices each, dummies filling up the last, and how many are real."""
    for first in range(0, count, size):
        yield torch.arange(first, first + size).clamp_max(count - 1), min(size, count - first)


def fills_up(conditionals: Conditionals) -> bool:
    """True if the conditionals evaluate every row at their own shape, whatever they are asked together with.

    They are then asked for the real rows alone, as many as there are.
    """
    return bool(getattr(conditionals, "fills_up", False))


def canonical_step(
    conditionals: Conditionals,
    shape: EvaluationShape,
    state: ChainState,
    uniform: Float64[Tensor, "C 2"],
    tau: Float64[Tensor, " C"],
    free: Int64[Tensor, " m"],
) -> tuple[ChainState, StepInfo]:
    """``kernels.step`` of C chains in micro-batches of exactly ``shape.rows`` rows; arguments as there."""
    parts = []
    if fills_up(conditionals):
        position = picked(free, uniform)
        logits = conditionals(state.tokens, position)
        for k in range(len(position)):  # one by one: rounding may depend on how many are drawn together
            row = slice(k, k + 1)
            one = ChainState(state.tokens[row], state.steps[row])
            parts.append(draw(logits[row], conditionals.allowed, one, position[row], uniform[row, 1], tau[row]))
        return _joined(parts)
    with threads(shape.threads):
        for rows, real in groups(len(state.tokens), shape.rows):
            group = ChainState(state.tokens[rows], state.steps[rows])
            after, info = step(conditionals, group, uniform[rows], tau[rows], free)
            parts.append((ChainState(*(x[:real] for x in after)), StepInfo(*(x[:real] for x in info))))
    return _joined(parts)


def _joined(parts: list[tuple[ChainState, StepInfo]]) -> tuple[ChainState, StepInfo]:
    states, infos = zip(*parts, strict=True)
    return (
        ChainState(*(torch.cat(column) for column in zip(*states, strict=True))),
        StepInfo(*(torch.cat(column) for column in zip(*infos, strict=True))),
    )


def versions() -> dict[str, str]:
    """Versions of everything that can change a bit of a path."""
    found = {"python": platform.python_version(), "machine": platform.machine()}
    for package in ("glauber-explorer", "torch", "transformers", "tokenizers", "numpy"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # run from a checkout, not installed
            found[package] = "source"
    return found
