"""Which rectangles are drawn: pairs of positions and replacement tokens (MATH section 2, the schemes)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import torch
from jaxtyping import Bool, Float, Float64, Int64
from torch import Tensor

from glauber_core.errors import UserError
from glauber_core.kernels import inverse_cdf
from glauber_core.rectangle.results import Rectangles
from glauber_core.streams import check_seed

Replacements = Literal["natural", "top-k", "uniform"]
Positions = Literal["all", "random", "adjacent", "distance"]
MAX_ALTERNATIVES = 50


@dataclass(frozen=True)
class Rule:
    """How rectangles are drawn from a sentence; the same rule and seed draw the same ones.

    Attributes:
        replacements: ``natural``: a' ~ p_i(. | x_-i) at tau = 1, given that it differs from the present token, and
            b' ~ p_j(. | x_-j) likewise; ``top-k``: uniform on the k likeliest other tokens; ``uniform``: uniform on all
            other allowed tokens. Natural draws are independent; the others are distinct.
        positions: ``all`` pairs, ``random`` pairs, ``adjacent`` ones, or all at a given ``distance``.
        alternatives: replacements drawn for each position; a pair gives alternatives^2 rectangles.
        pairs: pairs drawn from each sentence (``random`` only); all of them where there are fewer.
        distance: |i - j| (``distance`` only).
        k: of ``top-k``.
        seed: of the draws; sentence s has its own stream (seed, s).
    """

    replacements: Replacements = "natural"
    positions: Positions = "all"
    alternatives: int = 1
    pairs: int = 10
    distance: int = 2
    k: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        if self.replacements not in get_args(Replacements):
            raise UserError(f"Replacements are drawn {', '.join(get_args(Replacements))}: choose one of these.")
        if self.positions not in get_args(Positions):
            raise UserError(f"Positions are {', '.join(get_args(Positions))}: choose one of these.")
        limits = {"alternatives": MAX_ALTERNATIVES, "pairs": 10_000, "distance": 10_000, "k": 1_000}
        for name, most in limits.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
                raise UserError(f"The number given for {name} must be a whole number from 1 to {most:,}.")
        check_seed(self.seed)

    def __str__(self) -> str:
        how = f"top-{self.k}" if self.replacements == "top-k" else self.replacements
        where = {
            "all": "all pairs",
            "random": "1 random pair a sentence" if self.pairs == 1 else f"{self.pairs} random pairs a sentence",
            "adjacent": "adjacent pairs",
            "distance": f"pairs at distance {self.distance}",
        }[self.positions]
        each = "1 alternative" if self.alternatives == 1 else f"{self.alternatives} alternatives"
        return f"{how} replacements, {where}, {each} a position, seed {self.seed}"


def generator(seed: int, sentence: int) -> np.random.Generator:
    """The stream of one sentence's draws: Philox keyed by (seed, sentence)."""
    return np.random.Generator(np.random.Philox(key=np.array([seed, sentence], dtype=np.uint64)))


def pairs_of(places: Int64[np.ndarray, " m"], rule: Rule, rng: np.random.Generator) -> Int64[np.ndarray, "P 2"]:
    """int64 [P, 2]: pairs i < j among the positions ``places`` (increasing), by the rule."""
    low, high = np.triu_indices(len(places), k=1)
    pairs = np.stack([places[low], places[high]], axis=1)
    if rule.positions == "random" and len(pairs) > rule.pairs:
        return pairs[np.sort(rng.choice(len(pairs), size=rule.pairs, replace=False))]
    if rule.positions in ("adjacent", "distance"):
        wanted = 1 if rule.positions == "adjacent" else rule.distance
        return pairs[pairs[:, 1] - pairs[:, 0] == wanted]
    return pairs


def draw(
    logits: Float[Tensor, "M V"],
    current: Int64[np.ndarray, " M"],
    allowed: Bool[Tensor, " V"],
    uniform: Float64[np.ndarray, "M K"],
    rule: Rule,
) -> Int64[np.ndarray, "M K"]:
    """Replacement tokens at M positions.

    Args:
        logits: float [M, V], the conditionals, nats.
        current: int64 [M], the tokens that are there; never drawn.
        allowed: bool [V], the tokens to choose from.
        uniform: float64 [M, K] in [0, 1).
        rule: the scheme.

    Returns:
        int64 [M, K]; -1 where a position has no other to choose from or, where they are distinct, fewer than K.
    """
    count, wanted = uniform.shape
    here = torch.from_numpy(current)
    scores = logits.double().masked_fill(~allowed, -torch.inf).scatter(1, here[:, None], -torch.inf)
    if rule.replacements == "natural":
        log_prob = torch.log_softmax(scores, dim=1)
        columns = [inverse_cdf(log_prob, torch.from_numpy(uniform[:, m].copy()), allowed) for m in range(wanted)]
        some = torch.isfinite(scores).any(dim=1)
        return torch.where(some[:, None], torch.stack(columns, dim=1), -1).numpy()
    out = np.full((count, wanted), -1, dtype=np.int64)
    everyone = torch.nonzero(allowed)[:, 0].numpy()
    top = scores.topk(min(rule.k, scores.shape[1]), dim=1) if rule.replacements == "top-k" else None
    for row in range(count):
        if top is not None:
            pool = top.indices[row][torch.isfinite(top.values[row])].numpy()
        else:
            pool = everyone[everyone != current[row]]
        out[row, : min(wanted, len(pool))] = _distinct(pool, uniform[row])
    return out


def _distinct(pool: Int64[np.ndarray, " p"], uniform: Float64[np.ndarray, " K"]) -> Int64[np.ndarray, " k"]:
    """min(K, p) different members of ``pool``, a uniform random subset in random order (Fisher & Yates)."""
    swapped: dict[int, int] = {}
    chosen = []
    for m in range(min(len(uniform), len(pool))):
        pick = m + math.floor(uniform[m] * (len(pool) - m))
        chosen.append(swapped.get(pick, pick))
        swapped[pick] = swapped.get(m, m)
    return pool[np.array(chosen, dtype=np.int64)]


def build(
    sentence: int,
    tokens: Sequence[int],
    pairs: Int64[np.ndarray, "P 2"],
    replacements: Int64[np.ndarray, "n K"],
) -> Rectangles:
    """All alternatives^2 rectangles at each pair; ``replacements[p]`` are those of position p, -1 for none."""
    k = replacements.shape[1]
    first, second = (side.reshape(-1) for side in np.meshgrid(np.arange(k), np.arange(k), indexing="ij"))
    i, j = (np.repeat(pairs[:, side], k * k) for side in (0, 1))
    a_new = replacements[i, np.tile(first, len(pairs))]
    b_new = replacements[j, np.tile(second, len(pairs))]
    x = np.asarray(tokens, dtype=np.int64)
    found = Rectangles(np.full(len(i), sentence, dtype=np.int64), i, j, x[i], x[j], a_new, b_new)
    return found.take(np.nonzero((a_new >= 0) & (b_new >= 0))[0])
