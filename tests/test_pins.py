"""The tested versions (requirements*.txt) lie within what the package declares (pyproject.toml)."""

from __future__ import annotations

import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent


def _pins(name: str) -> dict[str, str]:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    parsed = [Requirement(line) for line in lines if line and not line.startswith(("#", "-r"))]
    pins = {canonicalize_name(r.name): str(r.specifier) for r in parsed}
    assert all(pin.startswith("==") for pin in pins.values())
    return {package: pin.removeprefix("==") for package, pin in pins.items()}


def test_pins_lie_within_the_declared_ranges() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = project["dependencies"] + sum(project["optional-dependencies"].values(), [])
    ranges = {canonicalize_name(r.name): r.specifier for r in map(Requirement, declared)}
    app, tests = _pins("requirements.txt"), _pins("requirements-test.txt")
    extras = {canonicalize_name(Requirement(r).name) for r in sum(project["optional-dependencies"].values(), [])}
    pins = {name: pin for name, pin in tests.items() if name in extras} | app
    assert ranges.keys() == pins.keys()  # all of them, and the app needs nothing else
    assert app.keys() & tests.keys() == set()
    assert [name for name, allowed in ranges.items() if pins[name] not in allowed] == []


def test_test_packages_are_pinned_and_bring_the_app() -> None:
    assert "pytest" in _pins("requirements-test.txt")
    assert "-r requirements.txt" in (ROOT / "requirements-test.txt").read_text(encoding="utf-8").splitlines()
