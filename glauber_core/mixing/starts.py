"""The two sentences a coupled pair begins with.

topics     two built-in starters of different topics
file:PATH  two different sentences of a file (.txt, .csv, .tsv: ``texts``)
uniform    two sentences of tokens drawn uniformly from the allowed ones
extremes   all tokens the first allowed one, against all the last: all-minus against all-plus for spins

Sentences are cut after n tokens, or joined with the next ones of their topic (of the file) until they have n.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Int64
from torch import Tensor

from glauber_core.errors import UserError
from glauber_core.mixing.plan import FILE
from glauber_core.models import MaskedLM
from glauber_core.starters import STARTERS, TOPICS
from glauber_core.texts import from_path
from glauber_core.types import Conditionals

_OWN_STREAM = 2**63  # no pair has this id
_TRIES = 200


@dataclass(frozen=True)
class Texts:
    """Sentences to begin with.

    Attributes:
        sentences: in order.
        groups: the group of each; a pair takes two groups, if there are two.
    """

    sentences: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


def texts_of(start: str) -> Texts:
    """The sentences that a start draws from; none for ``uniform`` and ``extremes``.

    Raises:
        UserError: a file that cannot be read.
    """
    if start == "topics":
        own = [s for s in STARTERS if s.topic in TOPICS]
        return Texts(tuple(s.text for s in own), tuple(s.topic for s in own))
    if start.startswith(FILE):
        sentences = from_path(Path(start.removeprefix(FILE))).sentences
        return Texts(sentences, ("",) * len(sentences))
    return Texts()


def start_pairs(
    start: str, texts: Texts, conditionals: Conditionals, n: int, count: int, seed: int
) -> tuple[Int64[Tensor, "C n"], Int64[Tensor, "C n"]]:
    """Start sentences x and y, int64 [C, n], of C pairs.

    Args:
        start: as of ``Cell``.
        texts: of ``texts_of``.
        conditionals: the model.
        n: tokens.
        count: C.
        seed: of the choice; Philox keyed by (seed, 2^63).

    Raises:
        UserError: sentences for a model without a vocabulary, n above its limit, or no two different sentences.
    """
    rng = np.random.Generator(np.random.Philox(key=np.array([seed, _OWN_STREAM], dtype=np.uint64)))
    allowed = torch.nonzero(conditionals.allowed.cpu())[:, 0]
    if start == "extremes":
        return allowed[0].expand(count, n).clone(), allowed[-1].expand(count, n).clone()
    if start == "uniform":
        drawn = allowed[torch.from_numpy(rng.integers(0, len(allowed), (2, count, n)))]
        return drawn[0], drawn[1]
    if not isinstance(conditionals, MaskedLM):
        raise UserError(f"This model has no words; start it from uniform or extremes, not from {start}.")
    rows = _joined(texts, conditionals, n)
    several = len(set(texts.groups)) > 1
    x, y = [], []
    for _ in range(count):
        a, b = _different(rows, texts.groups if several else None, rng)
        x.append(rows[a])
        y.append(rows[b])
    return torch.tensor(x), torch.tensor(y)


def _joined(texts: Texts, model: MaskedLM, n: int) -> list[tuple[int, ...]]:
    """Each sentence, with the next ones of its group, as the first n token ids."""
    if n > model.vocabulary.limit:
        raise UserError(f"{model.name} reads at most {model.vocabulary.limit:,} tokens; the plan asks for {n:,}.")
    ids = [model.vocabulary.encode(text, cap=None).ids for text in texts.sentences]
    rows = []
    for k, group in enumerate(texts.groups):
        mine = [j for j, other in enumerate(texts.groups) if other == group]
        place, row = mine.index(k), list(ids[k])
        while len(row) < n:
            place = (place + 1) % len(mine)
            row += ids[mine[place]]
        rows.append(tuple(row[:n]))
    return rows


def _different(
    rows: list[tuple[int, ...]], groups: tuple[str, ...] | None, rng: np.random.Generator
) -> tuple[int, int]:
    """Two sentences that differ, of two groups if there are any; all such pairs are equally likely."""
    for _ in range(_TRIES):
        a, b = (int(k) for k in rng.integers(0, len(rows), 2))
        if rows[a] != rows[b] and (groups is None or groups[a] != groups[b]):
            return a, b
    raise UserError("A pair needs two different sentences: add more of them, or take a larger number of tokens.")
