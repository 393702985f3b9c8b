"""The address bar of the mixing page."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from glauber_core.models.source import BUILT_IN
from glauber_core.starters import TOPICS
from pages.ui.address import common_fields, read_model, read_seed, read_tau, tau_text

VIEWS = ("coupling", "phase", "physics")
LENGTHS = (6, 32)  # tokens of the coupled sentences, smallest and largest


@dataclass(frozen=True)
class MixingAddress:
    """Attributes:
    model, seed, tau: of the two chains.
    first, second: topics of the sentences they begin with.
    n: tokens of both.
    view: one of ``VIEWS``.
    """

    model: str
    seed: int
    tau: float
    first: str
    second: str
    n: int
    view: str


def default() -> MixingAddress:
    """The page without a link."""
    return MixingAddress(BUILT_IN, 7, 2.0, "health", "sport", 12, "coupling")


def parse(params: dict[str, str], base: MixingAddress) -> tuple[MixingAddress, list[str]]:
    """Read a link's parameters; what cannot be used falls back to ``base`` and is named in a sentence."""
    notices: list[str] = []
    found = replace(
        base,
        model=read_model(params, base.model, notices),
        seed=read_seed(params, base.seed, notices),
        tau=read_tau(params, base.tau, notices),
    )
    first, second = params.get("first", base.first), params.get("second", base.second)
    if first in TOPICS and second in TOPICS and first != second:
        found = replace(found, first=first, second=second)
    else:
        notices.append(f"The link's topics are not two known ones; using {base.first} and {base.second}.")
    if "n" in params:
        if re.fullmatch(r"[0-9]{1,3}", params["n"]) and LENGTHS[0] <= int(params["n"]) <= LENGTHS[1]:
            found = replace(found, n=int(params["n"]))
        else:
            notices.append(f"The link's length is not between {LENGTHS[0]} and {LENGTHS[1]}; using {base.n}.")
    if "view" in params:
        if params["view"] in VIEWS:
            found = replace(found, view=params["view"])
        else:
            notices.append("The link's view is unknown; showing two coupled chains.")
    return found, notices


def link(address: MixingAddress) -> dict[str, str]:
    """The parameters of a link."""
    named = common_fields(address.model, "")
    named.pop("text")
    own = {"seed": str(address.seed), "tau": tau_text(address.tau), "first": address.first, "second": address.second}
    return named | own | {"n": str(address.n), "view": address.view}


def with_model(address: MixingAddress, model: str) -> MixingAddress:
    """The same with another model."""
    return replace(address, model=model)
