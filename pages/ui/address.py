"""The address bar of the live page, read with suspicion and kept clean."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import streamlit as st

from glauber_core.errors import UserError
from glauber_core.models.source import BUILT_IN, SUGGESTED, canonical_name, is_hub_id
from glauber_core.streams import check_seed
from glauber_core.temperature import check_tau

MAX_TEXT = 300
MAX_TAU = 1000.0
MAX_SEED = 2**53 - 1  # what a browser's number field holds exactly
COLORS = ("age", "probability", "entropy", "margin", "none")


@dataclass(frozen=True)
class Address:
    """What a link holds. ``text`` is empty where it is too long for one; ``skip``: waiting is skipped."""

    model: str
    text: str
    seed: int
    tau: float
    color: str
    skip: bool = False


def default(text: str) -> Address:
    """The page without a link."""
    return Address(BUILT_IN, text, 7, 0.7, "age")


def parse(params: dict[str, str], base: Address) -> tuple[Address, list[str]]:
    """Read a link's parameters; what cannot be used falls back to ``base`` and is named.

    Returns:
        the address, and one sentence for each parameter that was put back.
    """
    notices: list[str] = []
    model, text = read_model(params, base.model, notices), read_text(params, base.text, notices)
    seed, tau = read_seed(params, base.seed, notices), read_tau(params, base.tau, notices)
    found = replace(base, model=model, text=text, seed=seed, tau=tau)
    if "color" in params:
        if params["color"] in COLORS:
            found = replace(found, color=params["color"])
        else:
            notices.append(f"The link's colouring is unknown; colouring by {base.color}.")
    if "skip" in params:
        if params["skip"] in ("0", "1"):
            found = replace(found, skip=params["skip"] == "1")
        else:
            notices.append("The link's skip is neither 0 nor 1; no waiting is skipped.")
    return found, notices


def read_model(params: dict[str, str], base: str, notices: list[str]) -> str:
    """The link's model. It never opens a folder of this computer: only the built-in models and hub names."""
    name = canonical_name(params.get("model", base))
    if name in SUGGESTED or is_hub_id(name) or name == base:
        return name
    notices.append(f"The link names a model that cannot be opened from a link; using {base}.")
    return base


def read_text(params: dict[str, str], base: str, notices: list[str]) -> str:
    """The link's sentence."""
    text = params.get("text", base)
    if text == base or (text.strip() and len(text) <= MAX_TEXT):
        return text
    notices.append("The link's sentence is empty or too long; using a starter.")
    return base


def read_seed(params: dict[str, str], base: int, notices: list[str]) -> int:
    """The link's seed."""
    text = params.get("seed", str(base))
    try:
        if not re.fullmatch(r"[0-9]{1,16}", text) or int(text) > MAX_SEED:
            raise UserError("not a seed")
        return check_seed(int(text))
    except (ValueError, UserError):
        notices.append(f"The link's seed is not a whole number from 0 to {MAX_SEED}; using {base}.")
        return base


def read_tau(params: dict[str, str], base: float, notices: list[str]) -> float:
    """The link's temperature."""
    text = params.get("tau")
    if text is None:
        return base
    try:
        if not re.fullmatch(r"[0-9.e+-]{1,40}", text):
            raise UserError("not a number")
        tau = check_tau(text)
        if tau > MAX_TAU:
            raise UserError("too hot")
        return tau
    except UserError:
        notices.append(f"The link's temperature is not a number from 0 to {MAX_TAU:.0f}; using {base}.")
        return base


def common_fields(model: str, text: str) -> dict[str, str]:
    """Parameters that every page's link has."""
    # A folder of this computer is nobody else's business.
    named = {"model": model} if model in SUGGESTED or is_hub_id(model) else {}
    return named | ({"text": text} if len(text) <= MAX_TEXT else {})


def fields(address: Address) -> dict[str, str]:
    """The parameters of a link."""
    own = {"seed": str(address.seed), "tau": tau_text(address.tau), "color": address.color}
    own |= {"skip": "1"} if address.skip else {}
    return own | common_fields(address.model, address.text)


def tau_text(tau: float) -> str:
    """A temperature, written so that it reads back as the same number."""
    short = f"{tau:g}"
    return short if float(short) == tau else repr(tau)


def write(wanted: dict[str, str]) -> None:
    """Put a link's parameters into the browser's bar; unchanged values cause no traffic, unknown parameters go."""
    if dict(st.query_params) != wanted:
        st.query_params.from_dict(wanted)
