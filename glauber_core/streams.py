"""Counter-based random streams: one per chain, addressable at any step, never the global generator.

Philox 4x64 (Salmon, Moraes, Dror & Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011) keyed by
(seed, chain id). The draws of step t are a function of (seed, chain id, t) alone, so a chain can be rewound, resumed
or moved to another machine without carrying generator state.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Float64

from glauber_core.errors import UserError

MAX_SEED = 2**63 - 1
_LANES = 4  # 64-bit words per Philox counter value
_STEPS, _WAITS = 0, 1  # high word of the counter: draws of different kinds never share a counter value


def check_seed(seed: object) -> int:
    """Return ``seed`` as an int in [0, 2**63).

    Raises:
        UserError: not a whole number, or outside the range.
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= int(seed) <= MAX_SEED:
        raise UserError(f"The seed must be a whole number from 0 to {MAX_SEED}.")
    return int(seed)


def uniforms(seed: int, chain: int, start: int, count: int) -> Float64[np.ndarray, "count 2"]:
    """Uniforms of the steps ``start .. start + count - 1`` of one chain.

    Returns:
        float64 [count, 2] in [0, 1): column 0 picks the position, column 1 the token (MATH section 1).
    """
    return _lanes(seed, chain, _STEPS, start, count, 2)


def wait_uniforms(seed: int, chain: int, start: int, count: int) -> Float64[np.ndarray, "count 3"]:
    """Uniforms of the rejection-free moves ``start .. start + count - 1`` of one chain, whether or not they are cut.

    They are independent of ``uniforms`` of the same key, so that a plain and a rejection-free run of one seed can be
    compared as independent runs, and one chain may mix both.

    Returns:
        float64 [count, 3] in [0, 1): column 0 gives the wait, 1 the position, 2 the token (MATH section 5).
    """
    return _lanes(seed, chain, _WAITS, start, count, 3)


def _lanes(seed: int, chain: int, kind: int, start: int, count: int, lanes: int) -> Float64[np.ndarray, "count k"]:
    """The first ``lanes`` (at most 4) uniforms of each of ``count`` counter values."""
    # Philox increments its counter before the first block it emits, so block 0 carries counter 1.
    bits = np.random.Philox(key=np.array([seed, chain], dtype=np.uint64), counter=start + (kind << 64))
    words = bits.random_raw(count * _LANES).reshape(count, _LANES)[:, :lanes]
    return (words >> np.uint64(11)) * 2.0**-53


class UniformStream:
    """The uniforms of one chain, drawn in blocks; ``at(t)`` costs an array look-up most of the time.

    Args:
        seed, chain: the key.
        block: draws made at once.
        draw: ``uniforms`` or ``wait_uniforms``.
    """

    def __init__(
        self, seed: int, chain: int, block: int = 256, draw: Callable[[int, int, int, int], np.ndarray] = uniforms
    ) -> None:
        self.seed, self.chain, self._block, self._draw = check_seed(seed), check_seed(chain), block, draw
        self._first, self._cache = -1, np.empty((0, 2))

    def at(self, step: int) -> Float64[np.ndarray, " k"]:
        """float64 [2], or [3] for ``wait_uniforms``: the uniforms of one step (0-based)."""
        first = step - step % self._block
        if first != self._first:
            self._first, self._cache = first, self._draw(self.seed, self.chain, first, self._block)
        return self._cache[step - first]
