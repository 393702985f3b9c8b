"""float32 or bfloat16 matrix products: whichever this processor does faster."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from glauber_core.training.config import Precision


def autocast(precision: Precision) -> torch.autocast:
    """Context in which matrix products run in the given precision; float32 weights are cast on the fly."""
    return torch.autocast("cpu", torch.bfloat16, enabled=precision == "bfloat16")


def faster(loss: Callable[[], Float[Tensor, ""]], clock: Callable[[], float] = time.perf_counter) -> Precision:
    """Time forward and backward passes in both precisions and return the faster.

    On processors with bfloat16 instructions it is about twice as fast, on others many times slower; there is no
    portable flag, so a few passes are timed. bfloat16 is given up after one pass that takes thrice as long.

    Args:
        loss: computes a scalar that can be differentiated; gradients are left as they accumulate.
        clock: seconds.
    """

    def once(precision: Precision) -> float:
        begin = clock()
        with autocast(precision):
            value = loss()
        value.backward()
        return clock() - begin

    once("float32")
    wide = once("float32")
    if once("bfloat16") > 3 * wide:
        return "float32"
    # The best of several: other programs can only make a pass slower.
    wide = min(wide, *(once("float32") for _ in range(2)))
    narrow = min(once("bfloat16") for _ in range(3))
    return "bfloat16" if narrow < wide else "float32"
