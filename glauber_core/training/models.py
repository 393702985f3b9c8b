"""The starting weights of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoTokenizer,
    BertConfig,
    BertForMaskedLM,
    GPT2Config,
    GPT2LMHeadModel,
)

from glauber_core.errors import UserError
from glauber_core.training.config import Config, Kind
from glauber_core.training.data import LARGEST_VOCABULARY

# Eager attention: compiled, it was a tenth faster than the fused kernel at these short lengths.
ATTENTION = "eager"
ARCHITECTURE = {"masked": "bert", "causal": "gpt2"}


def load_tokenizer(source: str) -> Any:
    """The tokenizer of a model folder or hub name.

    Raises:
        UserError: there is none, or it cannot be trained with.
    """
    try:
        tokenizer = AutoTokenizer.from_pretrained(source)
    except (OSError, ValueError):
        raise UserError(
            f"{source} holds no tokenizer that can be loaded; give a model folder or a model name."
        ) from None
    needed = ("cls_token_id", "sep_token_id", "pad_token_id", "mask_token_id")
    if len(tokenizer) > LARGEST_VOCABULARY or any(getattr(tokenizer, name) is None for name in needed):
        raise UserError(
            f"The tokenizer of {source} cannot be used: it needs [CLS], [SEP], [PAD] and [MASK] and at most "
            f"{LARGEST_VOCABULARY:,} ids."
        )
    return tokenizer


def load_model(source: str, kind: Kind) -> Any:
    """A BERT (masked) or GPT-2 (causal) in float32 without dropout, ready to train.

    Raises:
        UserError: the source holds no such model.
    """
    loader: Any = AutoModelForMaskedLM if kind == "masked" else AutoModelForCausalLM
    try:
        model = loader.from_pretrained(source, dtype=torch.float32, attn_implementation=ATTENTION)
    except (OSError, ValueError):
        raise UserError(
            f"{source} holds no {kind} language model that can be loaded; check the path or name."
        ) from None
    if model.config.model_type != ARCHITECTURE[kind]:
        raise UserError(
            f"{source} is of type {model.config.model_type}; {kind} training only continues {ARCHITECTURE[kind]}."
        )
    return without_dropout(model)


def fresh_model(tokenizer: Any, config: Config, width: int, layers: int, heads: int) -> Any:
    """A small random model: BERT (masked) or GPT-2 (causal), input and output embeddings tied.

    Args:
        tokenizer: gives the vocabulary.
        config: gives kind, row length (the number of positions) and seed.
        width: of the hidden states, a multiple of ``heads``; the inner width is four times as large.
        layers, heads: their numbers.
    """
    ids: dict[str, Any] = {"vocab_size": len(tokenizer), "pad_token_id": tokenizer.pad_token_id}
    ids |= {"attn_implementation": ATTENTION}
    with torch.random.fork_rng(devices=[]):
        # Transformers draws initial weights from the global generator; it is put back afterwards.
        torch.manual_seed(config.seed)
        if config.kind == "masked":
            bert = BertConfig(
                hidden_size=width,
                num_hidden_layers=layers,
                num_attention_heads=heads,
                intermediate_size=4 * width,
                max_position_embeddings=config.length,
                **ids,
            )
            return without_dropout(BertForMaskedLM(bert))
        ids |= {"bos_token_id": tokenizer.cls_token_id, "eos_token_id": tokenizer.sep_token_id}
        return without_dropout(
            GPT2LMHeadModel(GPT2Config(n_embd=width, n_layer=layers, n_head=heads, n_positions=config.length, **ids))
        )


def without_dropout(model: Any) -> Any:
    """Set every dropout to zero, in the modules and in the stored configuration."""
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
        if isinstance(getattr(module, "dropout_prob", None), float):
            module.dropout_prob = 0.0
    for name in list(vars(model.config)):
        if name.endswith(("dropout", "dropout_prob", "_pdrop")) and isinstance(getattr(model.config, name), float):
            setattr(model.config, name, 0.0)
    return model


def pieces_limit(model: Any) -> int:
    """Longest passage, special tokens not counted, that the model has positions for."""
    return int(model.config.max_position_embeddings) - 2


def writable_folder(folder: Path) -> Path:
    """Make the folder and check that files can be written to it.

    Raises:
        UserError: they cannot.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".probe"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise UserError(f"The folder {folder} cannot be written to ({error.strerror}); choose another --out.") from None
    return folder
