"""The random stream of a coupled pair, in the manner of ``streams``: addressable at any step, never the global one.

Each pair owns a stream keyed by (seed, pair id), four uniforms a step: position, coin, token, token. Its counters are
of a kind of their own, so a pair and a single chain of the same key are independent.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float64

from glauber_core.streams import _lanes

PAIRS = 2  # high word of the counter; ``streams`` uses 0 for steps and 1 for waits


def pair_uniforms(seed: int, pair: int, start: int, count: int) -> Float64[np.ndarray, "count 4"]:
    """Uniforms of the steps ``start .. start + count - 1`` of one pair, whether or not the two chains have met.

    Returns:
        float64 [count, 4] in [0, 1): column 0 picks the position of both chains, 1 is the coin that decides whether
        both take the same token, 2 picks that token or else the first chain's, 3 the second chain's.
    """
    return _lanes(seed, pair, PAIRS, start, count, 4)
