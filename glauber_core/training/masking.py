"""Which tokens are hidden from a masked model, and by what (Devlin et al. 2019, arXiv 1810.04805, section 3.1)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Int64
from torch import Tensor

IGNORED = -100


class Masked(NamedTuple):
    """One step's masked input.

    Attributes:
        inputs: int64 [R, L], ids with the chosen positions replaced.
        chosen: int64 [K], flat indices into [R * L] of the predicted positions; K depends on the shape and rate only,
            so that a compiled step serves every batch.
        labels: int64 [K], original ids; IGNORED where fewer than K positions were chosen.
    """

    inputs: Int64[Tensor, "R L"]
    chosen: Int64[Tensor, " K"]
    labels: Int64[Tensor, " K"]


def mask(
    ids: Int64[Tensor, "R L"],
    eligible: Bool[Tensor, "R L"],
    vocabulary: Int64[Tensor, " A"],
    mask_id: int,
    rate: float,
    generator: torch.Generator,
    mask_share: float = 0.88,
    random_share: float = 0.07,
) -> Masked:
    """Choose ``round(rate * eligible)`` positions uniformly without replacement and hide them.

    Of the chosen ones ``mask_share`` become the mask token, ``random_share`` a uniform draw from ``vocabulary``, the
    rest stay; which of the three is drawn independently per position.

    Args:
        ids: int64 [R, L].
        eligible: bool [R, L], False at special tokens and padding.
        vocabulary: int64 [A], ids of ordinary tokens.
        mask_id: id of the mask token.
        rate: in (0, 1].
        generator: on the CPU; the only source of randomness.
        mask_share, random_share: probabilities; the shares of the first run are the defaults.
    """
    candidates = eligible.flatten().nonzero().squeeze(1)
    count = round(rate * len(candidates))
    picked = candidates[torch.randperm(len(candidates), generator=generator)[:count]]
    fate = torch.rand(count, generator=generator)
    random_ids = vocabulary[torch.randint(len(vocabulary), (count,), generator=generator)]
    original = ids.flatten()[picked]
    shown = torch.where(fate < mask_share, mask_id, torch.where(fate < mask_share + random_share, random_ids, original))
    inputs = ids.flatten().scatter(0, picked, shown).view_as(ids)
    capacity = math.ceil(rate * ids.numel())
    chosen = torch.zeros(capacity, dtype=torch.int64)
    labels = torch.full((capacity,), IGNORED, dtype=torch.int64)
    chosen[:count], labels[:count] = picked, original
    return Masked(inputs, chosen, labels)


def ordinary_ids(tokenizer: Any) -> Int64[Tensor, " A"]:
    """int64 [A], the ids that stand for text, in order: neither special nor ``[unused...]``."""
    special = set(tokenizer.all_special_ids)
    kept = (i for t, i in tokenizer.get_vocab().items() if i not in special and not t.startswith("[unused"))
    return torch.tensor(sorted(kept), dtype=torch.int64)
