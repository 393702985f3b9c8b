"""A whole test: survey, noise floor, figures; cancelled, it keeps the sentences that are complete."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from glauber_core.errors import Cancelled
from glauber_core.rectangle.floor import Floor, noise_floor
from glauber_core.rectangle.results import Measured, join
from glauber_core.rectangle.schemes import Rule
from glauber_core.rectangle.statistics import Summary, by_distance, summarize
from glauber_core.rectangle.survey import survey_parts
from glauber_core.types import Conditionals


@dataclass(frozen=True)
class Report:
    """Attributes:
    rule: how the rectangles were drawn.
    sentences: token ids of the sentences.
    measured: the rectangles.
    floor: noise floor on a sample of them.
    summary: figures of all rectangles.
    distances: the same for each |i - j|.
    complete: False if the test was cancelled before the last sentence.
    """

    rule: Rule
    sentences: tuple[tuple[int, ...], ...]
    measured: Measured
    floor: Floor
    summary: Summary
    distances: dict[int, Summary]
    complete: bool


def run_test(
    model: Conditionals,
    sentences: Sequence[Sequence[int]],
    rule: Rule,
    precise: Callable[[], Conditionals | None] = lambda: None,
    progress: Callable[[float], None] = lambda share: None,
) -> Report:
    """Draw, measure and summarise.

    Args:
        model: what is tested.
        sentences: token ids.
        rule: which rectangles.
        precise: gives the model in float64, asked for once the rectangles are there; None leaves the comparison of
            precisions out, which is right for a model that computes in float64.
        progress: called with the share done; may raise ``Cancelled``.

    Raises:
        UserError: no rectangle can be drawn.
        Cancelled: cancelled before the first sentence was complete.
    """
    parts: list[Measured] = []
    complete = True
    try:
        for part in survey_parts(model, sentences, rule, progress=lambda share: progress(0.8 * share)):
            parts.append(part.measured)
    except Cancelled:
        if not parts:
            raise
        complete = False
    measured = join(parts)

    def measuring(share: float) -> None:
        with suppress(Cancelled):  # the rectangles are there; the floor takes seconds and gives them their meaning
            progress(0.8 + 0.2 * share)

    floor = noise_floor(model, precise(), sentences, measured, progress=measuring)
    level = floor.value
    summary, distances = summarize(measured, level, rule.seed), by_distance(measured, level)
    return Report(rule, tuple(tuple(s) for s in sentences), measured, floor, summary, distances, complete)
