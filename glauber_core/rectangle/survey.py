"""Rectangle tests of many sentences: draw by a rule, measure in few batches, in parts that can be kept or cancelled."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Bool, Int64

from glauber_core.errors import UserError
from glauber_core.rectangle.edges import ROWS, Base, base_rows, joint_log_ratios, log_ratios
from glauber_core.rectangle.results import Measured, Rectangles, join
from glauber_core.rectangle.schemes import Rule, build, draw, generator, pairs_of
from glauber_core.types import Conditionals, JointLaw

CHUNK_ROWS = 256  # base rows of a part; the vocabulary logits of a part stay in memory


@dataclass(frozen=True)
class Part:
    """The rectangles of some sentences.

    Attributes:
        measured: their rectangles.
        share: share of the work that is done after this part, in (0, 1].
    """

    measured: Measured
    share: float


@dataclass(frozen=True)
class _Plan:
    sentence: int
    tokens: tuple[int, ...]
    pairs: Int64[np.ndarray, "P 2"]
    rng: np.random.Generator

    @cached_property
    def places(self) -> Int64[np.ndarray, " m"]:
        """int64 [m]: the positions that stand in a pair, increasing."""
        return np.unique(self.pairs)


def survey(
    model: Conditionals | JointLaw,
    sentences: Sequence[Sequence[int]],
    rule: Rule,
    proposer: Conditionals | None = None,
    rows: int = ROWS,
    progress: Callable[[float], None] = lambda share: None,
) -> Measured:
    """All rectangles of a rule; see ``survey_parts``, whose parts it joins.

    Raises:
        UserError: as there.
    """
    return join([part.measured for part in survey_parts(model, sentences, rule, proposer, rows, progress)])


def survey_parts(
    model: Conditionals | JointLaw,
    sentences: Sequence[Sequence[int]],
    rule: Rule,
    proposer: Conditionals | None = None,
    rows: int = ROWS,
    progress: Callable[[float], None] = lambda share: None,
) -> Iterator[Part]:
    """Draw rectangles from sentences and measure them, some sentences of one length at a time.

    Positions whose token the model never writes (an unknown word, a blank) are context, never corners. Sentences that
    offer no pair give no rectangle. Only tokens that both model and proposer write are ever put in.

    Args:
        model: what is tested.
        sentences: token ids, of any lengths.
        rule: which rectangles.
        proposer: whose conditionals the replacements are drawn from: the model itself if None. A model that is only a
            joint law needs one, because its own conditionals would cost a joint probability for each word.
        rows: rows of a micro-batch.
        progress: called often with the share done; what it raises ends the work.

    Raises:
        UserError: no sentence offers a pair, a joint law without a proposer, or a proposer with another vocabulary.
    """
    source = proposer
    if source is None:
        if not isinstance(model, Conditionals):
            raise UserError("Replacements for this model must be drawn from a masked language model: name one.")
        source = model
    plans = _plans(sentences, rule, source, model)
    weights = [len(p.pairs) * rule.alternatives for plan in plans for p in plan]
    total, done = float(sum(weights)), 0.0
    for plan in plans:
        mine = float(sum(len(p.pairs) * rule.alternatives for p in plan))

        def within(count: int, of: int, before: float = done, mine: float = mine) -> None:
            progress((before + mine * count / of) / total)

        measured = _part(model, source, plan, rule, rows, within)
        done += mine
        yield Part(measured, done / total)


def _plans(
    sentences: Sequence[Sequence[int]], rule: Rule, source: Conditionals, model: Conditionals | JointLaw
) -> list[list[_Plan]]:
    """Sentences with a pair, in groups of one length whose base rows fit in a part."""
    allowed = _allowed(source, model).numpy()
    plans, longest = [], 0
    for s, tokens in enumerate(sentences):
        places = np.nonzero(allowed[np.asarray(tokens, dtype=np.int64)])[0]
        longest = max(longest, len(places))
        rng = generator(rule.seed, s)
        pairs = pairs_of(places, rule, rng)
        if len(pairs):
            plans.append(_Plan(s, tuple(tokens), pairs, rng))
    if not plans and longest < 2:
        raise UserError("A rectangle needs two words that the model knows: type a longer sentence.")
    if not plans:
        raise UserError("No two words stand at that distance: choose a smaller one, or a longer sentence.")
    groups: list[list[_Plan]] = []
    filled = 0
    for plan in sorted(plans, key=lambda p: len(p.tokens)):
        filled += len(plan.places)
        if groups and len(groups[-1][0].tokens) == len(plan.tokens) and filled <= CHUNK_ROWS:
            groups[-1].append(plan)
        else:
            groups.append([plan])
            filled = len(plan.places)
    return groups


def _allowed(source: Conditionals, model: Conditionals | JointLaw) -> Bool[torch.Tensor, " V"]:
    """bool [V]: the tokens that both write; a proposer's other words would have no probability under the model."""
    if source.vocab_size != model.vocab_size:
        raise UserError("Replacements must come from a model with the same vocabulary: choose another one.")
    return source.allowed.cpu() & model.allowed.cpu()


