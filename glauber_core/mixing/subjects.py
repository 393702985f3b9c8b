"""What a sweep can measure: language models by name, and exact ones as controls on the same axes.

exact:curie-weiss:BETA        the magnet, any n
exact:bigram:V:SEED           a random bigram law over V tokens, any n
exact:table:V:SEED            random conditionals of V tokens, which belong to no joint law; small n
"""

from __future__ import annotations

import math
import threading
from functools import lru_cache

import numpy as np
import torch

from glauber_core.errors import UserError
from glauber_core.exact import Bigram, ConditionalTable, CurieWeiss
from glauber_core.models import MaskedLM, load
from glauber_core.shape import EvaluationShape
from glauber_core.types import Conditionals

EXACT = "exact:"
_FORMS = {"curie-weiss": (float,), "bigram": (int, int), "table": (int, int)}
MAX_TOKENS = 64
_MODELS_KEPT = 2
_loading = threading.Lock()


def check_name(name: str) -> None:
    """Raises UserError: empty, or an exact model that does not exist. Language models are looked for when opened."""
    if not name.strip():
        raise UserError("A model needs a name.")
    if name.startswith(EXACT):
        _parameters(name)


def open_subject(name: str, n: int, device: str = "cpu") -> Conditionals:
    """The conditionals of a name, for sentences of n tokens; a language model is loaded once a process.

    Raises:
        UserError: no such model, or an exact one that does not fit n.
    """
    if not name.startswith(EXACT):
        with _loading:  # two threads of one worker
            return _language_model(name, device)
    kind, values = _parameters(name)
    if kind == "curie-weiss":
        return CurieWeiss(values[0])
    size, rng = int(values[0]), np.random.default_rng(int(values[1]))
    if kind == "table":
        return ConditionalTable.random(n, size, rng)
    rows = torch.from_numpy(rng.dirichlet(np.ones(size), size + 1))
    return Bigram.from_matrix(rows[0], rows[1:])


def sweep_shape(conditionals: Conditionals, rows: int) -> EvaluationShape:
    """The canonical shape of a sweep: stated rows, and one thread on every backend, so that all give the same table."""
    dtype = str(getattr(conditionals, "dtype", torch.float64)).removeprefix("torch.")
    device, kernels = str(getattr(conditionals, "device", "cpu")), str(getattr(conditionals, "kernels", "plain"))
    return EvaluationShape(rows, 1, device, dtype, kernels)


@lru_cache(maxsize=_MODELS_KEPT)
def _language_model(name: str, device: str) -> MaskedLM:
    return load(name, device)


def _parameters(name: str) -> tuple[str, tuple[float, ...]]:
    kind, *texts = name.removeprefix(EXACT).split(":")
    form = _FORMS.get(kind)
    try:
        values: tuple[float, ...] = tuple(convert(text) for convert, text in zip(form or (), texts, strict=True))
    except ValueError:
        form, values = None, ()
    sized = form is not None and (kind == "curie-weiss" or 2 <= values[0] <= MAX_TOKENS)
    if not sized or not all(math.isfinite(v) and v >= 0 for v in values):
        raise UserError(
            f"{name} is no exact model; write exact:curie-weiss:0.6, exact:bigram:4:1 or exact:table:3:1 "
            "(tokens and seed)."
        )
    return kind, values
