"""What the tests of the components do with components_app.py."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

APP = "tests/browser/components_app.py"


def updates(page: Page) -> int:
    return int(page.get_by_test_id("stage").get_attribute("data-updates") or 0)


def step(page: Page) -> int:
    return int(page.get_by_test_id("strip-0").get_attribute("data-step") or 0)


def events(page: Page) -> str:
    return page.get_by_text(re.compile(r"^events ")).inner_text()


def told(page: Page, what: str) -> None:
    expect(page.get_by_text(re.compile(r"^events "))).to_contain_text(what)


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def rest(page: Page) -> None:
    """Wait until the page's script has run to its end: nothing moves under the pointer any more."""
    expect(page.locator("[data-test-script-state=notRunning]")).to_have_count(1, timeout=30_000)


def settle(page: Page, last: int) -> None:
    """Wait until the strip shows a step and the page is at rest."""
    expect(page.get_by_test_id("strip-0")).to_have_attribute("data-step", str(last))
    rest(page)


def hold(page: Page) -> None:
    """From now on the page's clock, installed before it was opened, moves only in ``drive``."""
    page.clock.pause_at(page.evaluate("Date.now()") + 1000)


def drive(page: Page, done: Callable[[], bool], ms: int = 20) -> None:
    """Move the page's clock on in small pieces, so that each of its timers is on time, however busy the machine is."""
    for _ in range(3000):
        if done():
            return
        page.clock.run_for(ms)
        page.wait_for_timeout(5)  # of the machine's time: for the server's answer
    raise AssertionError("the page never got there")
