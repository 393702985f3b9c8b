"""Do the copies of a repeated token hold each other up? (MATH section 4, collective reinforcement)"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float64, Int64

from glauber_core.errors import UserError
from glauber_core.kernels import log_conditional
from glauber_core.types import Conditionals

_SUBSETS = 8  # for each position and number of copies
_ROWS = 16


class Reinforcement(NamedTuple):
    """The probability of a token against the number of its other copies.

    Attributes:
        token: which.
        others: int64 [R], copies kept elsewhere in the sentence, 0 .. copies - 1.
        mean, low, high: float64 [R], mean, smallest and largest p_i^tau(token) over positions i and subsets.
        tried: int64 [R], how many those were.
        tau: the temperature.
    """

    token: int
    others: Int64[np.ndarray, " R"]
    mean: Float64[np.ndarray, " R"]
    low: Float64[np.ndarray, " R"]
    high: Float64[np.ndarray, " R"]
    tried: Int64[np.ndarray, " R"]
    tau: float


def repeated(state: Sequence[int]) -> list[int]:
    """Tokens that a state holds at least twice, the most frequent first."""
    tokens, counts = np.unique(np.array(state), return_counts=True)
    order = np.lexsort((tokens, -counts))
    return [int(tokens[k]) for k in order if counts[k] > 1]


def reinforcement(conditionals: Conditionals, state: Sequence[int], token: int, tau: float) -> Reinforcement:
    """p_i^tau(token | x_-i) at each of its places i, with 0, 1, .. of the other copies kept.

    A copy that is not kept is replaced by the likeliest other token of its place in the whole sentence. Of the subsets
    of one size the first 8 in lexicographic order are tried.

    Args:
        conditionals: the model.
        state: token ids.
        token: one that the state holds at least twice.
        tau: temperature, >= 0.

    Raises:
        UserError: the state does not hold it twice, or it may not be sampled.
    """
    places = [i for i, t in enumerate(state) if t == token]
    if len(places) < 2:
        raise UserError("This sentence does not hold the word twice.")
    if not bool(conditionals.allowed[token]):
        raise UserError("This token is never sampled.")
    base = torch.tensor([list(state)])
    logits = conditionals(base.expand(len(places), -1), torch.tensor(places)).double().cpu()
    logits[:, token] = -torch.inf
    instead = dict(zip(places, logits.argmax(dim=1).tolist(), strict=True))
    rows, at, kept = [], [], []
    for i in places:
        others = [p for p in places if p != i]
        for size in range(len(others) + 1):
            for keep in itertools.islice(itertools.combinations(others, size), _SUBSETS):
                row = list(state)
                for p in others:
                    row[p] = token if p in keep else instead[p]
                rows.append(row)
                at.append(i)
                kept.append(size)
    values = []
    for first in range(0, len(rows), _ROWS):
        part = slice(first, first + _ROWS)
        out = conditionals(torch.tensor(rows[part]), torch.tensor(at[part]))
        log_p = log_conditional(out, torch.full((len(out),), float(tau), dtype=torch.float64, device=out.device))
        values.append(log_p[:, token].exp().cpu().numpy())
    found, sizes = np.concatenate(values), np.array(kept)
    groups = [found[sizes == k] for k in range(len(places))]
    return Reinforcement(
        token=token,
        others=np.arange(len(places)),
        mean=np.array([g.mean() for g in groups]),
        low=np.array([g.min() for g in groups]),
        high=np.array([g.max() for g in groups]),
        tried=np.array([len(g) for g in groups]),
        tau=float(tau),
    )
