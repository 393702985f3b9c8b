"""Where sentences lie: the process's embedder, the map's axes and the topics, behind one small interface."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from glauber_core.landscape.embedder import EmbeddingCache, SentenceEmbedder
from glauber_core.landscape.projection import Projection, frozen_projection
from glauber_core.landscape.topics import frozen_topics
from glauber_core.landscape.umap_map import UmapMap


class Plane(NamedTuple):
    """Attributes:
    axes: which map, ``PCA`` or ``UMAP``.
    xy: float64 [S, 2].
    topic: int [S], -1 where none is clear.
    scores: float64 [S, topics].
    """

    axes: str
    xy: np.ndarray
    topic: np.ndarray
    scores: np.ndarray


class Landmark(NamedTuple):
    """A topic's name where its sentences lie."""

    name: str
    x: float
    y: float


class Maps:
    """Thread-safe; one a process, shared by all visitors."""

    def __init__(self) -> None:
        self._embedder, self._cache = SentenceEmbedder(), EmbeddingCache()
        self.axes: Projection = frozen_projection()
        self._topics = frozen_topics()
        self.axes.check(self._embedder)
        self._topics.check(self._embedder)
        self.topics = self._topics.names
        self.landmarks = [
            Landmark(name, float(x), float(y))
            for name, (x, y) in zip(self.topics, self.axes.transform(self._topics.centres)[:, :2], strict=True)
        ]

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Unit vectors, float32 [m, d]; a sentence any visitor's chain has met before costs nothing."""
        return self._cache.embed(self._embedder, texts)

    def plane(self, embeddings: np.ndarray, before: Plane | None, umap: UmapMap | None = None) -> Plane:
        """Places and topics of S states; those that ``before`` holds stay what they were.

        Args:
            embeddings: float32 [S, d].
            before: of the first of these states, on the same axes.
            umap: the map in use instead of the principal components.
        """
        known = 0 if before is None else len(before.xy)
        new = embeddings[known:]
        if before is not None and len(new) == 0:
            return before
        scores = self._topics.scores(new)
        if umap is None:
            xy = self.axes.transform(new)[:, :2]
        else:
            xy = umap.xy if before is None and len(new) == len(umap.xy) else umap.transform(new)
        found = Plane("PCA" if umap is None else umap.axes, xy, self._topics.clear(new), scores)
        if before is None:
            return found
        joined = (np.concatenate(pair) for pair in zip(before[1:], found[1:], strict=True))
        return Plane(found.axes, *joined)
