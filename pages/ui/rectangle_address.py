"""The address bar of the rectangle page: model, sentences, the rectangle shown, the rule of the test."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from typing import Any, get_args

from glauber_core.errors import UserError
from glauber_core.models.source import BUILT_IN
from glauber_core.rectangle import Rule
from glauber_core.rectangle.schemes import MAX_ALTERNATIVES, Positions, Replacements
from pages.ui.address import common_fields, read_model, read_seed, read_text

VIEWS = ("one", "test", "compare")
MOST = {"alternatives": MAX_ALTERNATIVES, "pairs": 500, "distance": 63, "k": 1000}  # what the page's fields take
Corner = tuple[int, int, int, int]


@dataclass(frozen=True)
class RectangleAddress:
    """Attributes:
    model, text: what is tested; ``text`` holds one sentence a line.
    view: one of ``VIEWS``.
    corner: positions i and j (0-based) and the token ids a' and b' in the first sentence; None for the page's choice.
    rule: how rectangles are drawn.
    """

    model: str
    text: str
    view: str
    corner: Corner | None
    rule: Rule


ONE_SENTENCE = Rule(alternatives=2)
MANY = Rule(positions="random", pairs=10)  # all pairs of many sentences take minutes


def fitting(rule: Rule, many: bool) -> Rule:
    """The page's own rule for one sentence or many, unless the visitor has chosen another."""
    return rule if rule not in (ONE_SENTENCE, MANY) else MANY if many else ONE_SENTENCE


def default(text: str) -> RectangleAddress:
    """The page without a link."""
    return RectangleAddress(BUILT_IN, text, "one", None, ONE_SENTENCE)


def parse(params: dict[str, str], base: RectangleAddress) -> tuple[RectangleAddress, list[str]]:
    """Read a link's parameters; what cannot be used falls back to ``base`` and is named in a sentence."""
    notices: list[str] = []
    found = replace(base, model=read_model(params, base.model, notices), text=read_text(params, base.text, notices))
    if "view" in params:
        if params["view"] in VIEWS:
            found = replace(found, view=params["view"])
        else:
            notices.append("The link's view is unknown; showing one rectangle.")
    given = [params.get(name, "") for name in ("i", "j", "a", "b")]
    if any(given):
        if all(re.fullmatch(r"[0-9]{1,9}", value) for value in given):
            i, j, a, b = map(int, given)
            found = replace(found, corner=(i, j, a, b))
        else:
            notices.append("The link's rectangle is incomplete; showing another.")
    return replace(found, rule=_rule(params, base.rule, notices)), notices


def _rule(params: dict[str, str], base: Rule, notices: list[str]) -> Rule:
    rule = replace(base, seed=read_seed(params, base.seed, notices))
    for name, choices in (("replacements", get_args(Replacements)), ("positions", get_args(Positions))):
        if name in params:
            if params[name] in choices:
                rule = with_field(rule, name, params[name])
            else:
                notices.append(f"The link's {name} are unknown; using {getattr(base, name)}.")
    for name, most in MOST.items():
        if name in params:
            try:
                if not re.fullmatch(r"[0-9]{1,9}", params[name]) or int(params[name]) > most:
                    raise UserError("not such a number")
                rule = with_field(rule, name, int(params[name]))
            except UserError:
                notices.append(f"The link's {name} is out of range; using {getattr(base, name)}.")
    return rule


def with_field(rule: Rule, name: str, value: object) -> Rule:
    """The rule with one field changed. Raises UserError: out of range."""
    changed: dict[str, Any] = {name: value}
    return replace(rule, **changed)


def link(address: RectangleAddress) -> dict[str, str]:
    """The parameters of a link; those of the rule only where it is not the page's own."""
    found = common_fields(address.model, address.text) | {"view": address.view}
    for part in fields(Rule):
        value = getattr(address.rule, part.name)
        if value != getattr(ONE_SENTENCE, part.name):
            found[part.name] = str(value)
    if address.corner is not None and "text" in found:
        found |= dict(zip(("i", "j", "a", "b"), map(str, address.corner), strict=True))
    return found
