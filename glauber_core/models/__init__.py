"""Pretrained language models, masked and causal, and their vocabularies."""

from glauber_core.models.causal_lm import CausalLM, load_causal
from glauber_core.models.masked_lm import MaskedLM, load
from glauber_core.models.opening import open_model
from glauber_core.models.source import BUILT_IN, SUGGESTED
from glauber_core.models.vocabulary import Encoded, Vocabulary

__all__ = [
    "BUILT_IN",
    "SUGGESTED",
    "CausalLM",
    "Encoded",
    "MaskedLM",
    "Vocabulary",
    "load",
    "load_causal",
    "open_model",
]
