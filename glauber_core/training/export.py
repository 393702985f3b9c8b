"""A trained model as a folder that transformers and this package load: half-precision safetensors, card and hash."""

from __future__ import annotations

import copy
import hashlib
import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from glauber_core.errors import UserError

WEIGHTS = "model.safetensors"


def export(model: Any, tokenizer: Any, folder: Path, card: str) -> str:
    """Write weights in float16, configuration, tokenizer, ``README.md`` and ``manifest.json``.

    The weights load in float32 with ``AutoModelFor...from_pretrained(folder, dtype=torch.float32)``; rounding to half
    precision moves each by at most 0.05 %.

    Args:
        model: a transformers model in float32; it is left as it is.
        tokenizer: its fast tokenizer.
        folder: exists; files of an earlier export are replaced.
        card: text of the model card; ``{sha256}`` in it becomes the hash of the weights.

    Returns:
        Hex SHA-256 of the weight file, as in the manifest.

    Raises:
        UserError: a weight is not finite in half precision, or a file cannot be written.
    """
    half = copy.deepcopy(model).half()
    if not all(bool(torch.isfinite(p).all()) for p in half.parameters()):
        raise UserError("The training diverged: a weight is not a finite number, so there is nothing to export.")
    try:
        half.save_pretrained(folder, max_shard_size="100GB")
        tokenizer.save_pretrained(folder)
        (folder / WEIGHTS).chmod(0o644)
        digest = hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest()
        manifest = {"name": folder.name, "sha256": digest, "format": "float16 safetensors"}
        (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
        (folder / "README.md").write_text(card.replace("{sha256}", digest), encoding="utf-8")
    except OSError as error:
        raise UserError(f"The model could not be written to {folder} ({error.strerror}).") from None
    return digest


def with_weights(model: Any, weights: dict[str, Tensor]) -> Any:
    """A copy of the model with other parameters, by name."""
    other = copy.deepcopy(model)
    with torch.no_grad():
        for name, parameter in other.named_parameters():
            parameter.copy_(weights[name])
    return other
