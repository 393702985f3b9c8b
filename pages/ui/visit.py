"""What the sessions of pages with chains in the background have in common: model, temperature, messages."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any

from glauber_core.errors import UserError
from glauber_core.models import MaskedLM
from glauber_core.models.registry import ModelRegistry
from glauber_core.temperature import check_tau
from glauber_core.types import Conditionals
from pages.ui.address import MAX_TAU
from pages.ui.alone import alone, new_lock
from pages.ui.background import Background
from pages.ui.fetch import outcome


@dataclass(kw_only=True)
class Visit:
    """Attributes:
    model: the model in use.
    address: what the address bar holds; has ``model`` and ``tau``.
    worker: moves the chains, one job at a time.
    serve: what they ask instead of the model itself.
    epoch: grows when the browser must forget what it has drawn.
    rev: grows when the slider must take a new value from here.
    error: one sentence about the last thing that could not be done.
    notices: what of a link could not be used; like ``error``, shown until the visitor's next act.
    pending: a model being fetched, with its name.
    lock: held by whatever changes or draws the session; re-entrant.
    """

    model: MaskedLM
    address: Any
    worker: Background
    serve: Callable[[MaskedLM], Conditionals] = field(default=lambda model: model, repr=False)
    epoch: int = 0
    rev: int = 0
    error: str = ""
    notices: list[str] = field(default_factory=list)
    pending: tuple[str, Future[MaskedLM]] | None = None
    lock: Any = field(default_factory=new_lock, repr=False, compare=False)

    def begin(self) -> None:
        """Drop the chains and begin anew from the address."""
        raise NotImplementedError

    @alone
    def acts(self) -> None:
        """The visitor does something: what was said before is over."""
        self.error, self.notices = "", []

    @alone
    def set_tau(self, tau: object) -> None:
        """The slider's value, for all chains from their next moves on."""
        try:
            value = check_tau(tau)
            if value > MAX_TAU:
                raise UserError(f"The temperature goes up to {MAX_TAU:.0f} here.")
        except UserError as error:
            self.error = str(error)
            self.rev += 1
            return
        self.address = replace(self.address, tau=value)

    @alone
    def want(self, name: str, registry: ModelRegistry) -> None:
        """Ask for another model; the present one stays in use until it is there."""
        self.acts()
        self.pending = (name, registry.request(name))

    @alone
    def stop_waiting(self) -> None:
        """Stay with the present model."""
        self.pending = None

    @alone
    def arrived(self) -> None:
        """Switch to the pending model if it is there, or say why it is not."""
        if self.pending is None or not self.pending[1].done():
            return
        (name, future), self.pending = self.pending, None
        try:
            self.model = outcome(name, future, self.model.name)
        except UserError as error:
            self.error = str(error)
            return
        self.address = replace(self.address, model=self.model.name)
        self.begin()

    @alone
    def pause(self) -> None:
        """Stop moving; everything stays, and ``run`` goes on from here."""
        self.worker.cancel()
