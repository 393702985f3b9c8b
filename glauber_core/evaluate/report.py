"""Held-out figures of a model by source and by length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Literal

from glauber_core.evaluate import next_token, single_mask
from glauber_core.evaluate.scores import Example, Scores, Summary, summarise

Kind = Literal["masked", "causal"]
LENGTHS = ((3, 10), (11, 20), (21, 30), (31, 45), (46, 62))


def find_examples(kind: Kind, texts: Mapping[str, Sequence[str]], tokenizer: Any, seed: int = 0) -> list[Example]:
    """Examples of all texts, by name, for a masked (``seed``: of the positions) or a causal model."""
    if kind == "masked":
        return [e for name, lines in texts.items() for e in single_mask.examples(lines, tokenizer, name, seed)]
    return [e for name, lines in texts.items() for e in next_token.examples(lines, tokenizer, name)]


def score(kind: Kind, model: Any, cases: Sequence[Example], tokenizer: Any) -> Scores:
    """Scores of the examples; puts the model into eval mode."""
    model.eval()
    if kind == "masked":
        return single_mask.score(model, cases, tokenizer.mask_token_id, tokenizer.pad_token_id)
    return next_token.score(model, cases, tokenizer.pad_token_id)


def figures(kind: Kind, model: Any, cases: Sequence[Example], tokenizer: Any) -> dict[str, float]:
    """``loss`` (nats), ``top1`` and ``top5`` (shares) over all examples; empty without any."""
    if not cases:
        return {}
    whole = summarise(score(kind, model, cases, tokenizer))
    return {"loss": whole.loss, "top1": whole.top1, "top5": whole.top5}


def breakdown(scores: Scores, cases: Sequence[Example]) -> dict[str, dict[str, Summary]]:
    """Summaries under ``all``, ``source`` and ``length`` (in word pieces, special tokens not counted).

    Raises:
        ValueError: there are no predictions.
    """
    sources = dict.fromkeys(case.source for case in cases)
    lengths = {f"{low}-{high}": [low <= case.pieces <= high for case in cases] for low, high in LENGTHS}
    return {
        "all": {"all": summarise(scores)},
        "source": {name: summarise(scores, [case.source == name for case in cases]) for name in sources},
        "length": {name: summarise(scores, kept) for name, kept in lengths.items() if any(kept)},
    }


def table(parts: Mapping[str, Mapping[str, Summary]]) -> str:
    """The breakdown as a Markdown table."""
    lines = ["| held-out text | predictions | loss (nats) | top-1 | top-5 |", "| --- | --- | --- | --- | --- |"]
    for part, summaries in parts.items():
        for name, s in summaries.items():
            label = name if part != "length" else f"{name} pieces"
            error = "" if s.loss_error is None else f" ± {s.loss_error:.3f}"
            lines.append(f"| {label} | {s.count:,} | {s.loss:.3f}{error} | {s.top1:.1%} | {s.top5:.1%} |")
    return "\n".join(lines)


def as_json(parts: Mapping[str, Mapping[str, Summary]]) -> dict[str, Any]:
    """The breakdown in JSON types."""
    return {part: {name: asdict(s) for name, s in summaries.items()} for part, summaries in parts.items()}
