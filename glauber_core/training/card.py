"""The model card: what a trained model was made from, how, and how good it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from glauber_core.training.config import Config
from glauber_core.training.state import State


def card(
    name: str,
    model: Any,
    start: str,
    texts: Sequence[tuple[str, int, int]],
    config: Config,
    state: State,
    curve: Sequence[Mapping[str, Any]],
    chosen: str,
    notes: str = "",
) -> str:
    """Markdown of the card; ``{sha256}`` stands for the hash of the weights.

    Args:
        name: of the model.
        model: the transformers model.
        start: what its first weights were.
        texts: (name, sentences, word pieces) of each text.
        config: the settings.
        state: the counters at the end.
        curve: reports of the run, oldest first; see ``report.Reporter``.
        chosen: which weights are stored and why, one sentence.
        notes: Markdown placed before the data, for licences and the like.
    """
    parameters = sum(p.numel() for p in model.parameters())
    lines = [
        f"# {name}",
        "",
        f"A small {config.kind} language model: {model.config.model_type} architecture, {parameters / 1e6:.1f} M "
        "parameters, stored in float16 (load in float32).",
        "SHA-256 of model.safetensors: {sha256}",
        "",
        f"Start: {start}.",
        chosen,
        "",
    ]
    if notes:
        lines += [notes.strip(), ""]
    lines += ["## Texts", "", "| text | sentences | word pieces |", "| --- | --- | --- |"]
    lines += [f"| {text} | {sentences:,} | {pieces:,} |" for text, sentences, pieces in texts]
    lines += ["", "## Training", "", _training(config, state), ""]
    if curve:
        lines += ["## Curve", "", *_table(curve), ""]
    return "\n".join(lines)


def _training(config: Config, state: State) -> str:
    masking = ""
    if config.kind == "masked":
        masking = f" {config.mask_rate:.0%} of the pieces predicted (88 % masked, 7 % random, 5 % kept)."
    return (
        f"{state.step:,} steps, {state.tokens:,} tokens, {state.seconds / 60:.0f} minutes in {config.precision} "
        f"products with float32 weights. Batches of {config.rows} rows of {config.length} pieces, packed with "
        f"sentences and short passages of up to {config.max_pieces} pieces.{masking} AdamW (0.9, 0.98), weight decay "
        f"{config.weight_decay}, peak rates {config.head_rate:g} head, {config.encoder_rate:g} encoder, "
        f"{config.embedding_rate:g} embeddings; {config.warmup_steps} steps of warm-up, then linear to zero in the "
        f"larger of the shares of tokens and time spent; gradient clip {config.clip:g}, no dropout. "
        f"Seed {config.seed}."
    )


def _table(curve: Sequence[Mapping[str, Any]]) -> list[str]:
    columns = ["step", "tokens", "train_loss", *(k for k in ("loss", "top1", "top5") if k in curve[-1])]
    rows = [" | ".join(_cell(column, line.get(column)) for column in columns) for line in curve]
    return [
        f"| {' | '.join(columns)} |",
        f"| {' | '.join('---' for _ in columns)} |",
        *(f"| {row} |" for row in rows),
    ]


def _cell(column: str, value: Any) -> str:
    if value is None:
        return "-"
    if column.startswith("top"):
        return f"{value:.1%}"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}"
