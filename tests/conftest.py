"""Fixtures of the browser tests: a real Chromium, a page in it, and Streamlit servers to open."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser import chromium

ROOT = Path(__file__).resolve().parent.parent
ARTIFACTS = ROOT / "test-artifacts"
CHROMIUM_ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    # The app must work without a network, so the tests' browser has none.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
]
START_LIMIT_S = 60
LOG_LINES = 60

os.environ["HF_HUB_OFFLINE"] = "1"  # no test downloads anything, in this process or in a server


@dataclass
class Server:
    """One running ``streamlit run``."""

    process: subprocess.Popen[bytes]
    log: Path
    url: str


SERVERS = pytest.StashKey[dict[object, Server]]()
CONSOLE = pytest.StashKey[list[str]]()
FAILED = pytest.StashKey[bool]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[SERVERS] = {}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of tests/browser, and run them last: the quick ones speak first."""
    for item in items:
        if "browser" in item.path.relative_to(ROOT).parts:
            item.add_marker("browser")
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the browser's console and the servers' logs to the report of a failed test."""
    report = yield
    if report.when == "call" or report.failed:
        item.stash[FAILED] = report.failed
    if report.failed:
        if console := item.stash.get(CONSOLE, []):
            report.sections.append(("browser console", "\n".join(console[-LOG_LINES:])))
        if "run_app" in getattr(item, "fixturenames", ()):
            for server in item.config.stash[SERVERS].values():
                lines = server.log.read_text(errors="replace").splitlines()[-LOG_LINES:]
                report.sections.append((f"log of {server.url}", "\n".join(lines)))
    return report


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """Path of a Chromium; its absence is a failure, never a skip."""
    path = chromium.find()
    if path is None:
        pytest.fail(chromium.HELP)
    return path


@pytest.fixture(scope="session")
def browser(chromium_path: str) -> Iterator[Browser]:
    """One headless Chromium for the session."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path, args=CHROMIUM_ARGS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """An empty page, 1280 x 720, in a context of its own; a failed test leaves a picture in test-artifacts/."""
    console = request.node.stash.setdefault(CONSOLE, [])
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    page = context.new_page()
    page.on("console", lambda message: console.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: console.append(f"uncaught: {error}"))
    yield page
    if request.node.stash.get(FAILED, False):
        ARTIFACTS.mkdir(exist_ok=True)
        name = re.sub(r"[^\w.-]+", "-", request.node.nodeid.removeprefix("tests/"))
        page.screenshot(path=ARTIFACTS / f"{name}.png")
    context.close()


@pytest.fixture(scope="session")
def run_app(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., str]]:
    """``run_app(script, env=None)``: the URL of a server for the script; one server per script and env a session."""
    servers = request.config.stash[SERVERS]

    def run(script: str | Path, env: Mapping[str, str] | None = None) -> str:
        path = (ROOT / script).resolve()
        key = (path, frozenset((env or {}).items()))
        if key not in servers or servers[key].process.poll() is not None:
            servers[key] = _start(path, env or {}, tmp_path_factory.mktemp("server") / "log.txt")
            _wait(servers[key])
        return servers[key].url

    yield run
    for server in servers.values():
        server.process.terminate()
    for server in servers.values():
        try:
            server.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            server.process.kill()
            server.process.wait()


def _start(script: Path, env: Mapping[str, str], log: Path) -> Server:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.headless", "true"]
    command += ["--server.address", "127.0.0.1", "--server.port", str(port)]
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"} | dict(env)
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT)
    return Server(process, log, f"http://127.0.0.1:{port}")


def _wait(server: Server) -> None:
    """Return when the server answers; fail with its log when it ends or takes too long."""
    deadline = time.monotonic() + START_LIMIT_S
    while server.process.poll() is None and time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{server.url}/_stcore/health", timeout=2) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.1)
    server.process.kill()
    server.process.wait()
    pytest.fail(f"The app did not start:\n{server.log.read_text(errors='replace')}")
