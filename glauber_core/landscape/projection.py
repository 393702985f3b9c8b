"""The axes of the map: principal components fitted once, frozen, with fixed signs (MATH section 7)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from jaxtyping import Float32, Float64

from glauber_core.errors import UserError
from glauber_core.landscape.embedder import Embedder

ASSETS = Path(__file__).resolve().parents[1] / "assets" / "landscape"
AXES = 3


@dataclass(frozen=True)
class Projection:
    """Attributes:
    embedder: SHA-256 of the sentence encoder the axes belong to.
    mean: float64 [d].
    axes: float64 [k, d], orthonormal rows, largest variance first; the entry of largest size of each is positive.
    explained: float64 [k], share of the reference sentences' variance.
    """

    embedder: str
    mean: Float64[np.ndarray, " d"]
    axes: Float64[np.ndarray, "k d"]
    explained: Float64[np.ndarray, " k"]

    def transform(self, embeddings: Float32[np.ndarray, "m d"]) -> Float64[np.ndarray, "m k"]:
        """Coordinates, float64 [m, k]. A point's do not depend on the others', but for the last bits."""
        return (embeddings.astype(np.float64) - self.mean) @ self.axes.T

    def check(self, embedder: Embedder) -> None:
        """Raises UserError if the axes belong to another sentence encoder."""
        if embedder.sha256 != self.embedder:
            raise UserError(f"These axes were fitted for another sentence encoder than {embedder.name}.")


def fit_projection(embeddings: Float32[np.ndarray, "m d"], embedder: str) -> Projection:
    """Principal components of reference sentences.

    Args:
        embeddings: m >= 4 unit vectors, not all equal.
        embedder: SHA-256 of the encoder.

    Raises:
        UserError: too few different sentences for ``AXES`` axes.
    """
    from sklearn.decomposition import PCA

    if len(np.unique(embeddings, axis=0)) <= AXES:
        raise UserError(f"A map needs at least {AXES + 1} different sentences.")
    fitted = PCA(AXES, svd_solver="full").fit(embeddings.astype(np.float64))
    axes = fitted.components_
    sign = np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])
    return Projection(embedder, fitted.mean_, axes * sign[:, None], fitted.explained_variance_ratio_)


def save(projection: Projection, folder: Path) -> None:
    """Write pca.safetensors and what it belongs to."""
    from safetensors.numpy import save_file

    arrays = {"mean": projection.mean, "axes": projection.axes, "explained": projection.explained}
    wide = {name: np.ascontiguousarray(a, dtype=np.float64) for name, a in arrays.items()}
    save_file(wide, folder / "pca.safetensors", metadata={"embedder": projection.embedder})


@lru_cache(maxsize=1)
def frozen_projection() -> Projection:
    """The shipped axes of the built-in sentence encoder, fitted on the topic sentences and the starters."""
    from safetensors import safe_open

    with safe_open(ASSETS / "pca.safetensors", "numpy") as file:
        arrays = {name: file.get_tensor(name) for name in ("mean", "axes", "explained")}
        return Projection(file.metadata()["embedder"], **arrays)


def card() -> dict[str, object]:
    """Figures of the shipped map and topics (``python -m glauber_core.landscape``)."""
    return json.loads((ASSETS / "card.json").read_text(encoding="utf-8"))
