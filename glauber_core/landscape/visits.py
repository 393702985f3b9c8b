"""Which states a chain visited and how long it stayed, read from its record as it grows (MATH section 7)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float64, Int64

from glauber_core.record import RunRecord


class StateBook:
    """Distinct states, numbered in the order in which they were met. Not thread-safe.

    Attributes:
        states: token ids of each.
    """

    def __init__(self) -> None:
        self.states: list[tuple[int, ...]] = []
        self._number: dict[tuple[int, ...], int] = {}

    def __len__(self) -> int:
        return len(self.states)

    def add(self, state: Sequence[int]) -> int:
        """The state's number; a new one if it was never met."""
        key = tuple(int(token) for token in state)
        number = self._number.setdefault(key, len(self.states))
        if number == len(self.states):
            self.states.append(key)
        return number


class Visits(NamedTuple):
    """What one chain did, as far as it was kept.

    Attributes:
        state: int64 [K], numbers of the states; neighbours may be equal only where visits in between were left out.
        entry: int64 [K], entries of the record after which the state was there.
        entered: K whole numbers, simulated steps at which it was entered, exact.
        dwell: float64 [K], steps until the next kept visit was entered, or until now; exact below 2^53.
        log_exit: float64 [K], log q of the state where a rejection-free move has read it, nats; NaN elsewhere.
    """

    state: Int64[np.ndarray, " K"]
    entry: Int64[np.ndarray, " K"]
    entered: tuple[int, ...]
    dwell: Float64[np.ndarray, " K"]
    log_exit: Float64[np.ndarray, " K"]


class Follower:
    """Reads one chain's record as it grows.

    A hot chain changes at nearly every step, and no picture needs all of that. Of the first 2 ``dense`` changes every
    one is kept, of the next 2 ``dense`` every second, of the next 4 ``dense`` every fourth, and so on: a rule of the
    record alone, so that the same run gives the same visits however often it was looked at.

    Args:
        record: of the chain.
        book: where the states are entered; shared by chains.
        dense: see above, >= 1.
    """

    def __init__(self, record: RunRecord, book: StateBook, dense: int = 2000) -> None:
        self.record, self.dense = record, dense
        self._book, self._state = book, list(record.header.start)
        self._read = self._changes = 0
        self._states, self._entries, self._entered, self._exits = [book.add(self._state)], [0], [0], [math.nan]

    @property
    def stride(self) -> int:
        """Of how many changes one is kept now."""
        return stride(self._changes, self.dense)

    def catch_up(self) -> int:
        """Read what is new; how many visits were added."""
        before, clock = len(self._states), self.record.clock()
        for k, entry in enumerate(self.record.entries[self._read : len(clock) - 1], start=self._read + 1):
            self._state[entry.position] = entry.new
            self._read = k
            if entry.new == entry.old:
                continue
            if self._changes % self.stride == 0:  # the state that is left now was kept
                self._exits[-1] = entry.log_exit
            self._changes += 1
            if self._changes % self.stride == 0:
                self._states.append(self._book.add(self._state))
                self._entries.append(k)
                self._entered.append(clock[k])
                self._exits.append(math.nan)
        return len(self._states) - before

    def visits(self) -> Visits:
        """All kept visits; the last one lasts until now."""
        ends = [*self._entered[1:], max(self.record.elapsed, self._entered[-1])]
        dwell = np.array([end - begin for begin, end in zip(self._entered, ends, strict=True)], dtype=np.float64)
        exits, events = list(self._exits), self.record.events
        if self._changes % self.stride == 0 and events and events[-1]["kind"] == "held":
            exits[-1] = float(events[-1]["log_exit"])
        return Visits(np.array(self._states), np.array(self._entries), tuple(self._entered), dwell, np.array(exits))


def stride(changes: int, dense: int) -> int:
    """Of how many changes one is kept after so many: a power of 2 (``Follower``)."""
    return 1 << max(0, (changes // dense).bit_length() - 1)


def time_of_states(visits: Sequence[Visits], count: int, per_sweep: Sequence[float]) -> Float64[np.ndarray, " S"]:
    """float64 [S]: sweeps that all chains together spent in each of ``count`` states.

    Args:
        visits: one a chain.
        count: S, states in the book.
        per_sweep: steps in a sweep of each chain, > 0.
    """
    total = np.zeros(count)
    for one, steps in zip(visits, per_sweep, strict=True):
        np.add.at(total, one.state, one.dwell / steps)
    return total
