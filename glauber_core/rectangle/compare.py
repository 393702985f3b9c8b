"""The same rule on several models side by side, with controls whose answer is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from glauber_core.exact import Bigram, ConditionalTable, CurieWeiss
from glauber_core.models import MaskedLM
from glauber_core.rectangle.floor import Floor, noise_floor
from glauber_core.rectangle.results import Measured
from glauber_core.rectangle.schemes import Rule, generator
from glauber_core.rectangle.statistics import Summary, summarize
from glauber_core.rectangle.survey import survey
from glauber_core.types import Conditionals, JointLaw

Kind = Literal["masked", "control", "by construction"]
SPINS, CHAINS = 12, 20


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

        measured = survey(subject.model, subject.sentences, rule, subject.proposer, progress=share)
        floor = noise_floor(subject.model, subject.precise, subject.sentences, measured)
        found.append(Row(subject, measured, floor, summarize(measured, floor.value, rule.seed)))
        progress(index, 1.0)
    return found


def bigram_control(model: MaskedLM, sentences: Sequence[Sequence[int]], texts: Sequence[str]) -> Subject:
    """A bigram Markov chain over the model's vocabulary, fitted to ``texts``: compatible, whatever it has learnt.

    Args:
        model: whose vocabulary and allowed tokens are used.
        sentences: token ids of the sentences under test.
        texts: what it is fitted to; the sentences under test are added.
    """
    fitted = [model.vocabulary.encode(text).ids for text in texts]
    law = Bigram.from_sequences([*fitted, *sentences], model.vocab_size, model.allowed)
    note = "A Markov chain of word pairs over the same vocabulary: its conditionals do have a joint law."
    return Subject("bigram Markov chain", "control", law, sentences, note=note)


def physics_controls(rule: Rule) -> list[Subject]:
    """Curie-Weiss (compatible) and a random table of conditionals (incompatible), on random states of their own."""
    rng = generator(rule.seed, 0)
    spins = [tuple(int(s) for s in rng.integers(0, 2, SPINS)) for _ in range(CHAINS)]
    table = ConditionalTable.random(4, 4, rng)
    states = [tuple(int(s) for s in rng.integers(0, 4, 4)) for _ in range(CHAINS)]
    return [
        Subject(
            "Curie-Weiss magnet",
            "control",
            CurieWeiss(1.2),
            spins,
            note=f"{SPINS} spins that all pull on each other, beta 1.2: physics with a joint law.",
        ),
        Subject(
            "random conditionals",
            "control",
            table,
            states,
            note="Four positions, four tokens, every conditional drawn at random: no joint law at all.",
        ),
    ]
