"""Glauber dynamics on masked language models: chains, conditionals, traps.

    from glauber_core import Chain, load

    model = load("glauber-mini")
    chain = Chain(model, model.vocabulary.encode("the doctor told the patient to drink [MASK] .").ids, seed=7, tau=0.7)
    chain.advance(200)
    print(model.vocabulary.text(chain.tokens), chain.look())

Names are resolved on first use, so that ``import glauber_core`` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from glauber_core.chain import Chain
    from glauber_core.errors import GlauberError, UserError
    from glauber_core.models import CausalLM, MaskedLM, load, load_causal
    from glauber_core.record import RunRecord
    from glauber_core.rejection_free import run_rejection_free
    from glauber_core.runners import run
    from glauber_core.temperature import Schedule
    from glauber_core.types import Conditionals, JointLaw

_HOMES = {
    "CausalLM": "models",
    "Chain": "chain",
    "Conditionals": "types",
    "GlauberError": "errors",
    "JointLaw": "types",
    "MaskedLM": "models",
    "RunRecord": "record",
    "Schedule": "temperature",
    "UserError": "errors",
    "load": "models",
    "load_causal": "models",
    "run": "runners",
    "run_hybrid": "hybrid",
    "run_rejection_free": "rejection_free",
}
__all__ = [
    "CausalLM",
    "Chain",
    "Conditionals",
    "GlauberError",
    "JointLaw",
    "MaskedLM",
    "RunRecord",
    "Schedule",
    "UserError",
    "load",
    "load_causal",
    "run",
    "run_hybrid",
    "run_rejection_free",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'glauber_core' has no attribute {name!r}")
    return getattr(import_module(f"glauber_core.{_HOMES[name]}"), name)
