"""The four log-ratios of many rectangles in few batches: every model row is read once, however many share it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Float64, Int64
from torch import Tensor

from glauber_core.rectangle.results import Rectangles
from glauber_core.shape import groups
from glauber_core.types import Conditionals, JointLaw

ROWS = 16  # rows of a micro-batch; every row is evaluated in one of exactly this many, so that company changes no bit
Progress = Callable[[int, int], None]


class Base(NamedTuple):
    """Conditionals of the sentences as they are, at the positions that are asked for.

    Attributes:
        row: int64 [S, n], row of ``logits`` for (sentence, position); -1 where it was not asked for.
        logits: float [M, V], nats, on the CPU.
    """

    row: Int64[np.ndarray, "S n"]
    logits: Float[Tensor, "M V"]


def _nothing(done: int, total: int) -> None:
    pass


def evaluate(
    model: Conditionals,
    states: Int64[Tensor, "R n"],
    positions: Int64[Tensor, " R"],
    rows: int = ROWS,
    progress: Progress = _nothing,
) -> Iterator[tuple[int, Float[Tensor, "B V"]]]:
    """Logits of R rows in micro-batches of exactly ``rows`` rows, dummy rows filling up the last.

    Yields:
        number of the first row, and float [B, V] of the B <= ``rows`` real rows.
    """
    total = len(states)
    for chosen, real in groups(total, rows):
        first = int(chosen[0])
        progress(first, total)
        yield first, model(states[chosen], positions[chosen])[:real]
    progress(total, total)


def base_rows(
    model: Conditionals,
    states: Int64[Tensor, "S n"],
    wanted: Int64[np.ndarray, "M 2"],
    rows: int = ROWS,
    progress: Progress = _nothing,
) -> Base:
    """Conditionals at M (sentence, position) pairs, int64 [M, 2], none twice."""
    index = np.full(tuple(states.shape), -1, dtype=np.int64)
    index[wanted[:, 0], wanted[:, 1]] = np.arange(len(wanted))
    picked = torch.from_numpy(wanted)
    parts = evaluate(model, states[picked[:, 0]], picked[:, 1], rows, progress)
    return Base(index, torch.cat([logits.cpu() for _, logits in parts]))


def log_ratios(
    model: Conditionals,
    states: Int64[Tensor, "S n"],
    rectangles: Rectangles,
    base: Base | None = None,
    rows: int = ROWS,
    progress: Progress = _nothing,
) -> Float64[np.ndarray, "N 4"]:
    """Log-ratios along the edges of N rectangles, in nats at tau = 1.

    Two of a rectangle's four rows are read on the sentence itself and shared by all its rectangles; the other two are
    shared by all rectangles with the same replacement beside the same position.

    Args:
        model: the conditionals.
        states: int64 [S, n], sentences of one length.
        rectangles: their ``sentence`` is a row of ``states``.
        base: the rows on the sentences themselves, if they are known already; else they are read with the others.
        rows: rows of a micro-batch.
        progress: called with rows done and rows in all; what it raises ends the work.

    Returns:
        float64 [N, 4], edges in the order of ``results.EDGES``.
    """
    r = rectangles
    out = np.empty((len(r), 4))
    if not len(r):
        return out
    # Edge -> the row it is read from (position read, position written, token written there), and the tokens compared.
    edges = {1: (r.j, r.i, r.a_new, r.b, r.b_new), 3: (r.i, r.j, r.b_new, r.a, r.a_new)}
    if base is None:  # rows on the sentence itself: what is written is what is there
        edges |= {0: (r.i, r.i, r.a, r.a, r.a_new), 2: (r.j, r.j, r.b, r.b, r.b_new)}
    else:
        out[:, 0] = _from_base(base, r.sentence, r.i, r.a, r.a_new)
        out[:, 2] = _from_base(base, r.sentence, r.j, r.b, r.b_new)
    keys = np.concatenate([np.stack([r.sentence, *edge[:3]], axis=1) for edge in edges.values()])
    tokens = np.concatenate([np.stack(edge[3:], axis=1) for edge in edges.values()])
    unique, row_of = np.unique(keys, axis=0, return_inverse=True)
    ratios = _changed_rows(model, states, torch.from_numpy(unique), row_of.reshape(-1), tokens, rows, progress)
    out[:, list(edges)] = ratios.reshape(len(edges), len(r)).T
    return out


def _from_base(
    base: Base,
    sentence: Int64[np.ndarray, " N"],
    position: Int64[np.ndarray, " N"],
    old: Int64[np.ndarray, " N"],
    new: Int64[np.ndarray, " N"],
) -> Float64[np.ndarray, " N"]:
    row = torch.from_numpy(base.row[sentence, position])
    before, after = (base.logits[row, torch.from_numpy(token)].double() for token in (old, new))
    return (after - before).numpy()


def _changed_rows(
    model: Conditionals,
    states: Int64[Tensor, "S n"],
    rows_wanted: Int64[Tensor, "U 4"],
    row_of: Int64[np.ndarray, " E"],
    tokens: Int64[np.ndarray, "E 2"],
    rows: int,
    progress: Progress,
) -> Float64[np.ndarray, " E"]:
    """float64 [E]: l(new) - l(old); entry e is read from row ``row_of[e]`` of U rows (sentence, read, other, token)."""
    sentence, read, other, token = rows_wanted.unbind(1)
    changed = states[sentence]
    changed[torch.arange(len(changed)), other] = token
    order = np.argsort(row_of, kind="stable")
    sorted_rows = row_of[order]
    out = np.empty(len(row_of))
    for first, logits in evaluate(model, changed, read, rows, progress):
        lo, hi = np.searchsorted(sorted_rows, [first, first + len(logits)])
        mine = order[lo:hi]
        local = torch.from_numpy(row_of[mine] - first).to(logits.device)
        pair = logits[local[:, None], torch.from_numpy(tokens[mine]).to(logits.device)].double()
        out[mine] = (pair[:, 1] - pair[:, 0]).cpu().numpy()
    return out


def joint_log_ratios(
    law: JointLaw,
    states: Int64[Tensor, "S n"],
    rectangles: Rectangles,
    rows: int = ROWS,
    progress: Progress = _nothing,
) -> Float64[np.ndarray, "N 4"]:
    """The same of a model that has a joint law: log P(after) - log P(before), both ends computed anew for each edge.

    The curl is then zero by construction, up to rounding. Arguments and result as for ``log_ratios``.
    """
    r = rectangles
    if not len(r):
        return np.empty((0, 4))
    x = states[torch.from_numpy(r.sentence)]
    count = torch.arange(len(r))

    def put(state: Tensor, position: np.ndarray, token: np.ndarray) -> Tensor:
        changed = state.clone()
        changed[count, torch.from_numpy(position)] = torch.from_numpy(token)
        return changed

    y, w = put(x, r.i, r.a_new), put(x, r.j, r.b_new)
    z = put(y, r.j, r.b_new)
    ends = torch.stack([x, y, y, z, x, w, w, z], dim=1).flatten(0, 1)
    values = []
    for chosen, real in groups(len(ends), rows):
        progress(int(chosen[0]), len(ends))
        values.append(law.log_joint(ends[chosen])[:real].double().cpu())
    progress(len(ends), len(ends))
    pairs = torch.cat(values).reshape(len(r), 4, 2)
    return (pairs[:, :, 1] - pairs[:, :, 0]).numpy()
