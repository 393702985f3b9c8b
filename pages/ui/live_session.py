"""What one visitor of the live page has: model, sentence, player, selection. Widgets call it; it draws nothing."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from glauber_core.chain import Chain
from glauber_core.errors import Busy, UserError
from glauber_core.models import MaskedLM
from glauber_core.models.registry import ModelRegistry
from glauber_core.streams import check_seed
from glauber_core.temperature import Schedule, check_tau
from glauber_core.turns import urgent
from glauber_core.types import Conditionals
from pages.ui.address import MAX_TAU, Address
from pages.ui.alone import alone, new_lock
from pages.ui.fetch import outcome
from pages.ui.player import Player, Track

MAX_TOKENS = 64
AT_ONCE = 0.6  # seconds
REWOUND = "This is an earlier sentence: press latest to change the present one, or branch."


@dataclass
class LiveSession:
    """Attributes:
    model: the model in use.
    address: what the address bar holds.
    player: the chains and their clock.
    notes: what the model cannot see as it was typed.
    error: one sentence about the last thing that could not be done; empty if all went well.
    refused: the same for the sentence in the text field, as long as it is not the one that runs.
    hint: the same for what was done by hand to the selected word.
    selected: (chain name, position) of the word that was clicked.
    own_tau: chains with a temperature of their own; the others follow the slider.
    schedule: the temperature programme, the same for all chains.
    pending: a model being fetched, with its name.
    rev: grows when the slider must take a new value from here.
    streams: random streams given to branches so far.
    serve: what the chains ask instead of the model itself, for instance the visitor's seat at a sampler.
    panel: the conditional shown last, with the word it belongs to.
    name: of the visitor, nobody else's.
    clicked: a word was clicked: the next run shows its conditional before time goes on.
    lock: held by whatever changes or draws the session; re-entrant.
    """

    model: MaskedLM
    address: Address
    player: Player
    notes: tuple[str, ...] = ()
    error: str = ""
    refused: str = ""
    hint: str = ""
    selected: tuple[str, int] | None = None
    own_tau: dict[str, float] = field(default_factory=dict)
    schedule: Schedule = field(default_factory=Schedule)
    pending: tuple[str, Future[MaskedLM]] | None = None
    rev: int = 0
    streams: int = 0
    serve: Callable[[MaskedLM], Conditionals] = field(default=lambda model: model, repr=False, compare=False)
    panel: tuple[tuple[str, int], dict[str, Any]] | None = field(default=None, repr=False, compare=False)
    clicked: bool = False
    name: str = field(default_factory=lambda: uuid.uuid4().hex, repr=False, compare=False)
    lock: Any = field(default_factory=new_lock, repr=False, compare=False)

    # -- the sentence ---------------------------------------------------------------------------------------------

    @alone
    def restart(self, address: Address) -> bool:
        """Begin anew from the address's sentence; bad input leaves all as it was, ``refused`` says why."""
        try:
            encoded = self.model.vocabulary.encode(address.text, cap=MAX_TOKENS)
            chain = self._chain(encoded.ids, address, ())
        except UserError as error:
            self.refused = str(error)
            return False
        self._begin(chain)
        self.player.set_skip(address.skip)
        self.address, self.notes, self.selected = address, encoded.notes, None
        self.refused = self.hint = ""
        self.streams = 0
        return True

    @alone
    def reset(self) -> None:
        """Back to step 0 of the same sentence, seed and locks, one chain."""
        first = self.player.tracks[0].chain
        chain = self._chain(first.header.start, self.address, first.locked)
        self._begin(chain)
        if self.selected and self.selected[0] != "A":
            self.selected = None

    def _begin(self, chain: Chain) -> None:
        """One chain on a clock of its own, played as before."""
        old = self.player
        self.player = Player([Track(chain, 0, "A")], old.speed, old.skip, old.pace, epoch=old.epoch)
        self.own_tau, self.error, self.panel = {}, "", None

    def _chain(self, ids: tuple[int, ...], address: Address, locked: frozenset[int] | tuple[()]) -> Chain:
        return Chain(
            self.serve(self.model),
            ids,
            address.seed,
            address.tau,
            schedule=self.schedule,
            locked=locked,
            start_text=address.text,
        )

    # -- the model ------------------------------------------------------------------------------------------------

    @alone
    def want(self, name: str, registry: ModelRegistry) -> None:
        """Ask for another model; the present one stays in use until it is there."""
        self.error = ""
        self.pending = (name, registry.request(name))

    @alone
    def stop_waiting(self) -> None:
        """Stay with the present model; what is being fetched is kept for the next time it is asked for."""
        self.pending = None

    @alone
    def arrived(self) -> bool:
        """Switch to the pending model if it is there, or say why it is not; True if nothing is pending any more."""
        if self.pending is None:
            return True
        name, future = self.pending
        if not future.done():
            return False
        self.pending = None
        try:
            model = outcome(name, future, self.model.name)
        except UserError as error:
            self.error = str(error)
            return True
        before = self.model
        self.model = model
        if not self.restart(replace(self.address, model=model.name)):
            self.model = before
            self.error = f"{model.name} cannot take this sentence: {self.refused} Still using {before.name}."
            self.refused = ""
        return True

    # -- temperature ----------------------------------------------------------------------------------------------

    @alone
    def set_tau(self, tau: object) -> None:
        """The slider's value; bad ones leave everything as it was and are named in ``error``."""
        try:
            value = check_tau(tau)
            if value > MAX_TAU:
                raise UserError(f"The temperature goes up to {MAX_TAU:.0f} here.")
        except UserError as error:
            self.error = str(error)
            self.rev += 1
            return
        self.address = replace(self.address, tau=value)
        for track in self.player.tracks:
            if track.name not in self.own_tau:
                track.chain.set_tau(value)

    @alone
    def set_schedule(self, kind: str) -> None:
        """Begin a temperature programme in every chain."""
        self.schedule = Schedule(kind)
        for track in self.player.tracks:
            track.chain.set_schedule(self.schedule)

    # -- the clock ------------------------------------------------------------------------------------------------

    @alone
    def run(self, on: bool) -> None:
        """Start or stop the clock, as the button said when it was drawn: a click that arrives twice does no harm."""
        self.error = ""
        if on:
            self.player.play()
        else:
            self.player.pause()

    @alone
    def set_skip(self, on: bool) -> None:
        """Skip waiting from now on, or simulate every step again; the records so far stay as they are."""
        self.address = replace(self.address, skip=on)
        self.player.set_skip(on)

    def step(self) -> None:
        """One step, or the next change if waiting is skipped."""
        with urgent():  # a change reads every word
            self.move(1, self.player.skip)

    @alone
    def move(self, steps: int, skip: bool = False) -> None:
        """A number of steps at once; what takes longer than ``AT_ONCE`` goes on by the clock and can be paused.

        Args:
            steps: at least 0.
            skip: go on by changes instead; then what is not done in time, or cannot be, is left.
        """
        self.error = ""
        player = self.player
        try:
            done = player.move(steps, time.monotonic() + AT_ONCE, skip)
        except UserError as error:
            self.error = str(error)
            return
        if done < steps and not skip:
            player.play()
            player.until = player.cursor + steps - done

    @alone
    def tick(self, beat: float) -> bool:
        """One beat of the timer; False if the clock has stopped, with the reason in ``error`` unless it was due."""
        clicked, self.clicked = self.clicked, False
        if not self.player.playing or clicked:
            return True
        try:
            self.player.tick(beat)
        except UserError as error:
            self.error = str(error)
            self.player.pause()
        return self.player.playing

    @alone
    def look(self) -> None:
        """Whole-state figures of what is on the screen; if the sampler is too busy for them, ``error`` says so."""
        try:
            self.player.look()
        except Busy as error:
            self.error = str(error)

    @alone
    def seek(self, step: object) -> None:
        """Look at an earlier step (or the last one); anything but a number is ignored."""
        if isinstance(step, (int, float)) and not isinstance(step, bool) and 0 <= step < 1e9:
            self.player.seek(int(step))
            self.look()
            self.hint = ""

    @alone
    def seek_sweep(self, sweep: object) -> None:
        """The same for a place on the time axis, in sweeps of the first chain."""
        if isinstance(sweep, (int, float)) and not isinstance(sweep, bool) and 0 <= sweep < 1e9:
            times = self.player.tracks[0].chain.record.sweep_times()
            self.seek(int(np.abs(times - sweep).argmin()))

    @alone
    def pick(self, name: object, position: object) -> None:
        """Select a word, or let go of the one that is selected."""
        if isinstance(name, str) and type(position) is int:
            self.selected = None if self.selected == (name, position) else (name, position)
            self.hint, self.panel, self.clicked = "", None, True

    # -- hands on -------------------------------------------------------------------------------------------------

    @property
    def target(self) -> tuple[Track, int] | None:
        """The selected word, if it is still there."""
        if self.selected is None:
            return None
        name, position = self.selected
        track = next((t for t in self.player.tracks if t.name == name), None)
        return (track, position) if track is not None and 0 <= position < track.chain.n else None

    @alone
    def act(self, what: str, word: str | int = "") -> bool:
        """Resample, put, lock or unlock the selected word of the present state; False if it was not done.

        ``hint`` then says why, beside the word's own controls.

        Args:
            what: ``resample``, ``put`` (a typed word or a token id) or ``lock`` (a switch).
            word: for ``put``.
        """
        self.hint = ""
        target = self.target
        if target is None:
            return False
        track, position = target
        chain = track.chain
        try:
            with urgent():
                if what == "lock":
                    chain.set_locked(chain.locked ^ {position})
                    self.player.still()
                    track.seen = None
                    track.look(track.local(self.player.cursor))
                    return True
                if not self.at_present(track):
                    raise UserError(REWOUND)
                if what == "resample":
                    chain.resample(position)
                else:
                    ident = word if isinstance(word, int) else self.model.vocabulary.word_id(word, position == 0)
                    chain.edit(position, ident)
                self.player.by_hand(track)
        except UserError as error:
            self.hint = str(error)
            return False
        return True

    def resample(self) -> None:
        """Resample the selected word."""
        self.act("resample")

    def switch_lock(self) -> None:
        """Lock or unlock the selected word."""
        self.act("lock")

    @alone
    def export(self, write: Callable[[], str]) -> str:
        """A file of a run that may be growing meanwhile."""
        return write()

    def at_present(self, track: Track) -> bool:
        """True if the screen shows the chain's last state."""
        return track.local(self.player.cursor) == track.chain.steps

    @alone
    def branch(self) -> None:
        """A new chain from the step on the screen, of the selected chain (or the first), with fresh randomness."""
        track = self.target[0] if self.target else self.player.tracks[0]
        step = track.local(self.player.cursor)
        try:
            added = self.player.add(track.chain.branch(step, self.streams + 1), track.offset + step)
            self.streams += 1
            self.hint = ""
            if track.name in self.own_tau:
                self.own_tau[added.name] = self.own_tau[track.name]
            self.player.look()
        except UserError as error:
            self.hint = str(error)

    @alone
    def compare(self, tau: float | None, seed: object) -> None:
        """A further chain from the same start, with a temperature of its own (None: the slider's) and a seed."""
        try:
            first = self.player.tracks[0].chain
            address = replace(
                self.address, seed=check_seed(seed), tau=self.address.tau if tau is None else check_tau(tau)
            )
            track = self.player.add(self._chain(first.header.start, address, first.locked), 0)
            if tau is not None:
                self.own_tau[track.name] = address.tau
            self.error = ""
        except UserError as error:
            self.error = str(error)

    @alone
    def remove(self, name: str) -> None:
        """Take a compared chain away."""
        self.player.remove(name)
        self.own_tau.pop(name, None)
        if self.selected and self.selected[0] == name:
            self.selected = None
