"""The core never imports the user interface, imports quickly, has its shapes checked, and files stay short."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jaxtyping
import pytest
import torch

from glauber_core.kernels import log_conditional

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted(p for top in ("glauber_core", "pages", "tests") for p in (ROOT / top).rglob("*.py"))

# Imports a package, with "all" every module below it too, and prints the top-level names that came along.
PROBE = """
import importlib, json, pkgutil, sys
name, depth = sys.argv[1:]
package = importlib.import_module(name)
if depth == "all":
    for found in pkgutil.walk_packages(package.__path__, name + "."):
        if not found.name.endswith("__main__"):  # a script: importing it would run it
            importlib.import_module(found.name)
print(json.dumps(sorted({m.partition(".")[0] for m in sys.modules})))
"""


def imported(package: str, depth: str, folder: Path = ROOT) -> set[str]:
    """Top-level modules in memory after importing ``package`` from ``folder`` in a new process."""
    command = [sys.executable, "-c", PROBE, package, depth]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_core_never_imports_streamlit() -> None:
    modules = imported("glauber_core", "all")
    assert "torch" in modules  # the probe did import the modules, not only the empty package
    assert "streamlit" not in modules


@pytest.mark.parametrize("path", sorted((ROOT / "glauber_core").rglob("__main__.py")), ids=lambda p: p.parent.name)
def test_scripts_of_the_core_do_not_name_streamlit(path: Path) -> None:
    assert "streamlit" not in path.read_text(encoding="utf-8")


def test_importing_the_core_leaves_slow_packages_alone() -> None:
    assert not imported("glauber_core", "top") & {"umap", "numba", "sentence_transformers", "plotly", "streamlit"}


def test_probe_sees_a_forbidden_import_in_a_submodule(tmp_path: Path) -> None:
    package = tmp_path / "leaky"
    (package / "deep").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "deep" / "__init__.py").write_text("")
    (package / "deep" / "page.py").write_text("import streamlit\n")
    assert "streamlit" in imported("leaky", "all", tmp_path)
    assert "streamlit" not in imported("leaky", "top", tmp_path)


def test_every_folder_of_the_core_is_a_package() -> None:
    folders = {path.parent for path in (ROOT / "glauber_core").rglob("*.py")}
    assert [folder.name for folder in folders if not (folder / "__init__.py").exists()] == []  # or the wheel lacks it


def test_a_wrong_shape_is_refused_while_tests_run() -> None:
    with pytest.raises(jaxtyping.TypeCheckError):
        log_conditional(torch.zeros(3, 4), torch.ones(2, dtype=torch.float64))


def test_files_stay_short() -> None:
    lengths = {str(path.relative_to(ROOT)): _lines(path) for path in SOURCES}
    assert lengths and {name: lines for name, lines in lengths.items() if lines > 400} == {}


def test_app_is_only_a_router() -> None:
    assert _lines(ROOT / "app.py") <= 40


def _lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())
