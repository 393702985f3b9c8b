"""Conditionals that were read before, up to a number of bytes: a chain in a trap asks for the same rows again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor


class Key(NamedTuple):
    """What a row of logits depends on, and nothing else.

    Attributes:
        model: hash of the model.
        shape: fingerprint of the evaluation shape.
        position: the position that is read.
        state: int32 token ids as bytes, -1 at ``position``.
    """

    model: str
    shape: str
    position: int
    state: bytes


class ConditionalCache:
    """Rows of logits, the least recently used let go first. Thread-safe; rows are copied on their way in and out.

    Only values of the canonical evaluation shape may be put in: then no path depends on whether a row was found here.

    Args:
        limit: bytes of logits and states held at most; 0 holds nothing.

    Attributes:
        hits: rows that were found.
        misses: rows that were looked for and not found.
        bytes: held now.
    """

    def __init__(self, limit: int = 256 * 2**20) -> None:
        self.limit = limit
        self.hits = self.misses = self.bytes = 0
        self._mutex = threading.Lock()
        self._rows: OrderedDict[Key, Tensor] = OrderedDict()

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def hit_rate(self) -> float:
        """Share of the rows looked for that were found, in [0, 1]; 0 before the first."""
        asked = self.hits + self.misses
        return self.hits / asked if asked else 0.0

    def get(self, key: Key, again: bool = False) -> Float[Tensor, " V"] | None:
        """A copy of a row, or None.

        Args:
            key: which row.
            again: it was looked for before and counted as a miss; found now, it counts as a hit instead.
        """
        with self._mutex:
            row = self._rows.get(key)
            if row is None:
                self.misses += not again
                return None
            self.hits += 1
            self.misses -= again
            self._rows.move_to_end(key)
        return row.clone()  # outside the lock: a row that is held is never written to

    def put(self, key: Key, row: Float[Tensor, " V"]) -> None:
        """Keep a copy of a row, at the cost of the rows that were not used for longest."""
        size = _size(key, row)
        if size > self.limit:
            return
        own = row.clone()  # a view would hold on to its whole batch
        with self._mutex:
            self._drop(key)
            self._rows[key] = own
            self.bytes += size
            while self.bytes > self.limit:
                self._drop(next(iter(self._rows)))

    def clear(self) -> None:
        """Let go of all rows; the counts go on."""
        with self._mutex:
            self._rows.clear()
            self.bytes = 0

    def _drop(self, key: Key) -> None:
        old = self._rows.pop(key, None)
        if old is not None:
            self.bytes -= _size(key, old)


def _size(key: Key, row: Tensor) -> int:
    return row.nbytes + len(key.state)
