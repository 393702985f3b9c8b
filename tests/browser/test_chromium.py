"""The finder of a browser: what it takes and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

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


def test_real_browser_draws_a_page(page) -> None:
    page.set_content("<h1>ready</h1>")
    assert page.inner_text("h1") == "ready"
