"""Fixtures of the components' tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.app import APP, rest


@pytest.fixture
def show(page: Page, run_app: Callable[..., str]) -> Iterator[Callable[..., Page]]:
    """``show(query)``: the app, drawn; no error may reach the page while the test runs."""
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))

    def open_app(query: str = "") -> Page:
        page.goto(f"{run_app(APP)}/?{query}")
        expect(page.get_by_test_id("tok-0-0")).to_be_visible(timeout=30_000)
        if "alone" not in query:
            for name in ("conditional", "timelines"):
                expect(page.get_by_test_id(name)).to_be_visible(timeout=30_000)
        rest(page)
        return page

    yield open_app
    assert errors == []