def _part(
    model: Conditionals | JointLaw,
    source: Conditionals,
    plans: Sequence[_Plan],
    rule: Rule,
    rows: int,
    progress: Callable[[int, int], None],
) -> Measured:
    states = torch.tensor([p.tokens for p in plans])
    wanted = np.concatenate(
        [np.stack([np.full(len(p.places), s), p.places], axis=1) for s, p in enumerate(plans)]
    ).astype(np.int64)
    base = base_rows(source, states, wanted, rows, lambda done, of: progress(0, 1))
    current = states.numpy()[wanted[:, 0], wanted[:, 1]]
    uniform = np.concatenate([p.rng.random((len(p.places), rule.alternatives)) for p in plans])
    drawn = draw(base.logits, current, _allowed(source, model), uniform, rule)
    found = []
    for s, plan in enumerate(plans):
        mine = wanted[:, 0] == s
        replacements = np.full((len(plan.tokens), rule.alternatives), -1, dtype=np.int64)
        replacements[wanted[mine, 1]] = drawn[mine]
        found.append(build(s, plan.tokens, plan.pairs, replacements))
    local = Rectangles(*(np.concatenate(column) for column in zip(*(f.columns for f in found), strict=True)))
    ratios = measure(model, states, local, base if source is model else None, rows, progress)
    original = np.array([p.sentence for p in plans])[local.sentence]
    return Measured(Rectangles(original, *local.columns[1:]), ratios)


def measure(
    model: Conditionals | JointLaw,
    states: torch.Tensor,
    rectangles: Rectangles,
    base: Base | None = None,
    rows: int = ROWS,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> np.ndarray:
    """Log-ratios float64 [N, 4] of given rectangles, by the model's conditionals or, where it has none, its joint law.

    Arguments as of ``edges.log_ratios``.
    """
    if not isinstance(model, Conditionals):
        return joint_log_ratios(model, states, rectangles, rows, progress)
    return log_ratios(model, states, rectangles, base, rows, progress)


def measure_again(
    model: Conditionals | JointLaw,
    sentences: Sequence[Sequence[int]],
    rectangles: Rectangles,
    rows: int = ROWS,
    progress: Callable[[float], None] = lambda share: None,
) -> Measured:
    """Given rectangles of sentences of any lengths, measured by another model or at another batch shape.

    Arguments as of ``survey_parts``.
    """
    ratios = np.empty((len(rectangles), 4))
    lengths = np.array([len(s) for s in sentences])
    before = 0
    for n in np.unique(lengths[rectangles.sentence]):
        mine = np.nonzero(lengths[rectangles.sentence] == n)[0]
        picked = rectangles.take(mine)
        names, local = np.unique(picked.sentence, return_inverse=True)
        states = torch.tensor([tuple(sentences[s]) for s in names])
        moved = Rectangles(local.reshape(-1).astype(np.int64), *picked.columns[1:])

        def within(count: int, of: int, before: int = before, mine: int = len(mine)) -> None:
            progress((before + mine * count / of) / len(rectangles))

        ratios[mine] = measure(model, states, moved, None, rows, within)
        before += len(mine)
    return Measured(rectangles, ratios)
