"""The app asks nothing of any other machine."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page


def test_first_page_loads_everything_from_its_own_server(page: Page, run_app: Callable[..., str]) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    url = run_app("app.py")
    page.goto(url)
    page.get_by_role("heading", name="Live chain").wait_for(timeout=60_000)
    page.wait_for_load_state("networkidle")
    icon = page.locator("link[rel~=icon]").first.get_attribute("href") or ""
    own = (url, "data:", "blob:")
    assert icon.startswith("data:image/svg")
    assert [address for address in asked if not address.startswith(own)] == []
    assert len(asked) > 5 and page.title() == "Glauber Explorer"
