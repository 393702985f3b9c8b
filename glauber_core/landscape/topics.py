"""What a sentence is about: calibrated scores of the eight topics, from its embedding (MATH section 7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float32, Float64

from glauber_core.errors import UserError
from glauber_core.landscape.embedder import Embedder
from glauber_core.landscape.projection import ASSETS

CLEAR = 0.5  # a topic is named where its score is at least this
_FOLDS = 8
_SEED = 1


@dataclass(frozen=True)
class TopicScorer:
    """Multinomial logistic regression on embeddings; the scores are probabilities among the topics.

    Attributes:
        names: T topics.
        embedder: SHA-256 of the sentence encoder it belongs to.
        weights: float64 [T, d], and ``bias`` float64 [T], the temperature of the calibration already in them.
        centres: float32 [T, d], mean embedding of each topic's sentences.
    """

    names: tuple[str, ...]
    embedder: str
    weights: Float64[np.ndarray, "T d"]
    bias: Float64[np.ndarray, " T"]
    centres: Float32[np.ndarray, "T d"]

    def scores(self, embeddings: Float32[np.ndarray, "m d"]) -> Float64[np.ndarray, "m T"]:
        """Probability of each topic, float64 [m, T], rows sum to 1."""
        from scipy.special import softmax

        return softmax(embeddings.astype(np.float64) @ self.weights.T + self.bias, axis=1)

    def clear(self, embeddings: Float32[np.ndarray, "m d"]) -> np.ndarray:
        """int64 [m]: the topic whose score is at least ``CLEAR``, else -1."""
        scores = self.scores(embeddings)
        return np.where(scores.max(axis=1, initial=0.0) >= CLEAR, scores.argmax(axis=1), -1)

    def check(self, embedder: Embedder) -> None:
        """Raises UserError if the scores belong to another sentence encoder."""
        if embedder.sha256 != self.embedder:
            raise UserError(f"These topics were fitted for another sentence encoder than {embedder.name}.")


class Quality(NamedTuple):
    """Cross-validated on sentences the scorer had not seen.

    Attributes:
        auc: T numbers, one topic against the rest.
        accuracy: share of the sentences whose own topic scores highest.
        log_loss: nats a sentence.
        calibration: expected calibration error of the highest score, ten bins of equal count.
        penalty: the inverse regularisation that was chosen.
        temperature: what the logits were divided by.
    """

    auc: list[float]
    accuracy: float
    log_loss: float
    calibration: float
    penalty: float
    temperature: float


def fit_topics(
    embeddings: Float32[np.ndarray, "m d"], labels: Sequence[str], names: Sequence[str], embedder: str
) -> tuple[TopicScorer, Quality]:
    """Fit the scorer; regularisation and calibration are chosen on out-of-fold logits.

    Args:
        embeddings: unit vectors of labelled sentences.
        labels: m of ``names``.
        names: T topics.
        embedder: SHA-256 of the encoder.

    Raises:
        UserError: fewer than 30 sentences of a topic.
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import log_softmax
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    y = np.array([list(names).index(label) for label in labels])
    if len(y) == 0 or np.bincount(y, minlength=len(names)).min() < 30:
        raise UserError("A topic needs at least 30 labelled sentences.")
    x = embeddings.astype(np.float64)
    folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=_SEED)

    def loss(logits: np.ndarray, temperature: float) -> float:
        return float(-log_softmax(logits / temperature, axis=1)[np.arange(len(y)), y].mean())

    best: tuple[float, float, float, np.ndarray] | None = None
    for penalty in (3.0, 10.0, 30.0, 100.0):
        model = LogisticRegression(C=penalty, max_iter=2_000)
        logits = cross_val_predict(model, x, y, cv=folds, method="decision_function")
        found = minimize_scalar(lambda t, z=logits: loss(z, t), bounds=(0.05, 20.0), method="bounded")
        if best is None or found.fun < best[0]:
            best = (float(found.fun), penalty, float(found.x), logits)
    assert best is not None
    value, penalty, temperature, logits = best
    fitted = LogisticRegression(C=penalty, max_iter=2_000).fit(x, y)
    scores = np.exp(log_softmax(logits / temperature, axis=1))
    centres = np.stack([embeddings[y == k].mean(axis=0) for k in range(len(names))])
    quality = Quality(
        [float(roc_auc_score(y == k, scores[:, k])) for k in range(len(names))],
        float((scores.argmax(axis=1) == y).mean()),
        value,
        _calibration(scores, y),
        penalty,
        temperature,
    )
    scorer = TopicScorer(
        tuple(names),
        embedder,
        fitted.coef_ / temperature,
        fitted.intercept_ / temperature,
        centres.astype(np.float32),
    )
    return scorer, quality


def _calibration(scores: np.ndarray, y: np.ndarray) -> float:
    top, right = scores.max(axis=1), scores.argmax(axis=1) == y
    order = np.argsort(top)
    return float(
        sum(abs(top[part].mean() - right[part].mean()) * len(part) for part in np.array_split(order, 10)) / len(y)
    )


def save(scorer: TopicScorer, folder: Path) -> None:
    """Write topics.safetensors."""
    from safetensors.numpy import save_file

    arrays = {"weights": scorer.weights, "bias": scorer.bias}
    wide = {name: np.ascontiguousarray(a, dtype=np.float64) for name, a in arrays.items()}
    about = {"embedder": scorer.embedder, "names": " ".join(scorer.names)}
    save_file(wide | {"centres": np.ascontiguousarray(scorer.centres)}, folder / "topics.safetensors", metadata=about)


@lru_cache(maxsize=1)
def frozen_topics() -> TopicScorer:
    """The shipped scorer of the built-in sentence encoder."""
    from safetensors import safe_open

    with safe_open(ASSETS / "topics.safetensors", "numpy") as file:
        about = file.metadata()
        arrays = {name: file.get_tensor(name) for name in ("weights", "bias", "centres")}
        return TopicScorer(tuple(about["names"].split()), about["embedder"], **arrays)
