"""What a model's Glauber chains write: word-piece fragments at tau = 1, and ten prompts at tau = 0.7."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Int64
from torch import Tensor

from glauber_core.chain import Chain
from glauber_core.models import MaskedLM
from glauber_core.runners import run

PROMPTS = (
    "the mayor opened the new bridge on a cold morning in march .",
    "a small fire broke out in the kitchen of the old hotel .",
    "the children built a boat from wood and sailed it on the lake .",
    "her grandfather worked as a miner before the war .",
    "the company sold more bicycles than cars last summer .",
    "doctors say that most people need about eight hours of sleep .",
    "the river is the border between the two countries .",
    "he wrote a long letter to his sister but never sent it .",
    "the castle was built in the twelfth century and destroyed in a war .",
    "the team lost the final after extra time .",
)


class Written(NamedTuple):
    """A sentence before and after some sweeps of its chain, as shown to a person."""

    before: str
    after: str


def run_chains(
    model: MaskedLM, starts: Sequence[Sequence[int]], sweeps: int, tau: float, seed: int
) -> list[Int64[Tensor, " _"]]:
    """Run one chain from each start for ``sweeps * n`` steps; chains of equal length share their batches.

    Args:
        model: the conditionals.
        starts: token ids without special tokens.
        sweeps: n steps each (MATH section 1).
        tau: temperature.
        seed: chain k uses the stream (seed, k).

    Returns:
        Final states, int64 [n] each, in the order of ``starts``.
    """
    final: dict[int, Tensor] = {}
    for length in sorted({len(start) for start in starts}):
        members = [k for k, start in enumerate(starts) if len(start) == length]
        group = torch.tensor([list(starts[k]) for k in members])
        ends = run(model, group, tau, sweeps * length, seed, chains=members).final
        final |= dict(zip(members, ends, strict=True))
    return [final[k] for k in range(len(starts))]


def fragment_share(model: MaskedLM, states: Sequence[Sequence[int]]) -> float:
    """Share of the tokens that continue the word before them (``##ing``), in [0, 1]."""
    glued = [model.vocabulary.surface(int(token)).glued for state in states for token in state]
    return sum(glued) / len(glued)


def fragments_at(
    model: MaskedLM, texts: Sequence[str], sweeps: int = 20, tau: float = 1.0, seed: int = 0
) -> tuple[float, float]:
    """(before, after): share of fragments in the texts, and after ``sweeps`` sweeps from each of them."""
    starts = [model.vocabulary.encode(text).ids for text in texts]
    ends = [state.tolist() for state in run_chains(model, starts, sweeps, tau, seed)]
    return fragment_share(model, starts), fragment_share(model, ends)


def rewrite(
    model: MaskedLM, texts: Sequence[str] = PROMPTS, sweeps: int = 20, tau: float = 0.7, seed: int = 0
) -> list[Written]:
    """Each text before and after ``sweeps`` sweeps."""
    vocabulary = model.vocabulary
    starts = [vocabulary.encode(text).ids for text in texts]
    ends = run_chains(model, starts, sweeps, tau, seed)
    return [
        Written(vocabulary.text(start), vocabulary.text(end.tolist())) for start, end in zip(starts, ends, strict=True)
    ]


def trapped(
    model: MaskedLM, texts: Sequence[str], tau: float, sweeps: int = 200, seed: int = 0
) -> list[tuple[str, int]]:
    """(verdict, sweep) of each text's chain: the first ``perfect`` or ``approximate`` trap seen at the end of a sweep.

    A chain that is in neither after ``sweeps`` sweeps has its last verdict (``profile.Verdict.kind``) and that number.
    """
    found = []
    for number, text in enumerate(texts):
        chain = Chain(model, model.vocabulary.encode(text).ids, seed, tau, chain=number)
        kind, sweep = "unknown", 0
        while sweep < sweeps and kind not in ("perfect", "approximate"):
            chain.advance(chain.sweep_length)
            sweep += 1
            kind = chain.look()[1].kind
        found.append((kind, sweep))
    return found
