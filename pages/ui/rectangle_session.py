"""What one visitor of the rectangle page has: sentences, the rectangle shown, results. It draws nothing."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import torch

from glauber_core.errors import UserError
from glauber_core.kernels import log_conditional
from glauber_core.models import MaskedLM
from glauber_core.models.registry import ModelRegistry
from glauber_core.models.vocabulary import Encoded
from glauber_core.rectangle import Probe, Row, check, rectangle
from glauber_core.rectangle.compare import MAX_TOKENS
from glauber_core.rectangle.report import Report
from glauber_core.texts import from_pasted
from glauber_core.turns import urgent
from pages.ui.alone import alone, new_lock
from pages.ui.fetch import outcome
from pages.ui.rectangle_address import Corner, RectangleAddress, fitting

TOP = 15
NAMED = 3  # of the lines left out


class Pending(NamedTuple):
    """A model being fetched: its name as asked for, and the link that asked for it, if one did."""

    name: str
    future: Future[MaskedLM]
    link: RectangleAddress | None


@dataclass
class RectangleSession:
    """Attributes:
    model: the model in use.
    address: what the address bar holds.
    sentences: as the model sees them; never empty once a text has been accepted.
    texts: the same as they were typed, for other models to read.
    current: index of the sentence shown.
    picked: positions that were clicked, none to two, in the order of the clicks.
    new: replacement token of each picked position.
    tops: for each picked position, the likeliest other tokens with their probabilities at tau = 1.
    shown: the rectangle on the screen; None until two words are picked.
    notes: what the user should know about the text as the model reads it.
    refused: why the text in the field is not the one in use; empty if it is.
    error: one sentence about the last thing that could not be done.
    notices: what of a link could not be used; like ``error``, shown until the visitor's next act.
    hints: the same beside the replacement of word 1 and of word 2.
    report: the last test of the sentences; ``report_model`` is the model it was made with.
    rows: the last comparison of models; ``rows_about`` says by which rule and on which sentences.
    serial: grows when the replacement fields must take new values from here.
    pending: a model being fetched.
    lock: held by whatever changes or draws the session; re-entrant.
    """

    model: MaskedLM
    address: RectangleAddress
    sentences: list[Encoded] = field(default_factory=list)
    texts: tuple[str, ...] = ()
    current: int = 0
    picked: list[int] = field(default_factory=list)
    new: dict[int, int] = field(default_factory=dict)
    tops: dict[int, list[tuple[int, float]]] = field(default_factory=dict)
    shown: Probe | None = None
    notes: tuple[str, ...] = ()
    refused: str = ""
    error: str = ""
    notices: list[str] = field(default_factory=list)
    hints: dict[int, str] = field(default_factory=dict)
    report: Report | None = None
    report_model: MaskedLM | None = None
    rows: list[Row] = field(default_factory=list)
    rows_about: str = ""
    serial: int = 0
    pending: Pending | None = None
    lock: Any = field(default_factory=new_lock, repr=False, compare=False)

    @alone
    def acts(self) -> None:
        """The visitor does something: what was said about earlier acts goes."""
        self.error, self.notices = "", []

    # -- the sentences --------------------------------------------------------------------------------------------

    @alone
    def load(self, address: RectangleAddress) -> bool:
        """Take an address's text; bad input leaves all as it was, ``refused`` says why."""
        try:
            texts = from_pasted(address.text)
            kept, encoded, left_out = self._encode(texts.sentences)
        except UserError as error:
            self.refused = str(error)
            return False
        self.texts, self.sentences, self.address = kept, encoded, address
        self.turn(address.view)
        own = encoded[0].notes if len(encoded) == 1 else ()
        self.notes = (*texts.notes, *left_out, *own)
        self.refused = self.error = ""
        self.report = None
        self._show(0, address.corner)
        return True

    def _encode(self, texts: tuple[str, ...]) -> tuple[tuple[str, ...], list[Encoded], list[str]]:
        kept, encoded, reasons = [], [], []
        for text in texts:
            try:
                encoded.append(self.model.vocabulary.encode(text, cap=MAX_TOKENS))
                kept.append(text)
            except UserError as error:
                reasons.append((text, str(error)))
        if not encoded:
            why = reasons[0][1]
            raise UserError(why if len(texts) == 1 else f"No line can be used. {_start(texts[0])}: {why}")
        notes = [f"{len(reasons)} line{'s' * (len(reasons) > 1)} left out."] if reasons else []
        notes += [f"{_start(text)}: {why}" for text, why in reasons[:NAMED]]
        return tuple(kept), encoded, notes + (["And so on."] if len(reasons) > NAMED else [])

    @alone
    def turn(self, view: str) -> None:
        """Turn to a view; the rule follows if it is the page's own."""
        many = view == "compare" or len(self.sentences) > 1
        self.address = replace(self.address, view=view, rule=fitting(self.address.rule, many))

    @alone
    def select(self, index: int) -> None:
        """Show another of the sentences."""
        if 0 <= index < len(self.sentences) and index != self.current:
            self.acts()
            self._show(index, None)

    @property
    def tokens(self) -> tuple[int, ...]:
        """Token ids of the sentence shown."""
        return self.sentences[self.current].ids

    @property
    def eligible(self) -> list[int]:
        """Positions of the sentence shown that can be corners."""
        return [k for k, token in enumerate(self.tokens) if bool(self.model.allowed[token])]

    def _show(self, index: int, corner: Corner | None) -> None:
        self.current, self.picked, self.new, self.tops, self.shown, self.hints = index, [], {}, {}, None, {}
        self.serial += 1
        if corner is not None:
            i, j, a, b = corner
            try:
                check(self.model.allowed, self.tokens, i, j, a, b)
            except UserError:
                self.error = "The rectangle asked for does not fit this sentence; here is another."
            else:
                self.picked, self.new = [i, j], {i: a, j: b}
        if not self.picked:
            places = self.eligible
            middle = len(places) // 2
            self.picked = places[max(0, middle - 1) : middle + 1]
        self._refresh()

    # -- the rectangle --------------------------------------------------------------------------------------------

    @alone
    def pick(self, position: object) -> None:
        """A word was clicked: choose it as a corner in place of the older choice, or let go of it."""
        if type(position) is not int or position not in self.eligible:
            return
        if position in self.picked:
            self.picked.remove(position)
        else:
            self.picked = [*self.picked[-1:], position]
        self.acts()
        self.hints = {}
        self.serial += 1
        self._refresh()

    @alone
    def replace(self, position: int, word: object) -> None:
        """Another replacement at a picked position: a token id, or a typed word; a bad one changes nothing."""
        if position not in self.picked:
            return
        self.acts()
        self.hints.pop(position, None)
        try:
            if isinstance(word, str):
                token = self.model.vocabulary.word_id(word, position == 0)
            elif isinstance(word, (int, np.integer)) and not isinstance(word, bool):
                token = int(word)
            else:
                raise UserError("Choose a word from the list, or type one.")
            others = [p for p in (*self.picked, *self.eligible) if p != position]
            if not others:
                raise UserError("A rectangle needs two words that the model knows: type a longer sentence.")
            stand_in = self.new.get(others[0], self._other(others[0]))
            check(self.model.allowed, self.tokens, position, others[0], token, stand_in)
        except UserError as error:
            kept = self.model.vocabulary.surface(self.new[position]).text
            self.hints[position] = f"{error} Meanwhile \u201c{kept}\u201d stays."
            return
        self.new[position] = token
        self._refresh()

    def _other(self, position: int) -> int:
        """Any allowed token but the one that is there."""
        first, second = torch.nonzero(self.model.allowed)[:2, 0].tolist()
        return second if self.tokens[position] == first else first

    @alone
    def show(self, sentence: int, corner: Corner) -> None:
        """A rectangle of a result, on the first view."""
        self.acts()
        self._show(sentence, corner)
        self.turn("one")

    def _refresh(self) -> None:
        """Lists of replacements and the rectangle, for the words that are picked now."""
        self.shown = None
        missing = [p for p in self.picked if p not in self.tops]
        with urgent():
            if missing:
                states = torch.tensor([self.tokens] * len(missing))
                logits = self.model(states, torch.tensor(missing))
                scores = log_conditional(logits, torch.ones(len(missing), dtype=torch.float64)).exp().cpu()
                for row, position in enumerate(missing):
                    self.tops[position] = _likeliest(scores[row], self.tokens[position])
            for position in self.picked:
                self.new.setdefault(position, self.tops[position][0][0])
            if len(self.picked) == 2:
                i, j = sorted(self.picked)
                self.shown = rectangle(self.model, self.tokens, i, j, self.new[i], self.new[j])
        self.address = replace(self.address, corner=self.corner if self.current == 0 else None)

    @property
    def corner(self) -> Corner | None:
        """The rectangle on the screen as a link has it."""
        if self.shown is None:
            return None
        return self.shown.i, self.shown.j, self.new[self.shown.i], self.new[self.shown.j]

    # -- the model ------------------------------------------------------------------------------------------------

    @alone
    def want(self, name: str, registry: ModelRegistry, link: RectangleAddress | None = None) -> None:
        """Ask for another model; the present one stays in use until it is there, then a link's rectangle is shown."""
        self.acts()
        self.pending = Pending(name, registry.request(name), link)

    @alone
    def stop_waiting(self) -> None:
        """Stay with the present model."""
        self.pending = None

    @alone
    def arrived(self) -> None:
        """Switch to the pending model if it is there, or say why it is not."""
        if self.pending is None or not self.pending.future.done():
            return
        name, future, link = self.pending
        self.pending = None
        before = self.model
        try:
            self.model = outcome(name, future, before.name)
        except UserError as error:
            self.error = str(error)
            return
        corner = link.corner if link is not None and link.text == self.address.text else None
        if not self.load(replace(self.address, model=self.model.name, corner=corner)):
            self.error = f"{self.model.name} cannot take this text: {self.refused} Still using {before.name}."
            self.model, self.refused = before, ""


def _start(text: str) -> str:
    """A line's beginning, to know it by."""
    return f"\u201c{text if len(text) <= 30 else text[:28].rstrip() + ' ...'}\u201d"


def _likeliest(probability: torch.Tensor, current: int) -> list[tuple[int, float]]:
    scores = probability.clone()
    scores[current] = -1.0
    best = scores.topk(min(TOP, len(scores)))
    found = zip(best.indices.tolist(), best.values.tolist(), strict=True)
    return [(token, p) for token, p in found if p > 0.0] or [(int(best.indices[0]), 0.0)]
