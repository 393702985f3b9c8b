"""The same rule on several models side by side, with controls whose answer is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Bool, Float64, Int
from torch import Tensor

from glauber_core.errors import UserError
from glauber_core.exact import Bigram, ConditionalTable, CurieWeiss
from glauber_core.models import CausalLM, MaskedLM
from glauber_core.rectangle.floor import Floor, noise_floor
from glauber_core.rectangle.results import Measured
from glauber_core.rectangle.schemes import Rule, generator
from glauber_core.rectangle.statistics import Summary, summarize
from glauber_core.rectangle.survey import survey
from glauber_core.starters import STARTERS
from glauber_core.types import Conditionals, JointLaw

Kind = Literal["masked", "control", "by construction"]
SPINS, PLACES, CHAINS = 12, 4, 20
_OWN_STREAM = 2**63  # no sentence has this number
MAX_TOKENS = 64


@dataclass(frozen=True)
class Subject:
    """What is compared.

    Attributes:
        name: as shown.
        kind: ``masked`` (a language model under test), ``control`` (conditionals with a known answer) or ``by
            construction`` (a joint law, whose curl is zero whatever it has learnt).
        model: the conditionals or the joint law.
        sentences: its token ids for the sentences under test.
        proposer: whose conditionals the replacements come from; None for the model's own.
        precise: the model in float64, for the noise floor; None if it is float64 already.
        note: one sentence about what it is.
    """

    name: str
    kind: Kind
    model: Conditionals | JointLaw
    sentences: Sequence[Sequence[int]]
    proposer: Conditionals | None = None
    precise: Conditionals | JointLaw | None = None
    note: str = ""


@dataclass(frozen=True)
class Row:
    """Attributes:
    subject: what was measured.
    measured: its rectangles.
    floor: its noise floor.
    summary: its figures.
    """

    subject: Subject
    measured: Measured
    floor: Floor
    summary: Summary


def compare(
    subjects: Sequence[Subject], rule: Rule, progress: Callable[[int, float], None] = lambda index, share: None
) -> list[Row]:
    """Measure every subject by the same rule.

    Args:
        subjects: what to compare.
        rule: which rectangles.
        progress: called with a subject's number and the share of it that is done; what it raises ends the work.

    Raises:
        UserError: a subject's sentences offer no rectangle.
    """
    found = []
    for index, subject in enumerate(subjects):

        def share(done: float, index: int = index) -> None:
            progress(index, 0.9 * done)

        def share_of_floor(done: float, index: int = index) -> None:
            progress(index, 0.9 + 0.1 * done)

        measured = survey(subject.model, subject.sentences, rule, subject.proposer, progress=share)
        floor = noise_floor(subject.model, subject.precise, subject.sentences, measured, progress=share_of_floor)
        found.append(Row(subject, measured, floor, summarize(measured, floor.value, rule.seed)))
        progress(index, 1.0)
    return found


class Uniform:
    """The uniform law on the allowed tokens: proposes replacements where no masked model shares the vocabulary."""

    def __init__(self, allowed: Bool[Tensor, " V"]) -> None:
        self.allowed = allowed.cpu()
        self.vocab_size = len(allowed)

    def __call__(self, states: Int[Tensor, "B n"], positions: Int[Tensor, " B"]) -> Float64[Tensor, "B V"]:
        """0 at allowed tokens, -inf elsewhere, float64 [B, V]."""
        row = torch.where(self.allowed, 0.0, -torch.inf).double()
        return row.expand(len(states), -1)


def subject(
    model: MaskedLM | CausalLM,
    texts: Sequence[str],
    masked: Sequence[MaskedLM] = (),
    precise: Conditionals | None = None,
) -> Subject:
    """A language model and the sentences as it reads them; those it cannot read are left out.

    Args:
        model: what is tested.
        texts: the sentences.
        masked: models that may propose replacements for a causal one: the first with the same vocabulary does.
        precise: a masked model in float64.

    Raises:
        UserError: it can read none of them.
    """
    sentences, reason = [], ""
    for text in texts:
        try:
            sentences.append(model.vocabulary.encode(text, cap=MAX_TOKENS).ids)
        except UserError as error:
            reason = reason or str(error)
    if not sentences:
        raise UserError(f"{model.name} can read none of the sentences: {reason}")
    if isinstance(model, MaskedLM):
        return Subject(model.name, "masked", model, sentences, precise=precise, note="A masked language model.")
    proposer = next((m for m in masked if m.vocabulary.tokens == model.vocabulary.tokens), None)
    whose = "at random from the vocabulary" if proposer is None else f"from {proposer.name}"
    note = f"A causal model, read through its joint law: zero by construction. Replacements are drawn {whose}."
    return Subject(model.name, "by construction", model, sentences, proposer or Uniform(model.allowed), note=note)


def line_up(
    opened: Sequence[MaskedLM | CausalLM],
    texts: Sequence[str],
    rule: Rule,
    twin: Callable[[MaskedLM], Conditionals],
    controls: bool = True,
) -> list[Subject]:
    """The subjects of a comparison: the models in their order, then the controls.

    Args:
        opened: what is tested.
        texts: the sentences.
        rule: which rectangles.
        twin: a masked model -> the same in float64.
        controls: with a bigram chain over the first masked model's vocabulary, if there is one, and the physics.

    Raises:
        UserError: a model can read none of the sentences.
    """
    masked = [m for m in opened if isinstance(m, MaskedLM)]
    subjects = [subject(m, texts, masked, twin(m) if isinstance(m, MaskedLM) else None) for m in opened]
    if controls:
        own = next((s.sentences for s in subjects if s.kind == "masked"), None)
        subjects += [bigram_control(masked[0], own)] if own is not None else []
        subjects += physics_controls(rule)
    return subjects


def bigram_control(model: MaskedLM, sentences: Sequence[Sequence[int]]) -> Subject:
    """A bigram Markov chain over the model's vocabulary, fitted to the starters and the sentences under test.

    Args:
        model: whose vocabulary and allowed tokens are used.
        sentences: token ids of the sentences under test.
    """
    fitted = [model.vocabulary.encode(starter.text).ids for starter in STARTERS]
    law = Bigram.from_sequences([*fitted, *sentences], model.vocab_size, model.allowed)
    note = "A Markov chain of word pairs over the same vocabulary: its conditionals do have a joint law."
    return Subject("bigram Markov chain", "control", law, sentences, note=note)


def physics_controls(rule: Rule) -> list[Subject]:
    """Curie-Weiss (compatible) and a random table of conditionals (incompatible), on random states of their own.

    The magnet is as large as a rule of a given distance needs; the table cannot grow, and is left out where none of its
    pairs stand so far apart.
    """
    rng = generator(rule.seed, _OWN_STREAM)
    far = rule.distance if rule.positions == "distance" else 1
    count = max(SPINS, far + 1)
    spins = [tuple(int(s) for s in rng.integers(0, 2, count)) for _ in range(CHAINS)]
    table = ConditionalTable.random(PLACES, 4, rng)
    states = [tuple(int(s) for s in rng.integers(0, 4, PLACES)) for _ in range(CHAINS)]
    magnet = Subject(
        "Curie-Weiss magnet",
        "control",
        CurieWeiss(1.2),
        spins,
        note=f"{count:,} spins that all pull on each other, beta 1.2: physics with a joint law.",
    )
    random = Subject(
        "random conditionals",
        "control",
        table,
        states,
        note="Four positions, four tokens, every conditional drawn at random: no joint law at all.",
    )
    return [magnet, random] if far < PLACES else [magnet]
