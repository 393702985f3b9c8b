"""Size of the model files that come with the package."""

from __future__ import annotations

from glauber_core.models.source import ASSETS


def measure() -> dict[str, float]:
    """model_files_total_mb: everything under assets/, in MB (10^6 bytes)."""
    return {"model_files_total_mb": sum(f.stat().st_size for f in ASSETS.rglob("*") if f.is_file()) / 1e6}
