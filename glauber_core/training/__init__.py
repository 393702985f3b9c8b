"""Open training of small masked and causal language models on text files: ``python -m glauber_core.training``."""
