"""What the exact models share: the allowed tokens, the barred columns, and the hash of their parameters."""

from __future__ import annotations

import hashlib

import numpy as np
import torch
from jaxtyping import Bool, Float64
from torch import Tensor

from glauber_core.errors import UserError


def allowed_mask(allowed: Bool[Tensor, " V"] | None, vocab_size: int) -> Bool[Tensor, " V"]:
    """A copy of ``allowed``, or all of ``vocab_size`` tokens if None; bool [V].

    Raises:
        UserError: the mask has another length, or fewer than two tokens are allowed.
    """
    mask = torch.ones(vocab_size, dtype=torch.bool) if allowed is None else allowed.clone()
    if len(mask) != vocab_size:
        raise UserError(f"The mask of allowed tokens has {len(mask)} entries, but the vocabulary has {vocab_size}.")
    if int(mask.sum()) < 2:
        raise UserError("A model needs at least two allowed tokens.")
    return mask


def bar(logits: Float64[Tensor, "B V"], allowed: Bool[Tensor, " V"]) -> Float64[Tensor, "B V"]:
    """``logits`` with -inf at the disallowed tokens; the argument is not mutated."""
    return logits.masked_fill(~allowed, -torch.inf)


def fingerprint(kind: str, *parameters: int | float | str | Tensor | np.ndarray) -> str:
    """SHA-256 (64 hex digits) of a model's kind and parameters, types and array shapes included.

    Two models with the same fingerprint have the same conditionals; run records store it as the model's hash.
    """
    digest = hashlib.sha256(kind.encode())
    for parameter in parameters:
        if isinstance(parameter, (Tensor, np.ndarray)):
            array = np.asarray(parameter)
            array = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<")))
            digest.update(f"|{array.dtype.name}{array.shape}|".encode() + array.tobytes())
        else:
            digest.update(f"|{type(parameter).__name__}:{parameter!r}|".encode())
    return digest.hexdigest()
