"""How good a language model is on held-out text, and what its chains look like: ``python -m glauber_core.evaluate``."""
