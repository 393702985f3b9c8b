"""The playhead of the live page: up to four chains on one clock. Holds no Streamlit; the page draws what it gives.

Time is counted in *global* steps, one for each entry of the records: a step, or a change whose waiting was skipped. A
chain that began as a branch at global step s has ``offset`` s: its own entry k is global step s + k. Moving the cursor
back replays the record; moving it past a chain's end computes.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from glauber_core.chain import Chain
from glauber_core.errors import UserError
from glauber_core.profile import StateProfile, Verdict
from glauber_core.record import Entry
from glauber_core.service import Late, left, patience
from glauber_core.turns import idle
from pages.ui.words import ABSORBED, OUTLASTED, UNCHANGING

MAX_CHAINS = 4
MAX_ENTRIES = 100_000
LONGEST = 0.3  # seconds of a beat spent computing: a click waits for its end
LOOK = 0.1  # seconds of it that a look at a whole state is waited for
MAX_FRAMES = 200  # of one beat: replayed steps cost nothing, but must still be seen


@dataclass
class Track:
    """One chain of the page.

    Attributes:
        chain: the chain.
        offset: the global step at which it begins.
        name: A, B, C or D.
        seen: the latest whole-state figures, with the chain's own step they belong to.
    """

    chain: Chain
    offset: int
    name: str
    seen: tuple[int, StateProfile, Verdict] | None = None
    _stuck: tuple[object, str] | None = None
    _due: int | None = None  # a look that there was no time for

    @property
    def _settings(self) -> object:
        """What decides whether a chain that was not left will be left after all."""
        return self.chain.steps, self.chain.tau_now, self.chain.locked

    @property
    def stuck(self) -> str:
        """Why no change can be skipped to, in one sentence; empty as long as nothing is known against it."""
        return self._stuck[1] if self._stuck and self._stuck[0] == self._settings else ""

    def local(self, cursor: int) -> int:
        """The chain's own step at a global step, within its record."""
        return min(max(cursor - self.offset, 0), self.chain.steps)

    def go(self, target: int, skip: bool) -> None:
        """Compute up to a global step, but at most two entries: a chain that fell behind catches up by and by.

        Args:
            target: the global step.
            skip: each entry is a change, the waiting before it skipped; ``stuck`` says why there was none. Where the
                schedule moves the temperature at once, it is a step.

        Raises:
            UserError: the record is full.
            Late: there was no time; the same call later goes on where this one ended.
        """
        self._catch_up(0.0)
        for _ in range(min(target - self.offset - self.chain.steps, 2)):
            if self.chain.steps >= MAX_ENTRIES:
                raise UserError(f"This run has reached {MAX_ENTRIES:,} steps; export it, then reset to go on.")
            skipping = skip and self.chain.still >= 1
            if not skipping:
                self.chain.advance(1)
            elif self.stuck:
                return
            else:
                end = self.chain.skip(1).end
                if end != "changes":
                    frozen = ABSORBED if self.chain.tau_now == 0 else UNCHANGING
                    self._stuck = self._settings, frozen if end == "absorbed" else OUTLASTED
                    return
            # Of the sentence after a skip the next skip reads every word anyway.
            if skipping or self.chain.steps % self.chain.sweep_length == 0:
                self._due = self.chain.steps
                self._catch_up(LOOK)

    def _catch_up(self, wait: float) -> None:
        """The look that is due. Where time is short, it is not waited for longer than ``wait`` seconds."""
        if self._due is None or (self.seen is not None and self.seen[0] >= self._due):
            self._due = None
            return
        if left() is None:
            self.look(self._due)
        else:
            try:
                with idle(), patience(time.monotonic() + wait):
                    self.look(self._due)
            except Late:
                return  # its rows stay in line behind everybody's steps
        self._due = None

    def look(self, step: int) -> None:
        """Whole-state figures of one of its steps, unless they are the ones already held."""
        tau = self.chain.tau_now if step == self.chain.steps else None
        if self.seen and self.seen[0] == step and tau in (None, self.seen[1].tau):
            return
        self.seen = (step, *self.chain.look(step))


@dataclass
class Block:
    """Frames to play, a list for each chain, after the snapshot at each chain's own step in ``starts``."""

    starts: list[int]
    frames: list[list[tuple[int, Entry]]]


