"""Masked language models and their vocabularies."""

from glauber_core.models.masked_lm import MaskedLM, load
from glauber_core.models.source import BUILT_IN, SUGGESTED
from glauber_core.models.vocabulary import Encoded, Vocabulary

__all__ = ["BUILT_IN", "SUGGESTED", "Encoded", "MaskedLM", "Vocabulary", "load"]
