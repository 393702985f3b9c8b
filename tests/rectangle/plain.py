"""The rectangle test written once more, one model row at a time, from MATH section 2; and models wrapped for the tests.

Nothing here comes from ``glauber_core.rectangle``, so that the two can disagree.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from glauber_core.exact import Compatible
from glauber_core.types import Conditionals


@dataclass(frozen=True)
class Plain:
    """Attributes:
    ratios: log-ratios of x->y, y->z, x->w, w->z, nats.
    l1, l2, curl, delta, relative: as MATH section 2 defines them.
    """

    ratios: tuple[float, float, float, float]
    l1: float
    l2: float
    curl: float
    delta: float
    relative: float


def put(state: Sequence[int], position: int, token: int) -> list[int]:
    """The sentence with one token replaced."""
    return [token if k == position else t for k, t in enumerate(state)]


def log_p(model: Conditionals, state: Sequence[int], position: int) -> Tensor:
    """float64 [V]: log p_i(. | x_-i), from one row alone."""
    return torch.log_softmax(model(torch.tensor([list(state)]), torch.tensor([position]))[0].double(), dim=0)


def plain(model: Conditionals, x: Sequence[int], i: int, j: int, a_new: int, b_new: int) -> Plain:
    """One rectangle by four separate rows, log-softmax included."""

    def ratio(state: Sequence[int], position: int, new: int) -> float:
        law = log_p(model, state, position)
        return float(law[new] - law[state[position]])

    y, w = put(x, i, a_new), put(x, j, b_new)
    ratios = (ratio(x, i, a_new), ratio(y, j, b_new), ratio(x, j, b_new), ratio(w, i, a_new))
    l1, l2 = ratios[0] + ratios[1], ratios[2] + ratios[3]
    total = abs(l1) + abs(l2)
    return Plain(ratios, l1, l2, l1 - l2, abs(l1 - l2), abs(l1 - l2) / total if total else 0.0)


def some_sentences(model: Conditionals, lengths: Sequence[int], seed: int = 0) -> list[list[int]]:
    """Sentences of allowed tokens."""
    words, rng = torch.nonzero(model.allowed.cpu())[:, 0].numpy(), np.random.default_rng(seed)
    return [rng.choice(words, n).tolist() for n in lengths]


def draw_rectangle(model: Conditionals, n: int, rng: np.random.Generator) -> tuple[list[int], int, int, int, int]:
    """x, i, j, a', b': any rectangle, both orders of the positions alike."""
    words = torch.nonzero(model.allowed.cpu())[:, 0].numpy()
    x = rng.choice(words, n).tolist()
    i, j = rng.choice(n, 2, replace=False).tolist()
    a_new, b_new = (int(rng.choice(words[words != x[k]])) for k in (i, j))
    return x, i, j, a_new, b_new


class Wrapped:
    """A model that passes everything on; the tests change one thing at a time."""

    def __init__(self, model: Conditionals) -> None:
        self.model, self.vocab_size, self.allowed = model, model.vocab_size, model.allowed

    def __call__(self, states: Tensor, positions: Tensor) -> Tensor:
        return self.model(states, positions)


class Counting(Wrapped):
    """Keeps every batch: ``batches[k]`` lists the rows (position read, the other tokens)."""

    def __init__(self, model: Conditionals) -> None:
        super().__init__(model)
        self.batches: list[list[tuple[int, tuple[int, ...]]]] = []

    def __call__(self, states: Tensor, positions: Tensor) -> Tensor:
        rows = zip(states.tolist(), positions.tolist(), strict=True)
        self.batches.append([(i, tuple(put(state, i, -1))) for state, i in rows])
        return super().__call__(states, positions)


class Divided(Wrapped):
    """The conditionals at another temperature: every logit divided by tau."""

    def __init__(self, model: Conditionals, tau: float) -> None:
        super().__init__(model)
        self.tau = tau

    def __call__(self, states: Tensor, positions: Tensor) -> Tensor:
        return super().__call__(states, positions) / self.tau


class Rounded(Wrapped):
    """The same logits in float32."""

    dtype = torch.float32

    def __call__(self, states: Tensor, positions: Tensor) -> Tensor:
        return super().__call__(states, positions).float()


class Jittery(Wrapped):
    """Logits off by an amount that the batch's size and the row decide, like a matrix product's rounding."""

    def __init__(self, model: Conditionals, size: float) -> None:
        super().__init__(model)
        self.size = size

    def __call__(self, states: Tensor, positions: Tensor) -> Tensor:
        places = 1.0 + torch.arange(states.shape[1], dtype=torch.float64)
        others = (states * places).sum(dim=1) - states.gather(1, positions[:, None])[:, 0] * places[positions]
        phase = torch.outer(others + 0.3, torch.arange(1.0, self.vocab_size + 1, dtype=torch.float64))
        return super().__call__(states, positions) + self.size * torch.sin(phase * len(states))


class Fixed(Wrapped):
    """Evaluates any batch in batches of exactly so many rows."""

    def __init__(self, model: Conditionals, rows: int) -> None:
        super().__init__(model)
        self.rows = rows

    def __call__(self, states: Tensor, positions: Tensor) -> Tensor:
        return torch.cat([self.one(s, i) for s, i in zip(states, positions, strict=True)])

    def one(self, state: Tensor, position: Tensor) -> Tensor:
        return super().__call__(state.expand(self.rows, -1), position.expand(self.rows))[:1]


class Law:
    """An exact joint law on the ``JointLaw`` protocol; ``calls`` counts its batches by their rows."""

    def __init__(self, model: Compatible, allowed: Tensor | None = None) -> None:
        self.model, self.vocab_size = model, model.vocab_size
        self.allowed = model.allowed if allowed is None else allowed
        self.calls: list[int] = []

    def log_joint(self, states: Tensor) -> Tensor:
        self.calls.append(len(states))
        return self.model.log_weight(states)


def binomial_tolerance(p: float, trials: int, sigmas: float = 4.5) -> float:
    """How far a frequency may lie from p; a correct one is farther off in 7 of a million cases."""
    return sigmas * math.sqrt(p * (1 - p) / trials)
