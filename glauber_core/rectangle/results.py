"""What a rectangle is, and the arithmetic of its four log-ratios (arXiv 2605.16378, section 3; MATH section 2).

Corners of a sentence x with tokens a at i and b at j, the rest fixed:

    x = (a, b)    y = (a', b)
    w = (a, b')   z = (a', b')

Edges, in this order everywhere: x->y = R_i(a->a' | b), y->z = R_j(b->b' | a'), x->w = R_j(b->b' | a),
w->z = R_i(a->a' | b'), where R_i(a->a' | b) = log p_i(a' | b) - log p_i(a | b).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64

EDGES = ("xy", "yz", "xw", "wz")


@dataclass(frozen=True)
class Rectangles:
    """N rectangles, one column a field.

    Attributes:
        sentence: int64 [N], index of the sentence x.
        i, j: int64 [N], the two positions (0-based), different.
        a, b: int64 [N], tokens of x at i and at j.
        a_new, b_new: int64 [N], their replacements a' and b'.
    """

    sentence: Int64[np.ndarray, " N"]
    i: Int64[np.ndarray, " N"]
    j: Int64[np.ndarray, " N"]
    a: Int64[np.ndarray, " N"]
    b: Int64[np.ndarray, " N"]
    a_new: Int64[np.ndarray, " N"]
    b_new: Int64[np.ndarray, " N"]

    def __len__(self) -> int:
        return len(self.sentence)

    @property
    def columns(self) -> tuple[Int64[np.ndarray, " N"], ...]:
        """The seven columns, in the order of the attributes."""
        return (self.sentence, self.i, self.j, self.a, self.b, self.a_new, self.b_new)

    def take(self, rows: Int64[np.ndarray, " M"]) -> Rectangles:
        """The rectangles with these row numbers, int64 [M]."""
        return Rectangles(*(column[rows] for column in self.columns))


@dataclass(frozen=True)
class Measured:
    """Rectangles and their log-ratios at tau = 1.

    Attributes:
        rectangles: N rectangles.
        ratios: float64 [N, 4], nats, edges in the order of ``EDGES``.
    """

    rectangles: Rectangles
    ratios: Float64[np.ndarray, "N 4"]

    def __len__(self) -> int:
        return len(self.ratios)

    @property
    def l1(self) -> Float64[np.ndarray, " N"]:
        """float64 [N], nats: word i first, x -> y -> z."""
        return self.ratios[:, 0] + self.ratios[:, 1]

    @property
    def l2(self) -> Float64[np.ndarray, " N"]:
        """float64 [N], nats: word j first, x -> w -> z."""
        return self.ratios[:, 2] + self.ratios[:, 3]

    @property
    def curl(self) -> Float64[np.ndarray, " N"]:
        """float64 [N], nats: L1 - L2."""
        return self.l1 - self.l2

    @property
    def delta(self) -> Float64[np.ndarray, " N"]:
        """float64 [N], nats: |curl| at tau = 1; at another temperature it is delta / tau."""
        return np.abs(self.curl)

    @property
    def relative(self) -> Float64[np.ndarray, " N"]:
        """float64 [N] in [0, 1]: |curl| / (|L1| + |L2|); 0 where both sums are 0."""
        total = np.abs(self.l1) + np.abs(self.l2)
        return np.divide(self.delta, total, out=np.zeros(len(self)), where=total > 0)

    @property
    def distance(self) -> Int64[np.ndarray, " N"]:
        """int64 [N]: |i - j| in tokens."""
        return np.abs(self.rectangles.i - self.rectangles.j)

    def take(self, rows: Int64[np.ndarray, " M"]) -> Measured:
        """The rectangles with these row numbers, int64 [M]."""
        return Measured(self.rectangles.take(rows), self.ratios[rows])


def join(parts: Sequence[Measured]) -> Measured:
    """All rectangles of the parts, sorted by sentence; within one, in the order of the parts.

    Raises ValueError: no part at all.
    """
    if not parts:
        raise ValueError("no part to join")
    columns = [np.concatenate(column) for column in zip(*(part.rectangles.columns for part in parts), strict=True)]
    order = np.argsort(columns[0], kind="stable")
    return Measured(Rectangles(*columns), np.concatenate([part.ratios for part in parts])).take(order)


def corners(
    tokens: Sequence[int], i: int, j: int, a_new: int, b_new: int
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """The four sentences x, y, w, z as token ids."""
    x = tuple(tokens)
    y = x[:i] + (a_new,) + x[i + 1 :]
    w = x[:j] + (b_new,) + x[j + 1 :]
    z = y[:j] + (b_new,) + y[j + 1 :]
    return x, y, w, z
