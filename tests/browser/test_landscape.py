"""The landscape page in a real browser: a chain runs, a basin lights up, and a click opens the sentence."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

WAIT = 60_000  # ms
COLD = "tau=0&horizon=1000&starts=health.sport"


@pytest.fixture
def base(run_app: Callable[..., str]) -> str:
    return run_app("app.py")


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def settled(page: Page) -> None:
    expect(page.locator("[data-test-script-state=notRunning]")).to_have_count(1, timeout=WAIT)


def open_page(page: Page, url: str) -> Locator:
    page.goto(url)
    chart = page.get_by_test_id("landscape")
    expect(chart).to_be_visible(timeout=WAIT)
    settled(page)
    return chart


def run_to_the_end(page: Page, chart: Locator) -> None:
    button(page, "run").click()
    expect(button(page, "go on")).to_be_disabled(timeout=WAIT)
    settled(page)
    expect(chart).to_have_attribute("data-lit", re.compile(r"\d"), timeout=WAIT)


def place_of(chart: Locator, chain: int) -> tuple[float, float]:
    """Where a chain's head is drawn, in pixels of the map."""
    x, y = json.loads(chart.get_attribute("data-heads") or "[]")[chain]
    return x, y


def test_a_chain_runs_a_basin_lights_up_and_a_click_opens_the_sentence(page: Page, base: str) -> None:
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    chart = open_page(page, f"{base}/landscape?{COLD}")
    expect(chart.locator(".note")).to_contain_text("Press run")
    run_to_the_end(page, chart)
    first = page.get_by_test_id("landscape-chain-0")
    expect(first).to_contain_text(re.compile(r"basin \d+.*frozen"))
    expect(page.get_by_role("tab", name="ribbon")).to_be_visible()
    x, y = place_of(chart, 0)
    canvas = page.get_by_test_id("landscape-map")
    canvas.hover(position={"x": x, "y": y})
    tip = page.get_by_role("tooltip").filter(has_text="basin")
    expect(tip).to_contain_text("visited by", timeout=WAIT)
    named = tip.locator("div").first.inner_text()
    canvas.click(position={"x": x, "y": y})
    shown = page.locator(".st-key-l_selected .say.note")
    expect(shown).to_be_visible(timeout=WAIT)
    # Another sentence may lie on the same spot; what the pointer named is what was opened.
    expect(shown).to_have_text(named)
    link = page.get_by_role("link", name="open in the live page")
    with page.context.expect_page() as opened:
        link.click()
    live = opened.value
    expect(live.get_by_role("heading", name="Live chain")).to_be_visible(timeout=WAIT)
    expect(live.get_by_test_id("tok-0-0")).to_contain_text(named.split()[0], timeout=WAIT)
    with page.expect_download() as saved:
        chart.get_by_role("button", name="save").click()
    assert saved.value.suggested_filename == "landscape.png"
    assert saved.value.path().read_bytes()[:4] == b"\x89PNG"
    assert errors == []


def test_the_view_stays_and_the_page_comes_back_whole(page: Page, base: str) -> None:
    chart = open_page(page, f"{base}/landscape?{COLD}")
    run_to_the_end(page, chart)
    drawn = chart.get_attribute("data-drawn")
    page.get_by_role("link", name="Live chain").click()
    expect(page.get_by_role("heading", name="Live chain")).to_be_visible(timeout=WAIT)
    settled(page)
    page.get_by_role("link", name="Landscape").click()
    expect(page.get_by_test_id("landscape")).to_have_attribute("data-drawn", drawn or "", timeout=WAIT)
    expect(button(page, "go on")).to_be_disabled(timeout=WAIT)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_and_a_projector(page: Page, base: str, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    for width, height in ((1280, 720), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        chart = open_page(page, f"{base}/landscape?{COLD}")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        box = page.get_by_test_id("landscape-map").bounding_box()
        assert box is not None and box["width"] >= 0.5 * min(width, 700) and box["x"] + box["width"] <= width
        if width == 1280:
            assert box["y"] + box["height"] <= height  # the whole map without scrolling
        expect(chart).to_be_visible()


def test_a_hostile_link_shows_sentences_and_a_clean_address(page: Page, base: str) -> None:
    open_page(page, f"{base}/landscape?tau=NaN&starts=<script>&horizon=-1&color=%00&model=../../etc")
    for words in ("temperature", "starts", "number of steps", "colouring", "model"):
        expect(page.locator(".say.notice").filter(has_text=words)).to_have_count(1, timeout=WAIT)
    expect(page).not_to_have_url(re.compile("NaN|script|etc"))
