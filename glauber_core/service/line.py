"""Who is served next: sessions that wait, their rows, and how a micro-batch is filled fairly."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from jaxtyping import Int64
from torch import Tensor

from glauber_core.errors import Busy
from glauber_core.service.cache import Key
from glauber_core.turns import CLICK, IDLE, PLAY

Batch = dict[Key, "list[Row]"]  # rows of one kin; those of one key are evaluated once


class Row(NamedTuple):
    """One row that has to be read.

    Attributes:
        request: the call that waits for it, and ``slot``, its place there.
        key: what it depends on.
        state: int64 [n], the sentence.
        kin: rows of one kin may be read in one batch (``MaskedLM.kin``; without it, the length).
    """

    request: Request
    slot: int
    key: Key
    state: Int64[Tensor, " n"]
    kin: int


@dataclass(eq=False)
class Request:
    """A call that waits. Only touched under the service's lock once its rows are in line.

    Attributes:
        session: who asks.
        rank: ``turns.CLICK`` goes before ``PLAY``, and that before ``IDLE``.
        keys: of all its rows.
        answers: [V] logits of each row of the call, None where they are still missing.
        missing: how many are.
        error: what to raise in the waiting thread instead of an answer.
        done: set when there is nothing left to wait for.
    """

    session: Session
    rank: int
    keys: tuple[Key, ...]
    answers: list[Tensor | None]
    missing: int
    error: BaseException | None = None
    done: threading.Event = field(default_factory=threading.Event)

    def answer(self, slot: int, row: Tensor) -> None:
        """One row is there."""
        self.answers[slot] = row
        self.missing -= 1
        if self.missing == 0:
            self.finish()

    def finish(self, error: BaseException | None = None) -> None:
        """Let the waiting thread go on; a second call changes nothing."""
        if not self.done.is_set():
            self.error = error
            self.session.requests.discard(self)
            self.done.set()


@dataclass(eq=False)
class Session:
    """One visitor.

    Attributes:
        name: of the session.
        seen: when it last gave a sign of life, seconds of the service's clock.
        closed: it has ended for good.
        served: when it was last given a place, counted in places given; 0 before the first.
        requests: its calls that wait.
        left: calls whose thread had no more time; their rows stay in line, and the same call finds them.
        rows: (rank, kin) -> rows in line, oldest first.
        queued: how many rows that is.
    """

    name: str
    seen: float
    closed: bool = False
    served: int = 0
    requests: set[Request] = field(default_factory=set)
    left: list[Request] = field(default_factory=list)
    rows: dict[tuple[int, int], deque[Row]] = field(default_factory=dict)
    queued: int = 0

    def take(self, rank: int, kin: int | None) -> Row | None:
        """The oldest row of this rank and kin (any if None), out of the line; None if there is none."""
        found = next((k for k in self.rows if k[0] == rank and (kin is None or k[1] == kin)), None)
        if found is None:
            return None
        rows = self.rows.pop(found)
        row = rows.popleft()
        self.queued -= 1
        if rows:
            self.rows[found] = rows  # behind this session's other kin
        return row

    def drop(self, request: Request | None = None) -> int:
        """Take the rows of one call, or all, out of the line; how many that was."""
        before = self.queued
        kept = {} if request is None else {k: [r for r in v if r.request is not request] for k, v in self.rows.items()}
        self.rows = {k: deque(v) for k, v in kept.items() if v}
        self.queued = sum(map(len, self.rows.values()))
        return before - self.queued


class Line:
    """All rows in line. Not thread-safe: the service holds its lock.

    Args:
        per_session, total: rows in line at most.

    Attributes:
        batches: micro-batches handed out.
        queued: rows in line.
    """

    def __init__(self, per_session: int, total: int) -> None:
        self.per_session, self.total = per_session, total
        self.batches = self.queued = self._places = 0
        self.waiting: dict[Session, None] = {}

    def add(self, request: Request, rows: list[Row]) -> None:
        """Put the rows of a call in line. Raises Busy where they are too many; then none is."""
        session = request.session
        if session.queued and session.queued + len(rows) > self.per_session:
            raise Busy("The server is busy: your earlier requests are still in line. Try again in a moment.")
        if self.queued + len(rows) > self.total:
            raise Busy("The server is busy: too many people are asking at once. Try again in a moment.")
        for row in rows:
            session.rows.setdefault((request.rank, row.kin), deque()).append(row)
        session.queued += len(rows)
        session.requests.add(request)
        self.queued += len(rows)
        self.waiting[session] = None

    def drop(self, session: Session, request: Request | None = None) -> None:
        """Take the rows of one call of a session, or all of its rows, out of the line."""
        self.queued -= session.drop(request)
        if not session.queued:
            self.waiting.pop(session, None)

    def next(self, size: int, known: Callable[[Row], bool]) -> Batch:
        """The next micro-batch: rows of one kin under at most ``size`` keys; empty if nobody waits.

        Clicks first, idle rows last; among equals one row a session in turn, the session that was served longest ago
        first. So a session takes more than its share only of places that the others leave free.

        Args:
            size: places.
            known: true if a row has been answered already without the model; it then takes no place.
        """
        batch: Batch = {}
        kin: int | None = None
        for rank in (CLICK, PLAY, IDLE):
            moved = True
            while moved and len(batch) < size:
                moved = False
                for session in sorted(self.waiting, key=lambda s: s.served):  # stable: earlier arrivals first
                    if len(batch) == size:
                        break
                    row = session.take(rank, kin)
                    if row is None:
                        continue
                    moved = True
                    self.queued -= 1
                    if not session.queued:
                        del self.waiting[session]
                    if known(row):
                        continue
                    kin = row.kin
                    self._places += 1
                    session.served = self._places
                    batch.setdefault(row.key, []).append(row)
        self.batches += bool(batch)
        return batch
