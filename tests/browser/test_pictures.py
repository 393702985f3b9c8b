"""The README's pictures, taken from the running app; ``make pictures`` puts them into tests/pictures/."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.test_live import at_step, button, open_live, settled
from tests.conftest import ARTIFACTS

PICTURES = ARTIFACTS / "pictures"


@pytest.fixture(params=["light", "dark"])
def wall(request: pytest.FixtureRequest, browser: Browser) -> Page:
    """A page as on a projector, in one of the two colour schemes."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    context = browser.new_context(viewport={"width": 1280, "height": 720}, color_scheme=request.param)
    request.addfinalizer(context.close)
    return context.new_page()


def keep(page: Page, name: str) -> None:
    scheme = "dark" if page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") else "light"
    data = page.screenshot(path=PICTURES / f"{name}-{scheme}.png")
    assert len(data) > 20_000, "the picture is all but empty"


def test_picture_of_a_cold_chain(wall: Page, run_app: Callable[..., str]) -> None:
    open_live(wall, run_app("app.py") + "?tau=0.3&color=probability&seed=3")
    for sweep in range(1, 9):
        button(wall, "sweep").click()
        at_step(wall, 15 * sweep)
        settled(wall)
    wall.get_by_test_id("tok-0-4").click()
    expect(wall.get_by_test_id("cond-0")).to_be_visible(timeout=20_000)
    wall.mouse.move(5, 5)
    wall.wait_for_timeout(1500)
    keep(wall, "cold")


def test_picture_of_four_temperatures(wall: Page, run_app: Callable[..., str]) -> None:
    open_live(wall, run_app("app.py") + "?tau=0.3&color=age&seed=3")
    button(wall, "compare").click()
    for chain in range(1, 4):
        button(wall, "add chain").click()
        expect(wall.get_by_test_id(f"tok-{chain}-0")).to_be_visible(timeout=20_000)
        settled(wall)
    wall.keyboard.press("Escape")
    for sweep in range(1, 4):
        button(wall, "sweep").click()
        at_step(wall, 15 * sweep)
        settled(wall)
    wall.mouse.move(5, 5)
    wall.wait_for_timeout(1500)
    keep(wall, "compare")
