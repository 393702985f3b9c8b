"""The mixing page in a real browser: two chains run, agree word by word, and meet."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

WAIT = 60_000  # ms


@pytest.fixture
def base(run_app: Callable[..., str]) -> str:
    return run_app("app.py")


def test_two_chains_meet_and_stay_together(page: Page, base: str) -> None:
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{base}/mixing?tau=4&n=8&seed=5")
    pair = page.get_by_test_id("coupling")
    expect(pair).to_have_attribute("data-distance", re.compile("[5-8]"), timeout=WAIT)
    height = page.get_by_test_id("coupling").locator(".strip").bounding_box()
    page.get_by_role("button", name="run", exact=True).click()
    expect(pair.locator(".said")).to_contain_text("They met after", timeout=WAIT)
    expect(pair).to_have_attribute("data-distance", "0")
    expect(pair.locator(".column.same")).to_have_count(8)
    expect(pair.locator("svg .meet text")).to_have_text("they meet")
    after = pair.locator(".strip").bounding_box()
    assert height is not None and after is not None and after["height"] >= height["height"]
    page.get_by_role("button", name="new pair").click()
    expect(pair).to_have_attribute("data-step", "0", timeout=WAIT)
    expect(pair.locator("svg .meet text")).to_have_count(0)
    assert errors == []


def test_the_other_views_and_a_phone(page: Page, base: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{base}/mixing")
    expect(page.get_by_test_id("coupling")).to_be_visible(timeout=WAIT)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for name, words in (("phase diagram", "Median coupling time"), ("physics check", "A magnet whose mixing is known")):
        page.get_by_text(name, exact=True).click()
        expect(page.get_by_text(words)).to_be_visible(timeout=WAIT)
        expect(page.locator(".js-plotly-plot").first).to_be_visible(timeout=WAIT)
        expect(page.get_by_test_id("stException")).to_have_count(0)
