"""What one visitor of the live page has: model, sentence, player, selection. Widgets call it; it draws nothing."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field, replace

from glauber_core.chain import Chain
from glauber_core.errors import UserError
from glauber_core.models import MaskedLM
from glauber_core.models.registry import ModelRegistry
from glauber_core.streams import check_seed
from glauber_core.temperature import Schedule, check_tau
from glauber_core.turns import urgent
from pages.ui.address import MAX_TAU, Address
from pages.ui.player import Player, Track

MAX_TOKENS = 128


@dataclass
class LiveSession:
    """Attributes:
    model: the model in use.
    address: what the address bar holds.
    player: the chains and their clock.
    notes: what the model cannot see as it was typed.
    error: one sentence about the last thing that could not be done; empty if all went well.
    selected: (chain name, position) of the word that was clicked.
    own_tau: chains with a temperature of their own; the others follow the slider.
    schedule: the temperature programme, the same for all chains.
    pending: a model being fetched, with its name.
    rev: grows when the slider must take a new value from here.
    """

    model: MaskedLM
    address: Address
    player: Player
    notes: tuple[str, ...] = ()
    error: str = ""
    selected: tuple[str, int] | None = None
    own_tau: dict[str, float] = field(default_factory=dict)
    schedule: Schedule = field(default_factory=Schedule)
    pending: tuple[str, Future[MaskedLM]] | None = None
    rev: int = 0

    # -- the sentence ---------------------------------------------------------------------------------------------

    def restart(self, address: Address) -> bool:
        """Begin anew from the address's sentence; on bad input everything stays as it was and ``error`` says why."""
        try:
            encoded = self.model.vocabulary.encode(address.text, cap=MAX_TOKENS)
            chain = self._chain(encoded.ids, address, ())
        except UserError as error:
            self.error = str(error)
            return False
        self._adopt(Player([Track(chain, 0, "A")], speed=self.player.speed, epoch=self.player.epoch))
        self.address, self.notes, self.error, self.selected = address, encoded.notes, "", None
        self.own_tau = {}
        return True

    def reset(self) -> None:
        """Back to step 0 of the same sentence, seed and locks, one chain."""
        first = self.player.tracks[0].chain
        chain = self._chain(first.header.start, self.address, first.locked)
        self._adopt(Player([Track(chain, 0, "A")], speed=self.player.speed, epoch=self.player.epoch))
        self.own_tau, self.error = {}, ""
        if self.selected and self.selected[0] != "A":
            self.selected = None

    def _chain(self, ids: tuple[int, ...], address: Address, locked: frozenset[int] | tuple[()]) -> Chain:
        return Chain(
            self.model,
            ids,
            address.seed,
            address.tau,
            schedule=self.schedule,
            locked=locked,
            start_text=address.text,
        )

    def _adopt(self, player: Player) -> None:
        self.player = player

    # -- the model ------------------------------------------------------------------------------------------------

    def want(self, name: str, registry: ModelRegistry) -> None:
        """Ask for another model; the present one stays in use until it is there."""
        self.error = ""
        self.pending = (name, registry.request(name))

    def arrived(self) -> bool:
        """Switch to the pending model if it is there, or say why it is not; True if nothing is pending any more."""
        if self.pending is None:
            return True
        name, future = self.pending
        if not future.done():
            return False
        self.pending = None
        try:
            model = future.result()
        except UserError as error:
            self.error = f"{error} Still using {self.model.name}."
            return True
        before = self.model
        self.model = model
        if not self.restart(replace(self.address, model=model.name)):
            self.model = before
            self.error = f"{model.name} cannot take this sentence: {self.error} Still using {before.name}."
        return True

    # -- temperature ----------------------------------------------------------------------------------------------

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

    def set_schedule(self, kind: str) -> None:
        """Begin a temperature programme in every chain."""
        self.schedule = Schedule(kind)
        for track in self.player.tracks:
            track.chain.set_schedule(self.schedule)

    # -- hands on -------------------------------------------------------------------------------------------------

    @property
    def target(self) -> tuple[Track, int] | None:
        """The selected word, if it is still there."""
        if self.selected is None:
            return None
        name, position = self.selected
        track = next((t for t in self.player.tracks if t.name == name), None)
        return (track, position) if track is not None and 0 <= position < track.chain.n else None

    def act(self, what: str, word: str | int = "") -> None:
        """Resample, put, lock or unlock the selected word of the present state; ``error`` says why not.

        Args:
            what: ``resample``, ``put`` (a typed word or a token id) or ``lock`` (a switch).
            word: for ``put``.
        """
        target = self.target
        if target is None:
            return
        track, position = target
        chain = track.chain
        self.error = ""
        try:
            if what == "lock":
                chain.set_locked(chain.locked ^ {position})
                track.seen = None
                self.player.still()
                return
            if not self.at_present(track):
                raise UserError("You are looking at an earlier step: go back to the present, or branch from here.")
            with urgent():
                if what == "resample":
                    chain.resample(position)
                else:
                    ident = word if isinstance(word, int) else self.model.vocabulary.word_id(word, position == 0)
                    chain.edit(position, ident)
                self.player.by_hand(track)
        except UserError as error:
            self.error = str(error)

    def at_present(self, track: Track) -> bool:
        """True if the screen shows the chain's last state."""
        return track.local(self.player.cursor) == track.chain.steps

    def branch(self) -> None:
        """A new chain from the step on the screen, of the selected chain (or the first), with fresh randomness."""
        track = self.target[0] if self.target else self.player.tracks[0]
        step = track.local(self.player.cursor)
        try:
            used = {t.chain.header.chain for t in self.player.tracks}
            stream = next(k for k in range(1, len(used) + 2) if k not in used)
            self.player.add(track.chain.branch(step, stream), track.offset + step)
            self.error = ""
        except UserError as error:
            self.error = str(error)

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

    def remove(self, name: str) -> None:
        """Take a compared chain away."""
        self.player.remove(name)
        self.own_tau.pop(name, None)
        if self.selected and self.selected[0] == name:
            self.selected = None
