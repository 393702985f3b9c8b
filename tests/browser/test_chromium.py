"""The finder of a browser: what it takes and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser import chromium


def _program(path: Path, body: str) -> str:
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


def test_named_browser_is_taken_and_only_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = _program(tmp_path / "mine", "echo Chromium 1")
    monkeypatch.setenv("CHROMIUM", mine)
    assert chromium.find() == mine
    monkeypatch.setenv("CHROMIUM", str(tmp_path / "absent"))
    assert chromium.find() is None


def test_stub_on_the_path_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _program(tmp_path / "chromium", "echo install the snap first >&2; exit 1")
    real = _program(tmp_path / "google-chrome", "echo Chrome 1")
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert chromium.find() == real


@pytest.mark.parametrize(("user", "found"), [(0, True), (1000, False)])
def test_debian_package_is_the_last_resort_and_for_root_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, user: int, found: bool
) -> None:
    asked: list[str] = []

    def answer(command: list[str]) -> None:
        asked.append(" ".join(command[:2]))
        if asked[-1] == "apt-get install":
            _program(tmp_path / "chromium", "echo Chromium 1")

    _program(tmp_path / "apt-get", "exit 1")
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    monkeypatch.setattr("os.geteuid", lambda: user, raising=False)
    monkeypatch.setattr(chromium, "_try", answer)
    assert chromium.main() == (0 if found else 1)
    assert asked[0].endswith("-m") and asked[1:] == (["apt-get update", "apt-get install"] if found else [])


def test_real_browser_draws_a_page(page: Page) -> None:
    page.set_content("<h1>ready</h1>")
    assert page.inner_text("h1") == "ready"
