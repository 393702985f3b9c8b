"""A model by name, of whichever of the two kinds it is."""

from __future__ import annotations

import json

import torch

from glauber_core.errors import UserError
from glauber_core.models.causal_lm import CausalLM
from glauber_core.models.masked_lm import MaskedLM
from glauber_core.models.source import locate


def open_model(name: str, device: str = "cpu", dtype: torch.dtype = torch.float32) -> MaskedLM | CausalLM:
    """Load a masked or a causal language model, as its config.json says.

    Args:
        name, device, dtype: as of ``load``.

    Raises:
        UserError: as of ``load`` and ``load_causal``.
    """
    source = locate(name)
    try:
        config = json.loads((source.folder / "config.json").read_text(encoding="utf-8"))
        kinds = [str(kind) for kind in config.get("architectures") or []]
    except (OSError, ValueError, AttributeError, TypeError):
        raise UserError(f"{source.name} has no config.json that can be read.") from None
    causal = any(kind.endswith(("ForCausalLM", "LMHeadModel")) for kind in kinds)
    return CausalLM(source, device, dtype) if causal else MaskedLM(source, device, dtype)
