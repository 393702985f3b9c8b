"""The address bar of the landscape page: model, starts, temperature, seed, how far, and how it is drawn."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from glauber_core.landscape.expedition import MAX_CHAINS
from glauber_core.models.source import BUILT_IN
from glauber_core.starters import STARTERS, TOPICS
from pages.ui.address import common_fields, read_model, read_seed, read_tau, read_text, tau_text

COLORS = {"chain": "chain", "step": "time", "topic": "topic", "stay": "length of stay"}
HORIZONS = (1_000, 10_000, 20_000, 100_000, 1_000_000)
OWN = "own"  # among the starts: the visitor's own sentence


@dataclass(frozen=True)
class LandscapeAddress:
    """Attributes:
    model, seed, tau: of the chains.
    starts: topics, or ``OWN``, one chain each; a topic named again begins from another of its starters.
    text: the visitor's own sentence.
    horizon: simulated steps of each chain.
    color: one of ``COLORS``.
    """

    model: str
    seed: int
    tau: float
    starts: tuple[str, ...]
    text: str
    horizon: int
    color: str


def default() -> LandscapeAddress:
    """The page without a link."""
    return LandscapeAddress(
        BUILT_IN, 7, 0.5, ("health", "sport", "food", "politics"), STARTERS[0].text, 20_000, "chain"
    )


def parse(params: dict[str, str], base: LandscapeAddress) -> tuple[LandscapeAddress, list[str]]:
    """Read a link's parameters; what cannot be used falls back to ``base`` and is named in a sentence."""
    notices: list[str] = []
    found = replace(
        base,
        model=read_model(params, base.model, notices),
        text=read_text(params, base.text, notices),
        seed=read_seed(params, base.seed, notices),
        tau=read_tau(params, base.tau, notices),
    )
    if "starts" in params:
        names = tuple(params["starts"].split(".")) if len(params["starts"]) < 200 else ()
        if 1 <= len(names) <= MAX_CHAINS and all(name in (*TOPICS, OWN) for name in names):
            found = replace(found, starts=names)
        else:
            notices.append(f"The link's starts are not 1 to {MAX_CHAINS} known topics; using {', '.join(base.starts)}.")
    if "horizon" in params:
        if re.fullmatch(r"[0-9]{1,9}", params["horizon"]) and int(params["horizon"]) in HORIZONS:
            found = replace(found, horizon=int(params["horizon"]))
        else:
            notices.append(f"The link's number of steps is not one of the page's; using {base.horizon:,}.")
    if "color" in params:
        if params["color"] in COLORS:
            found = replace(found, color=params["color"])
        else:
            notices.append(f"The link's colouring is unknown; colouring by {COLORS[base.color]}.")
    return found, notices


def link(address: LandscapeAddress) -> dict[str, str]:
    """The parameters of a link."""
    found = common_fields(address.model, address.text if OWN in address.starts else "")
    if not found.get("text"):
        found.pop("text", None)
    return found | {
        "seed": str(address.seed),
        "tau": tau_text(address.tau),
        "starts": ".".join(address.starts),
        "horizon": str(address.horizon),
        "color": address.color,
    }


def with_model(address: LandscapeAddress, model: str) -> LandscapeAddress:
    """The same with another model."""
    return replace(address, model=model)
