"""Rows at the canonical shape, and what to do when they do not fit into a GPU's memory."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from glauber_core.errors import UserError
from glauber_core.shape import EvaluationShape, groups, threads
from glauber_core.types import Conditionals


def kin(model: Conditionals, n: int) -> int:
    """Sentences that share it may be read in one call: by the model's own word, else those of one length."""
    own = getattr(model, "kin", None)
    return n if own is None else int(own(n))


def evaluate(
    model: Conditionals, shape: EvaluationShape, states: Sequence[Int64[Tensor, " _"]], positions: Int64[Tensor, " B"]
) -> tuple[Float[Tensor, "B V"], int]:
    """Logits in calls of exactly ``shape.rows`` rows, dummy rows filling up; of half as many while memory is short.

    Args:
        model: the conditionals.
        shape: rows and threads of a call.
        states: B >= 1 sentences of one kin, int64 [n] each.
        positions: int64 [B].

    Returns:
        Float [B, V] on the model's device, and the rows of a call that they were computed with.

    Raises:
        UserError: a single row does not fit into memory.
    """
    rows = shape.rows
    while True:
        try:
            with threads(shape.threads):
                parts = [
                    _read(model, [states[k] for k in part.tolist()], positions[part])[:real]
                    for part, real in groups(len(states), rows)
                ]
            return torch.cat(parts), rows
        except torch.OutOfMemoryError:
            pass  # outside this block the failed call's tensors are let go
        if torch.cuda.is_initialized():
            torch.cuda.empty_cache()
        if rows == 1:
            raise UserError(
                f"The GPU has not enough memory left for a sentence of {len(states[0]):,} tokens: use a shorter one, "
                "or try again when fewer models are in use."
            )
        rows = -(-rows // 2)


def _read(model: Conditionals, states: list[Tensor], positions: Int64[Tensor, " B"]) -> Float[Tensor, "B V"]:
    if len({len(state) for state in states}) == 1:
        return model(torch.stack(states), positions)
    return model.mixed(states, positions)  # type: ignore[attr-defined]  # what has a kin of its own has this, too
