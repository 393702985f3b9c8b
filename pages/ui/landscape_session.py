"""What one visitor of the landscape page has: chains, the picture of them, traps and experiments. It draws nothing."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from glauber_core.errors import Cancelled, UserError
from glauber_core.landscape.analysis import Analysis, analyse
from glauber_core.landscape.escape import Escape, escape
from glauber_core.landscape.expedition import Expedition, Picture, Start
from glauber_core.landscape.reinforcement import Reinforcement, reinforcement, repeated
from glauber_core.landscape.traps import Kept, Trap, catalogue, scan
from glauber_core.landscape.umap_map import UmapMap
from glauber_core.rectangle.compare import MAX_TOKENS
from glauber_core.starters import by_topic
from pages.ui.alone import alone
from pages.ui.background import Progress
from pages.ui.landscape_address import OWN, LandscapeAddress
from pages.ui.landscape_map import Maps, Plane
from pages.ui.visit import Visit

SLICE = 0.4  # seconds of moving between two looks


class Scene(NamedTuple):
    """What is on the screen.

    Attributes:
        picture: states and visits.
        plane: where the states lie, and their topics.
        analysis: of this picture or an earlier one; None before the first.
    """

    picture: Picture
    plane: Plane
    analysis: Analysis | None


class Found(NamedTuple):
    """Traps of each chain, and their catalogue with the chain of the first stay."""

    traps: list[list[Trap]]
    kept: list[tuple[int, Kept]]
    least: int


class Escapes(NamedTuple):
    """An escape experiment: from which sentence, what came of it, and whether a repeated word holds itself up."""

    state: tuple[int, ...]
    text: str
    found: list[Escape]
    repeated: Reinforcement | None


class Mapped(NamedTuple):
    """A UMAP, and the picture it was fitted to."""

    picture: Picture
    umap: UmapMap


@dataclass(kw_only=True)
class LandscapeSession(Visit):
    """Attributes, beside those of every ``Visit``:
    maps: embedder, axes and topics, ready to use.
    expedition: the chains; None until they are first moved.
    scene: the last published picture.
    umap: the map in use instead of the principal components.
    found, escapes: results of a search for traps and of an escape experiment.
    selected: number of the state that was clicked.
    notes: what the model cannot see as it was typed.
    """

    address: LandscapeAddress
    maps: Maps
    expedition: Expedition | None = None
    scene: Scene | None = None
    umap: UmapMap | None = None
    found: Found | None = None
    escapes: Escapes | None = None
    selected: int | None = None
    notes: tuple[str, ...] = ()

    # -- settings -------------------------------------------------------------------------------------------------

    @alone
    def set(self, **changes: Any) -> None:
        """Change the address; what the chains depend on begins anew, colour and horizon do not."""
        self.acts()
        self.address = replace(self.address, **changes)
        if changes.keys() & {"starts", "text", "seed", "model"}:
            self.begin()

    @alone
    def begin(self) -> None:
        """Drop chains and picture."""
        self.worker.cancel()
        self.expedition = self.scene = self.umap = self.found = self.escapes = self.selected = None
        self.epoch += 1

    # -- moving ---------------------------------------------------------------------------------------------------

    @property
    def running(self) -> bool:
        """True while the chains move."""
        return self.worker.running and self.worker.name == "moving"

    @property
    def arrived_at_horizon(self) -> bool:
        """True if every chain has gone as far as it should."""
        scene = self.scene
        return scene is not None and min(scene.picture.elapsed) >= self.address.horizon

    def starts(self) -> list[Start]:
        """Where the chains begin. Raises UserError: a sentence the model cannot take."""
        met: Counter[str] = Counter()
        found: list[Start] = []
        notes: list[str] = []
        for name in self.address.starts:
            own = name == OWN
            choices = [self.address.text] if own else [s.text for s in by_topic(name)]
            text = choices[met[name] % len(choices)]
            met[name] += 1
            encoded = self.model.vocabulary.encode(text, cap=MAX_TOKENS)
            notes += encoded.notes
            found.append(Start(encoded.ids, text, "" if own else name))
        self.notes = tuple(dict.fromkeys(notes))
        return found

    @alone
    def run(self) -> None:
        """Move the chains to the horizon, from where they are."""
        self.acts()
        if self.running:
            return
        try:
            starts = self.starts()
        except UserError as error:
            self.error = str(error)
            return
        address, model, maps, epoch = self.address, self.model, self.maps, self.epoch
        conditionals = self.serve(model)

        def work(progress: Progress) -> None:
            expedition = self.expedition
            if expedition is None:
                expedition = Expedition(
                    conditionals, starts, address.tau, address.seed, model.vocabulary.text, maps.embed
                )
            with self.lock:
                if self.epoch != epoch:
                    return
                self.expedition = expedition
            horizon, slowest, quiet = address.horizon, 0.0, 0.0
            analysis: Analysis | None = None
            reason: Exception | None = None
            try:
                done = False
                while not done:
                    progress(min(expedition.picture.elapsed) / horizon)
                    expedition.set_tau(self.address.tau)
                    done = expedition.move(horizon, SLICE)
                    picture = expedition.look(lambda share: progress(min(expedition.picture.elapsed) / horizon))
                    if done or time.monotonic() - quiet > 6 * slowest:  # basins take a sixth of the time at most
                        begin = time.monotonic()
                        analysis = analyse(picture, expedition.per_sweep)
                        quiet = time.monotonic()
                        slowest = quiet - begin
                    self._publish(epoch, expedition, analysis)
            except (Cancelled, UserError) as ended:
                reason = ended
            picture = expedition.look()
            if analysis is None or analysis.picture is not picture:
                self._publish(epoch, expedition, analyse(picture, expedition.per_sweep))
            if isinstance(reason, UserError):
                raise reason

        self.worker.start("moving", work)

    def _publish(self, epoch: int, expedition: Expedition, analysis: Analysis | None) -> None:
        picture = expedition.picture
        with self.lock:
            before, umap = (self.scene.plane if self.scene else None), self.umap
        plane = self.maps.plane(picture.embeddings, before, umap)
        with self.lock:
            if self.epoch == epoch:
                self.scene = Scene(picture, plane, analysis)

    # -- looking --------------------------------------------------------------------------------------------------

    @alone
    def pick(self, state: object, epoch: object) -> bool:
        """A point was clicked; True if it was one: anything else a browser may send is left alone."""
        known = len(self.scene.picture.texts) if self.scene else 0
        if type(state) is not int or not 0 <= state < known or epoch != self.epoch:
            return False
        self.acts()
        self.selected = state
        return True

    @property
    def shown(self) -> tuple[tuple[int, ...], str] | None:
        """Token ids and text of the selected state."""
        if self.selected is None or self.expedition is None or self.scene is None:
            return None
        return self.expedition.book.states[self.selected], self.scene.picture.texts[self.selected]

    @alone
    def set_axes(self, axes: str) -> None:
        """Draw on the frozen principal components, or on a UMAP of the sentences visited so far."""
        self.acts()
        scene, maps = self.scene, self.maps
        if scene is None or self.worker.running:
            self.error = "Run the chains and pause them first: UMAP is fitted to the sentences they visited."
            return
        if axes == "PCA":
            self._redraw(scene.picture, None)
            return

        def work(progress: Progress) -> Mapped:
            return Mapped(scene.picture, UmapMap(scene.picture.embeddings, maps.axes, self.address.seed))

        self.worker.start("fitting UMAP (a minute for thousands of sentences)", work)

    def _redraw(self, picture: Picture, umap: UmapMap | None) -> None:
        self.umap = umap
        self.epoch += 1
        if self.scene is not None:
            self.scene = self.scene._replace(plane=self.maps.plane(picture.embeddings, None, umap))
        self.notices = [umap.notice] if umap is not None and umap.notice else []

    @alone
    def find_traps(self, least_sweeps: float) -> None:
        """Judge every state in which a chain stayed at least so many sweeps."""
        self.acts()
        expedition, serve, model = self.expedition, self.serve, self.model
        if expedition is None or self.worker.running:
            return

        def work(progress: Progress) -> Found:
            count = len(expedition.chains)
            conditionals, traps = serve(model), []
            for k, chain in enumerate(expedition.chains):
                least = max(1, round(least_sweeps * chain.sweep_length))
                part = partial(_part, progress, k, count)
                traps.append(scan(chain.record, conditionals, (), least, progress=part))
            kept = [(k, one) for k, found in enumerate(traps) for one in catalogue(found)]
            return Found(traps, sorted(kept, key=lambda pair: -pair[1].dwell), round(least_sweeps))

        self.worker.start("looking for traps", work)

    @alone
    def try_escape(self, state: tuple[int, ...], text: str, taus: list[float], chains: int, horizon: int) -> None:
        """Release chains in a state at several temperatures."""
        self.acts()
        if self.worker.running:
            return
        model, serve, seed, tau = self.model, self.serve, self.address.seed, self.address.tau

        def work(progress: Progress) -> Escapes:
            own = serve(model)
            found = escape(own, state, taus, chains, horizon, seed=seed, progress=progress)
            words = [t for t in repeated(state) if any(c.isalnum() for c in model.vocabulary.surface(t).text)]
            twice = reinforcement(own, state, words[0], max(tau, 0.05)) if words else None
            return Escapes(state, text, found, twice)

        self.worker.start("escaping", work)

    @alone
    def collect(self) -> bool:
        """Take what a finished job brought; True if there was something to show."""
        if self.worker.running:
            return False
        result, error = self.worker.take()
        if error and not error.startswith("Cancelled"):
            self.error = error
        if isinstance(result, Found):
            self.found = result
        elif isinstance(result, Escapes):
            self.escapes = result
        elif isinstance(result, Mapped) and self.scene is not None and self.scene.picture is result.picture:
            self._redraw(result.picture, result.umap)
        return bool(error) or result is not None


def _part(progress: Progress, k: int, count: int, share: float) -> None:
    progress((k + share) / count)


def stay_power(dwell: np.ndarray, log_exit: np.ndarray) -> list[float]:
    """log10 of each visit's stay in steps: the expected one where q is known, else the observed one; at most 12."""
    with np.errstate(divide="ignore"):
        observed = np.log10(np.maximum(dwell, 1.0))
    power = np.where(np.isnan(log_exit), observed, -log_exit / np.log(10))
    return np.minimum(power, 12.0).round(2).tolist()
