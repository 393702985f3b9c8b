"""Links to the rectangle page: they read back, and hostile ones fall back with a notice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glauber_core.rectangle import Rule
from pages.ui.address import MAX_TEXT
from pages.ui.rectangle_address import RectangleAddress, default, link, parse

BASE = default("a sentence")
FULL = RectangleAddress(
    "FacebookAI/roberta-base", "x & y\n<b>", "test", (1, 3, 77, 5), Rule("top-k", "distance", 3, 20, 4, 7, 99)
)


@pytest.mark.parametrize("address", [BASE, FULL])
def test_a_link_reads_back(address: RectangleAddress) -> None:
    written = link(address)
    assert all(isinstance(value, str) for value in written.values())
    assert parse(written, default("other")) == (address, [])


def test_a_long_text_takes_its_rectangle_along() -> None:
    written = link(RectangleAddress("glauber-mini", "x" * (MAX_TEXT + 1), "one", (1, 2, 3, 4), Rule()))
    assert not {"text", "i", "j", "a", "b"} & set(written)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("view", "x"),
        ("i", "-1"),
        ("a", "999999999999"),
        ("alternatives", "0"),
        ("alternatives", "51"),
        ("pairs", "1e3"),
        ("pairs", "501"),
        ("distance", "64"),
        ("k", "\u0663"),
        ("distance", ""),
        ("seed", "NaN"),
        ("model", "../../etc"),
        ("text", "   "),
        ("replacements", "natural; drop"),
        ("positions", "ALL"),
    ],
)
def test_hostile_values_fall_back_with_a_notice(name: str, value: str) -> None:
    found, notices = parse({name: value}, BASE)
    assert found == BASE and len(notices) == 1 and notices[0].endswith(".")


NAMES = [*link(FULL), "view", "x"]


@given(st.dictionaries(st.sampled_from(NAMES), st.text(max_size=12)))
def test_any_link_gives_an_address_that_can_be_used(params: dict[str, str]) -> None:
    found, notices = parse(params, BASE)
    assert found.text.strip() and len(found.text) <= MAX_TEXT
    assert len(notices) <= len(params) + 1
    assert parse(link(found), BASE)[0] == found
