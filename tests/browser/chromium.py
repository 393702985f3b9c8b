"""A Chromium for the browser tests: one already installed, else Playwright's own, else Debian's package.

``python -m tests.browser.chromium`` (part of ``make test``) gets one where there is none and prints its path.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
HELP = "No Chromium was found for the browser tests: install one, or set CHROMIUM to the path of yours."
_PLAYWRIGHT_PATH = (
    "from playwright.sync_api import sync_playwright\nwith sync_playwright() as p: print(p.chromium.executable_path)"
)


def works(path: str) -> bool:
    """Whether the program starts: a stub, or a browser that lacks a system library, does not."""
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and done.stdout.strip() != ""


def candidates() -> Iterator[str]:
    """Paths of browsers that may be there, best first. A path in CHROMIUM is the only one."""
    if chosen := os.environ.get("CHROMIUM"):
        yield chosen
        return
    for name in NAMES:
        if path := shutil.which(name):
            yield path
    # In a process of its own: Playwright's sync API allows only one user a thread.
    done = subprocess.run([sys.executable, "-c", _PLAYWRIGHT_PATH], capture_output=True, text=True)
    if path := done.stdout.strip():
        yield path


def find() -> str | None:
    """Path of the first browser that starts, or None."""
    return next((path for path in candidates() if works(path)), None)


def install() -> None:
    """Try Playwright's download, then as root Debian's package; ``find`` tells whether one of them worked."""
    _try([sys.executable, "-m", "playwright", "install", "--no-shell", "chromium"])
    if find() is None and hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        _try(["apt-get", "update"])
        _try(["apt-get", "install", "--yes", "--no-install-recommends", "chromium"])


def _try(command: list[str]) -> None:
    print("Looking for a Chromium:", " ".join(command), flush=True)
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    try:
        subprocess.run(command, stdin=subprocess.DEVNULL, env=environment, timeout=900)
    except (OSError, subprocess.TimeoutExpired) as problem:
        print(problem)


def main() -> int:
    """Make sure that there is a browser; 0 when there is."""
    if find() is None and not os.environ.get("CHROMIUM"):
        install()
    path = find()
    print(f"Browser tests use {path}" if path else HELP)
    return 0 if path else 1


if __name__ == "__main__":
    sys.exit(main())
