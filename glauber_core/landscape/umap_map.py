"""UMAP of the visited sentences, on request: fitted once, after which no point moves (MATH section 7)."""

from __future__ import annotations

import threading
import warnings
from typing import Any

import numpy as np
from jaxtyping import Float32, Float64

from glauber_core.landscape.projection import Projection

LEAST = 15  # different sentences below which UMAP has nothing to go by
NEIGHBOURS = 15
_TURN = threading.Lock()  # numba's workqueue layer kills a process that enters it from two threads (numba issue 8563)


class UmapMap:
    """Two coordinates of each sentence.

    Args:
        embeddings: float32 [m, d], unit vectors.
        fallback: axes to use where there are too few different sentences.
        seed: the same seed and sentences give the same map.

    Attributes:
        xy: float64 [m, 2], finite; of the sentences it was fitted to.
        notice: what should be said about the map; empty if all is well.
    """

    def __init__(self, embeddings: Float32[np.ndarray, "m d"], fallback: Projection, seed: int = 0) -> None:
        distinct, index = np.unique(embeddings, axis=0, return_inverse=True)
        self._fallback, self._fitted, self.notice = fallback, None, ""
        if len(distinct) < LEAST:
            self.notice = f"UMAP needs at least {LEAST} different sentences; showing principal components."
            self.xy: Float64[np.ndarray, "m 2"] = fallback.transform(embeddings)[:, :2]
            return
        self._fitted = _fit(distinct, seed)
        self.xy = np.asarray(self._fitted.embedding_, dtype=np.float64)[index.reshape(-1)]

    @property
    def axes(self) -> str:
        """``UMAP``, or ``PCA`` where it fell back."""
        return "PCA" if self._fitted is None else "UMAP"

    def transform(self, embeddings: Float32[np.ndarray, "m d"]) -> Float64[np.ndarray, "m 2"]:
        """Coordinates of further sentences, float64 [m, 2]; those of the fit stay where they are.

        UMAP places a batch jointly, so a sentence's place depends on what it comes with: keep what was returned.
        """
        if self._fitted is None or len(embeddings) == 0:
            return self._fallback.transform(embeddings)[:, :2]
        with _TURN, _quiet():
            return np.asarray(self._fitted.transform(embeddings), dtype=np.float64)


def _fit(points: Float32[np.ndarray, "m d"], seed: int) -> Any:
    with _TURN, _quiet():
        from umap import UMAP  # seconds of compiling: only when it is asked for

        reducer = UMAP(n_neighbors=NEIGHBOURS - 1, min_dist=0.1, metric="cosine", random_state=seed, n_jobs=1)
        return reducer.fit(points)


class _quiet(warnings.catch_warnings):
    """UMAP and numba warn about what is meant here: one job, a small graph, and their own deprecations."""

    def __enter__(self) -> None:
        super().__enter__()
        warnings.simplefilter("ignore")
