"""The sampler of one model: a single thread that reads the rows of all sessions in micro-batches of one shape."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from weakref import WeakValueDictionary

import torch
from jaxtyping import Float, Int, Int64
from torch import Tensor

from glauber_core.errors import Abandoned, Cancelled, UserError
from glauber_core.service.cache import ConditionalCache, Key
from glauber_core.service.client import Client
from glauber_core.service.evaluate import evaluate, kin
from glauber_core.service.line import Batch, Line, Request, Row, Session
from glauber_core.service.patience import Late, left
from glauber_core.shape import EvaluationShape, shape_for
from glauber_core.turns import CLICK, rank_now, urgent
from glauber_core.types import Conditionals

# Processor time of a step at 2, 3 and 4 rows, against the plain model's, 16 tokens: a lone visitor's 1.3, 1.6 and 1.9
# times (at 32 tokens 1.5, 1.9 and 2.4), one of thirty visitors' 0.70, 0.59 and 0.50 times (0.80, 0.69 and 0.66). So 2
# is what a lone visitor hardly notices. The rows of a GPU were not measured.
CPU_ROWS, GPU_ROWS = 2, 16
_ENDED = "This session has ended."
_SILENT = "The server is busy: this took so long that it was given up. Try again in a moment."
_LEFT = 3  # calls of a session without time whose rows stay in line
_nameless = itertools.count()


class SamplerService:
    """Serves the conditionals of one model to many sessions; thread-safe.

    Every value is computed in a micro-batch of exactly ``shape.rows`` rows padded to one length, dummy rows filling
    up, so it does not depend on who else asked, nor on the cache. A session's fault reaches that session alone.

    The thread starts with the first row and ends when nothing was asked for a while: a service that is no longer used
    needs no ``close`` to be freed, with its model.

    Args:
        model: the conditionals.
        rows: of a micro-batch; by default 2 on a CPU and 16 on a GPU.
        cache: may be shared by services of several models; one of its own if None.
        session_rows, total_rows: rows in line at most, of one session and of all.
        silence: seconds after which a session that waits and gives no sign of life (a call, ``Client.beat``) loses its
            place in line: its calls raise Abandoned. It may come back at any time.
        clock: seconds, never going back.
        idle: seconds of real time after which the thread ends.

    Attributes:
        shape: the canonical evaluation shape.
        evaluated: rows read by the model, dummies not counted.
        halvings: micro-batches that did not fit into the GPU's memory and were read in smaller ones. Their values are
            not bit for bit those of the shape, and are not kept in the cache.

    Raises:
        UserError: a size below 1.
    """

    def __init__(
        self,
        model: Conditionals,
        rows: int | None = None,
        *,
        cache: ConditionalCache | None = None,
        session_rows: int = 256,
        total_rows: int = 4096,
        silence: float = 10.0,
        clock: Callable[[], float] = time.monotonic,
        idle: float = 5.0,
    ) -> None:
        if rows is None:
            rows = GPU_ROWS if torch.device(getattr(model, "device", "cpu")).type == "cuda" else CPU_ROWS
        if min(rows, session_rows, total_rows) < 1 or session_rows > total_rows:
            raise UserError("A sampler needs at least one row in a batch, and room for those of a session in line.")
        self.model = model
        self.shape: EvaluationShape = replace(shape_for(model, 1), rows=rows, states=0)
        self.cache = ConditionalCache() if cache is None else cache
        self.evaluated = self.halvings = 0
        self._fingerprint = repr(self.shape)
        self._hash = str(getattr(model, "model_hash", "")) or f"nameless {next(_nameless)}"
        self._silence, self._clock, self._idle = silence, clock, idle
        self._wake = threading.Condition()  # its lock guards everything below, sessions and requests included
        self._line = Line(session_rows, total_rows)
        self._sessions: WeakValueDictionary[str, Session] = WeakValueDictionary()
        self._thread: threading.Thread | None = None
        self._closed = False

    # -- sessions -------------------------------------------------------------------------------------------------

    def client(self, name: str) -> Client:
        """The conditionals for one session; clients of one name share its place in line. Raises Cancelled: closed."""
        with self._wake:
            if self._closed:
                raise Cancelled("The sampler is closed.")
            session = self._sessions.get(name)
            if session is None or session.closed:
                session = self._sessions[name] = Session(name, self._clock())
        return Client(self, session)

    def beat(self, session: Session) -> None:
        """A sign of life."""
        session.seen = self._clock()

    def end(self, session: Session) -> None:
        """End a session for good; its waiting calls raise Cancelled."""
        with self._wake:
            session.closed = True
            self._dismiss(session, Cancelled(_ENDED))

    def leave(self, session: Session) -> None:
        """Drop what a session has in line; its waiting calls raise Cancelled, later ones are served."""
        with self._wake:
            self._dismiss(session, Cancelled(_ENDED))

    def close(self) -> None:
        """End all sessions and the thread, after the micro-batch it is at."""
        with self._wake:
            self._closed = True
            for session in list(self._sessions.values()):
                session.closed = True
                self._dismiss(session, Cancelled(_ENDED))
            thread = self._thread
            self._wake.notify_all()
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    @property
    def closed(self) -> bool:
        """True after ``close``."""
        return self._closed

    @property
    def batches(self) -> int:
        """Micro-batches handed to the model so far."""
        return self._line.batches

    @property
    def queued(self) -> int:
        """Rows in line."""
        return self._line.queued

    def _dismiss(self, session: Session, why: Cancelled) -> None:
        self._line.drop(session)
        session.left.clear()
        for request in tuple(session.requests):
            request.finish(why)

    # -- asking ---------------------------------------------------------------------------------------------------

    def read(self, session: Session, states: Int[Tensor, "B n"], positions: Int[Tensor, " B"]) -> Float[Tensor, "B V"]:
        """Rows of one session, in its own thread; see ``Client.__call__``."""
        states, positions = self._checked(states, positions)
        if len(states) == 0:
            return torch.empty((0, self.model.vocab_size), dtype=getattr(self.model, "dtype", torch.float64))
        # A call larger than a session's room in line is read piece by piece.
        size = self._line.per_session
        parts = zip(states.split(size), positions.split(size), strict=True)
        return torch.cat([self._piece(session, *part) for part in parts])

    def _piece(self, session: Session, states: Int64[Tensor, "B n"], positions: Int64[Tensor, " B"]) -> Tensor:
        self.beat(session)
        if session.closed:
            raise Cancelled(_ENDED)
        keys = tuple(self._keys(states, positions))
        answers = [self.cache.get(key) for key in keys]
        missing = [k for k, answer in enumerate(answers) if answer is None]
        if not missing:
            return torch.stack([row for row in answers if row is not None])
        request = self._left(session, keys)
        if request is None:
            request = Request(session, rank_now(), keys, answers, len(missing))
            alike = kin(self.model, states.shape[1])
            self._put_in_line(request, [Row(request, k, keys[k], states[k], alike) for k in missing])
        try:
            if not request.done.wait(left()):
                raise Late("The sampler took longer than there was time for.")
        except Late:
            with self._wake:
                if request.error is None:  # it may have ended just now, with its session
                    session.left.append(request)
            raise
        except BaseException:  # interrupted: nobody waits for the rows any more
            with self._wake:
                self._line.drop(session, request)
                request.finish()
            raise
        if request.error is not None:
            raise request.error
        return torch.stack([row for row in request.answers if row is not None])

    def _left(self, session: Session, keys: tuple[Key, ...]) -> Request | None:
        """The call for the same rows that had no more time, if there is one; of others only a few are remembered."""
        with self._wake:
            found = next((r for r in session.left if r.keys == keys and r.rank >= rank_now()), None)
            if found is not None:
                session.left.remove(found)
            while len(session.left) > _LEFT:
                old = session.left.pop(0)
                self._line.drop(session, old)
                old.finish()
            return found

    def _put_in_line(self, request: Request, rows: list[Row]) -> None:
        with self._wake:
            if request.session.closed:
                raise Cancelled(_ENDED)
            self._line.add(request, rows)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="sampler", daemon=True)
                self._thread.start()
            self._wake.notify()

    def _checked(self, states: Tensor, positions: Tensor) -> tuple[Int64[Tensor, "B n"], Int64[Tensor, " B"]]:
        """Rows that no model would choke on, in main memory."""
        if states.dim() != 2 or positions.shape != states.shape[:1] or states.shape[1] == 0:
            raise UserError("Every row needs a sentence and the one position that is read.")
        states, positions = states.long().cpu(), positions.long().cpu()
        if len(states) and not 0 <= int(states.min()) <= int(states.max()) < self.model.vocab_size:
            raise UserError("The sentence holds a token that this model does not have.")
        if len(states) and not 0 <= int(positions.min()) <= int(positions.max()) < states.shape[1]:
            raise UserError("The sentence has no such position.")
        return states, positions

    def _keys(self, states: Int64[Tensor, "B n"], positions: Int64[Tensor, " B"]) -> list[Key]:
        masked = states.int().scatter(1, positions[:, None], -1)
        rows = zip(masked.numpy(), positions.tolist(), strict=True)
        return [Key(self._hash, self._fingerprint, position, state.tobytes()) for state, position in rows]

    # -- the thread -----------------------------------------------------------------------------------------------

    def _work(self) -> None:
        try:
            while batch := self._next():
                self._serve(batch)
        except BaseException as error:  # a fault of the service itself: nobody may wait for ever
            with self._wake:
                self._thread = None
                for session in list(self._sessions.values()):
                    self._line.drop(session)
                    for request in tuple(session.requests):
                        request.finish(error)
            raise

    def _next(self) -> Batch | None:
        """Wait for the next micro-batch; None when the thread is to end."""
        with self._wake:
            while not self._closed:
                now = self._clock()
                for session in [s for s in self._line.waiting if now - s.seen > self._silence]:
                    self._dismiss(session, Abandoned(_SILENT))
                if batch := self._line.next(self.shape.rows, self._known):
                    return batch
                if not self._wake.wait(self._idle) and not self._line.queued:
                    break
            self._thread = None
            return None

    def _known(self, row: Row) -> bool:
        """Answer a row from the cache, if another session's row has brought it there meanwhile."""
        found = self.cache.get(row.key, again=True)
        if found is not None:
            row.request.answer(row.slot, found)
        return found is not None

    def _serve(self, batch: Batch) -> None:
        """Read a micro-batch; if that fails, read it again call by call, so that the fault finds its owner."""
        try:
            logits, canonical = self._read(batch)
        except Exception as error:
            requests = list(dict.fromkeys(row.request for rows in batch.values() for row in rows))
            if len(requests) == 1:
                self._fail(batch, error)
                return
            for request in requests:
                own = {key: [row for row in rows if row.request is request] for key, rows in batch.items()}
                self._serve({key: rows for key, rows in own.items() if rows})
            return
        if canonical:
            for key, row in zip(batch, logits, strict=True):
                self.cache.put(key, row)
        with self._wake:
            for rows, answer in zip(batch.values(), logits, strict=True):
                for row in rows:
                    row.request.answer(row.slot, answer)

    def _read(self, batch: Batch) -> tuple[Float[Tensor, "B V"], bool]:
        """Logits of the batch's keys, [B, V], and whether they were computed at the canonical shape."""
        states = [rows[0].state for rows in batch.values()]
        positions = torch.tensor([key.position for key in batch])
        if any(row.request.rank == CLICK for rows in batch.values() for row in rows):
            with urgent():
                logits, rows = evaluate(self.model, self.shape, states, positions)
        else:
            logits, rows = evaluate(self.model, self.shape, states, positions)
        self.evaluated += len(states)
        self.halvings += rows < self.shape.rows
        return logits, rows == self.shape.rows

    def _fail(self, batch: Batch, error: Exception) -> None:
        with self._wake:
            for rows in batch.values():
                for row in rows:
                    self._line.drop(row.request.session, row.request)
                    row.request.finish(error)
