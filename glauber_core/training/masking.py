"""Which tokens are hidden from a masked model, and by what (Devlin et al. 2019, arXiv 1810.04805, section 3.1)."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

IGNORED = -100


class Masked(NamedTuple):
    """One step's masked input.

    Attributes:
        inputs: int64 [R, L], ids with the chosen positions replaced.
        chosen: int64 [K], flat indices into [R * L] of the predicted positions; K depends on the shape and rate only.
        labels: int64 [K], original ids; IGNORED where fewer than K positions were chosen.
    """

    inputs: Tensor
    chosen: Tensor
    labels: Tensor


def mask(ids: Tensor, eligible: Tensor, vocabulary: Tensor, mask_id: int, rate: float, generator: torch.Generator,
         mask_share: float = 0.88, random_share: float = 0.07) -> Masked:  # fmt: skip
    """Choose ``round(rate * eligible)`` positions uniformly without replacement and hide them.

    Of the chosen ones ``mask_share`` become the mask token, ``random_share`` a uniform draw from ``vocabulary``, the
    rest stay; which is drawn independently per position.

    Args:
        ids: int64 [R, L].
        eligible: bool [R, L], False at special tokens and padding.
        vocabulary: int64 [A], ids of ordinary tokens.
        generator: on the CPU; the only source of randomness.
    """
    candidates = eligible.flatten().nonzero().squeeze(1)
    capacity = math.ceil(rate * ids.numel())
    count = round(rate * len(candidates))
    picked = candidates[torch.randperm(len(candidates), generator=generator)[:count]]
    fate = torch.rand(count, generator=generator)
    random_ids = vocabulary[torch.randint(len(vocabulary), (count,), generator=generator)]
    original = ids.flatten()[picked]
    shown = torch.where(fate < mask_share, mask_id, torch.where(fate < mask_share + random_share, random_ids, original))
    inputs = ids.flatten().scatter(0, picked, shown).view_as(ids)
    chosen = torch.zeros(capacity, dtype=torch.int64)
    labels = torch.full((capacity,), IGNORED, dtype=torch.int64)
    chosen[:count], labels[:count] = picked, original
    return Masked(inputs, chosen, labels)
