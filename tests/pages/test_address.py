"""Links: what they may set, what is put back, and what goes into the address bar."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import streamlit
from hypothesis import given
from hypothesis import strategies as st

from glauber_core.models.source import BUILT_IN, SUGGESTED, is_hub_id
from pages.ui.address import COLORS, MAX_TAU, MAX_TEXT, Address, default, fields, parse, write

BASE = default("the cat sat")


def test_no_parameters() -> None:
    assert parse({}, BASE) == (BASE, [])
    assert BASE == Address(BUILT_IN, "the cat sat", 7, 0.7, "age")


def test_a_good_link_is_taken_whole() -> None:
    link = {"model": "roberta-base", "text": " $5 **x** <b> 猫", "seed": "0", "tau": "1.25", "color": "margin"}
    assert parse(link, BASE) == (Address("FacebookAI/roberta-base", " $5 **x** <b> 猫", 0, 1.25, "margin"), [])


@pytest.mark.parametrize("name", SUGGESTED)
def test_every_suggested_model_may_be_linked(name: str) -> None:
    assert parse({"model": name}, BASE) == (replace(BASE, model=name), [])


@pytest.mark.parametrize(
    "key, values",
    [
        ("tau", ["NaN", "nan", "inf", "-inf", "-1", "1000.5", "999999", "1e999", "", "hot", "0,7", "1 2", "<b>"]),
        ("seed", ["abc", "", "-1", "1.5", "1e3", str(2**63), "9" * 5000, "NaN", "0x10"]),
        ("color", ["<script>", "", "AGE", "age ", "../age"]),
        ("text", ["", "   ", "\n", "x" * (MAX_TEXT + 1)]),
        (
            "model",
            [
                "../../etc",
                "/etc",
                "~",
                ".",
                "",
                "a/b/c",
                "a\x00b",
                "x" * 5000,
                "C:\\x",
                "http://h/x",
                "a b/c",
                "no-owner",
            ],
        ),
    ],
)
def test_what_cannot_be_used_is_put_back_and_named(key: str, values: list[str]) -> None:
    others = {"model": BUILT_IN, "text": "a dog ran", "seed": "3", "tau": "2", "color": "entropy"}
    good = Address(BUILT_IN, "a dog ran", 3, 2.0, "entropy")
    for value in values:
        found, notices = parse({**others, key: value}, BASE)
        assert found == replace(good, **{key: getattr(BASE, key)}), value
        assert len(notices) == 1 and notices[0].endswith(".") and len(notices[0]) < 200
        assert not value.strip() or len(value) < 4 or value not in notices[0]  # nothing of the link is echoed


def test_everything_wrong_at_once() -> None:
    found, notices = parse({"model": "..", "text": "", "seed": "x", "tau": "x", "color": "x", "other": "x"}, BASE)
    assert found == BASE and len(notices) == 5


def test_the_borders() -> None:
    assert parse({"tau": "0"}, BASE)[0].tau == 0.0
    assert str(parse({"tau": "-0.0"}, BASE)[0].tau) == "0.0"
    assert parse({"tau": f"{MAX_TAU:g}"}, BASE)[0].tau == MAX_TAU
    assert parse({"text": "x" * MAX_TEXT}, BASE)[0].text == "x" * MAX_TEXT


@given(st.dictionaries(st.sampled_from(["model", "text", "seed", "tau", "color", "x"]), st.text(max_size=20)))
def test_any_link_gives_an_address_that_can_be_used(params: dict[str, str]) -> None:
    found, notices = parse(params, BASE)
    assert found.model in SUGGESTED or is_hub_id(found.model)
    assert found.text.strip() and len(found.text) <= MAX_TEXT
    assert 0 <= found.seed < 2**63 and 0 <= found.tau <= MAX_TAU and found.color in COLORS
    assert len(notices) <= 5


class Bar(dict[str, Any]):
    """Stands for ``st.query_params``."""

    writes = 0

    def from_dict(self, values: dict[str, str]) -> None:
        self.writes += 1
        self.clear()
        self.update(values)


@pytest.fixture
def bar(monkeypatch: pytest.MonkeyPatch) -> Bar:
    found = Bar()
    monkeypatch.setattr(streamlit, "query_params", found)
    return found


def test_what_is_written_reads_back(bar: Bar) -> None:
    for wanted in (BASE, Address("a/b", 'x & "y" #?=%00', 2**53 - 1, 0.0, "none"), replace(BASE, tau=1.234, seed=0)):
        write(fields(wanted))
        assert all(isinstance(v, str) for v in bar.values())
        assert parse(dict(bar), default("other")) == (wanted, [])


@pytest.mark.parametrize("tau", [0.123456789, 0.1 + 0.2, 1 / 3, 5e-324, 1e-7, 2.0, 999.9999999999999])
def test_a_link_keeps_every_digit_of_tau(bar: Bar, tau: float) -> None:
    write(fields(replace(BASE, tau=tau)))
    assert parse(dict(bar), BASE)[0].tau == tau


def test_unchanged_addresses_cause_no_traffic(bar: Bar) -> None:
    write(fields(BASE))
    write(fields(BASE))
    assert bar.writes == 1


def test_unknown_parameters_go_and_long_sentences_stay_out(bar: Bar) -> None:
    bar["utm_source"] = "x"
    write(fields(replace(BASE, text="x" * (MAX_TEXT + 1))))
    assert set(bar) == {"model", "seed", "tau", "color"}


@pytest.mark.parametrize("value", ["yes", "2", "-1", "", "1;drop", "<b>", "1" * 999])
def test_skip_is_0_or_1_and_nothing_else(value: str) -> None:
    base = default("a b .")
    found, notices = parse({"skip": value}, base)
    assert found == base and len(notices) == 1 and "skip" in notices[0]
    assert parse({"skip": "1"}, base)[0].skip and fields(parse({"skip": "1"}, base)[0])["skip"] == "1"