@dataclass
class Player:
    """Attributes:
    tracks: one to four chains.
    speed: wanted steps per second; None = as fast as they can be computed.
    skip: playing goes from change to change, the waiting between them skipped.
    pace: the same as ``speed`` in changes per second, while they are skipped to.
    cursor: the global step on the screen once the frames of the last block have been played.
    playing: True while time passes.
    epoch, seq: the page's marks for "drop what is queued" and "a new block".
    rate: steps (or changes) per second really reached, measured over the last blocks.
    until: the global step at which the clock stops by itself; None = when told to.
    """

    tracks: list[Track]
    speed: float | None = 12.0
    skip: bool = False
    pace: float | None = 3.0
    cursor: int = 0
    playing: bool = False
    epoch: int = 0
    seq: int = 0
    rate: float | None = None
    until: int | None = None
    block: Block = field(default_factory=lambda: Block([], []))
    _last: float | None = None
    _owed: float = 0.0
    _left: list[Track] = field(default_factory=list)
    _target: int = 0

    def __post_init__(self) -> None:
        self.still()

    @property
    def head(self) -> int:
        """The last global step that has been computed."""
        return max(t.offset + t.chain.steps for t in self.tracks)

    @property
    def live(self) -> bool:
        """True at the end of the record, False while an earlier step is looked at."""
        return self.cursor >= self.head

    @property
    def wanted(self) -> float | None:
        """Entries per second that playing aims at: ``pace`` or ``speed``."""
        return self.pace if self.skip else self.speed

    @property
    def clocked(self) -> bool:
        """True where entries are no measure of time: waiting is being skipped, or some record holds skipped waiting."""
        return self.skip or any(t.chain.record.elapsed > t.chain.steps for t in self.tracks)

    @property
    def stuck(self) -> bool:
        """True at the end of the record if no chain can be skipped on."""
        return self.skip and self.live and all(t.stuck for t in self.tracks)

    def still(self) -> None:
        """Show the present state at once and drop what was waiting to be played."""
        self.epoch += 1
        self.seq = 0
        self._left = []
        self._last = None
        self._owed = 0.0
        self.block = Block([t.local(self.cursor) for t in self.tracks], [[] for _ in self.tracks])

    def move(self, steps: int, deadline: float | None = None, skip: bool = False) -> int:
        """Advance the clock by up to ``steps`` steps and make their frames the new block; the steps done.

        Args:
            steps: at least 0.
            deadline: ``time.monotonic()`` value after which no further step is computed; replayed ones cost nothing.
            skip: what is computed are changes, one of each chain a step; it ends early where no chain has one. While
                playing, the deadline may fall between two chains of a step: the next call begins with the others.

        Raises:
            UserError: every word of a chain is locked, or the record is full; the steps before stay.
        """
        begin = [t.local(self.cursor) for t in self.tracks]
        done = 0
        try:
            for track in self.tracks:  # before any of them moves, or they would no longer share one clock
                if len(track.chain.locked) == track.chain.n:
                    raise UserError(f"Every word is locked in chain {track.name}: unlock at least one to go on.")
            late = pressed = False  # no time for another step; not even for this one's end
            while (done < steps or self._left) and not late:
                tracks, target = self._left or self.tracks, self._target if self._left else self.cursor + 1
                self._left, self._target = list(tracks), target
                while self._left and not pressed and not (late and skip and self.playing):
                    try:
                        self._left[0].go(target, skip)
                        self._left.pop(0)
                    except Late:
                        late = pressed = True
                    self.cursor = max(self.cursor, min(target, self.head))
                    late = late or (deadline is not None and time.monotonic() >= deadline)
                if self.cursor < target:
                    break
                done += not self._left
        finally:
            self.seq += 1
            self.block = Block(
                begin,
                [
                    [(k + 1, t.chain.record.entries[k]) for k in range(first, t.local(self.cursor))]
                    for t, first in zip(self.tracks, begin, strict=True)
                ],
            )
        return done

    def tick(self, interval: float, now: float | None = None) -> None:
        """One beat of the page's timer while playing: as many steps as the speed asks for since the last beat.

        What a click of the sweep button left to do (``until``) is done in steps, whether waiting is skipped or not.

        Args:
            interval: seconds between beats; at most 0.6 of it and ``LONGEST`` is spent computing, the rest is for
                the page.
            now: clock value, for tests.
        """
        clock = time.monotonic() if now is None else now
        elapsed = interval if self._last is None else min(clock - self._last, 4 * interval)
        self._last = clock
        if self.until is not None:
            wanted = self.until - self.cursor
        elif self.wanted is None:
            wanted = MAX_FRAMES
        else:
            self._owed += self.wanted * elapsed
            wanted = int(self._owed)
            self._owed -= wanted
        skip = self.skip and self.until is None
        deadline = time.monotonic() + min(0.6 * interval, LONGEST)
        with patience(deadline):  # the next beat goes on; a click waits for the end of this one
            done = self.move(wanted, deadline, skip)
        reached = done / max(elapsed, 1e-3)
        self.rate = reached if self.rate is None else 0.7 * self.rate + 0.3 * reached
        if self.stuck if self.until is None else self.cursor >= self.until and not self._left:
            self.pause()

    def play(self) -> None:
        """Start the clock, unless it runs already."""
        if self.playing:
            return
        self.playing, self._last, self.rate, self._owed = True, None, None, 0.0

    def set_skip(self, on: bool) -> None:
        """Skip waiting from the next beat on, or simulate every step again; what was recorded stays as it is."""
        if on != self.skip:
            self.skip, self.rate, self._owed = on, None, 0.0

    def pause(self) -> None:
        """Stop the clock; what was computed stays."""
        self.playing, self._last, self.until = False, None, None

    def seek(self, step: int) -> None:
        """Put the cursor on an earlier step (or the last one) and stop."""
        self.cursor = min(max(step, 0), self.head)
        self.pause()
        self.still()

    def look(self) -> None:
        """Whole-state figures of what is on the screen, for every chain."""
        for track in self.tracks:
            track.look(track.local(self.cursor))

    def add(self, chain: Chain, offset: int) -> Track:
        """A further chain beside the others; the clock goes back to where it begins, and the others replay.

        Raises:
            UserError: there are four already.
        """
        if len(self.tracks) >= MAX_CHAINS:
            raise UserError(f"At most {MAX_CHAINS} chains fit side by side: remove one first.")
        free = next(name for name in "ABCD" if name not in {t.name for t in self.tracks})
        track = Track(chain, offset, free)
        self.tracks.append(track)
        self.cursor = offset
        self.still()
        return track

    def remove(self, name: str) -> None:
        """Take a chain away; the first one stays."""
        self.tracks = [t for k, t in enumerate(self.tracks) if k == 0 or t.name != name]
        self.cursor = min(self.cursor, self.head)
        self.still()

    def by_hand(self, track: Track) -> None:
        """After a resampling or an edit of the present state: show it, whichever chain it was."""
        self.cursor = max(self.cursor, track.offset + track.chain.steps)
        track.look(track.chain.steps)
        self.still()
