"""In a real browser: seconds to a sentence on the screen and to its first move, and moves shown a second."""

from __future__ import annotations

import socket
import statistics
import subprocess
import sys
import time
import urllib.request

from playwright.sync_api import Page, sync_playwright

from tests.browser import chromium
from tests.conftest import CHROMIUM_ARGS, ROOT

VISITS = 5


def measure() -> dict[str, float]:
    """first_page_s, first_move_s, shown_updates_per_s: medians over new visitors of a server that holds the model."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless", "true"]
    server = subprocess.Popen(
        [*command, "--server.port", str(port)], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        url = f"http://localhost:{port}"
        _wait(f"{url}/_stcore/health")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium.find(), args=CHROMIUM_ARGS)
            visits = []
            for _ in range(VISITS + 1):
                page = browser.new_context(viewport={"width": 1280, "height": 720}).new_page()
                visits.append(_visit(page, url))
                page.context.close()
            browser.close()
    finally:
        server.terminate()
        server.wait(timeout=10)
    print(f"first visitor of a fresh server (loads the model): page {visits[0][0]:.1f} s, move {visits[0][1]:.1f} s")
    names = ("first_page_s", "first_move_s", "shown_updates_per_s")
    return {name: statistics.median(v[k] for v in visits[1:]) for k, name in enumerate(names)}


def _wait(url: str) -> None:
    for _ in range(300):
        try:
            urllib.request.urlopen(url, timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("the server did not start")


def _visit(page: Page, url: str) -> tuple[float, float, float]:
    start = time.perf_counter()
    page.goto(url)
    page.get_by_test_id("tok-0-0").wait_for(timeout=60_000)
    shown = time.perf_counter() - start
    page.get_by_role("button", name="play").click()
    stage = page.get_by_test_id("stage")
    handle = stage.element_handle()
    page.wait_for_function("(stage) => Number(stage.dataset.updates) > 0", arg=handle)
    moved = time.perf_counter() - start
    page.wait_for_timeout(1000)
    first, begin = int(stage.get_attribute("data-updates") or 0), time.perf_counter()
    page.wait_for_timeout(4000)
    rate = (int(stage.get_attribute("data-updates") or 0) - first) / (time.perf_counter() - begin)
    return shown, moved, rate
