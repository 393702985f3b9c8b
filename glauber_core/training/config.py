"""The settings of a training run; they travel with its checkpoints."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Kind = Literal["masked", "causal"]
Precision = Literal["float32", "bfloat16"]

# What decides which token is seen when: a resumed run must not change it.
FIXED = ("kind", "rows", "length", "max_pieces", "replay_share", "single_share", "seed")


@dataclass(frozen=True)
class Config:
    """What determines a run, given its texts and its starting weights.

    Attributes:
        kind: masked (BERT) or causal (GPT-2).
        minutes: wall-time budget, pauses included; inf for none.
        tokens: token budget, special tokens included, padding not; inf for none.
        rows, length: shape of a batch.
        max_pieces: longest passage in word pieces, at most ``length - 2``.
        mask_rate: share of the ordinary tokens that is predicted (masked kind only).
        replay_share: share of an epoch's tokens that comes from the replayed texts, in [0, 1).
        single_share: share of the starts at which a sentence stands alone.
        head_rate, encoder_rate, embedding_rate: peak learning rates.
        weight_decay: of the matrices.
        warmup_steps: steps of linear warm-up.
        clip: largest norm of the gradient.
        average_decay: per-step decay of the exponential average of the weights.
        precision: of the matrix products; weights and optimizer stay in float32.
        compile: compile the loss with ``torch.compile`` (needs a C++ compiler; a minute at the start).
        threads: most threads to use.
        seed: of the order of the texts, the masking and fresh weights.
    """

    kind: Kind = "masked"
    minutes: float = 30.0
    tokens: float = math.inf
    rows: int = 16
    length: int = 128
    max_pieces: int = 62
    mask_rate: float = 0.25
    replay_share: float = 0.0
    single_share: float = 0.5
    head_rate: float = 1e-3
    encoder_rate: float = 4e-4
    embedding_rate: float = 3e-4
    weight_decay: float = 0.01
    warmup_steps: int = 150
    clip: float = 1.0
    average_decay: float = 0.998
    precision: Precision = "float32"
    compile: bool = True
    threads: int = 1
    seed: int = 0
