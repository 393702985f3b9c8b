"""The map's axes, UMAP, and the topics."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from glauber_core.errors import UserError
from glauber_core.landscape.embedder import SentenceEmbedder
from glauber_core.landscape.projection import card, fit_projection, frozen_projection
from glauber_core.landscape.topic_sentences import SENTENCES
from glauber_core.landscape.topics import fit_topics, frozen_topics
from glauber_core.landscape.umap_map import UmapMap
from glauber_core.starters import STARTERS, TOPICS
from tests.conftest import ROOT
from tests.landscape.test_embedder import Counting

LABELLED = [(name, text) for name in TOPICS for text in SENTENCES[name]]


@pytest.fixture(scope="module")
def vectors(embedder: SentenceEmbedder) -> np.ndarray:
    return embedder([text for _, text in LABELLED])


@pytest.fixture(scope="module")
def starters(embedder: SentenceEmbedder) -> np.ndarray:
    return embedder([s.text for s in STARTERS])


def test_sentences_of_the_topics_are_many_different_and_no_starters() -> None:
    texts = [text for _, text in LABELLED]
    assert list(SENTENCES) and set(SENTENCES) == set(TOPICS)
    assert all(len(sentences) >= 30 for sentences in SENTENCES.values())
    assert len(set(texts)) == len(texts) and not set(texts) & {s.text for s in STARTERS}
    assert all(text == text.lower() and text[-2:] in (" .", " ?") for text in texts)


def test_shipped_axes_are_those_of_a_refit(vectors: np.ndarray, starters: np.ndarray) -> None:
    frozen = frozen_projection()
    again = fit_projection(np.concatenate([vectors, starters]), frozen.embedder)
    np.testing.assert_allclose(again.axes, frozen.axes, atol=1e-4)
    np.testing.assert_allclose(frozen.axes @ frozen.axes.T, np.eye(3), atol=1e-10)
    largest = frozen.axes[np.arange(3), np.abs(frozen.axes).argmax(axis=1)]
    assert (largest > 0).all() and list(frozen.explained) == sorted(frozen.explained, reverse=True)


def test_a_point_stays_where_it_is_whatever_comes_with_it(vectors: np.ndarray) -> None:
    frozen = frozen_projection()
    whole = frozen.transform(vectors)
    parts = np.concatenate([frozen.transform(vectors[:7]), frozen.transform(vectors[7:])])
    np.testing.assert_allclose(whole, parts, atol=1e-12)


def test_axes_and_topics_belong_to_their_encoder(embedder: SentenceEmbedder) -> None:
    frozen_projection().check(embedder)
    frozen_topics().check(embedder)

    for frozen in (frozen_projection(), frozen_topics()):
        with pytest.raises(UserError, match="another sentence encoder"):
            frozen.check(Counting())


def test_a_map_of_too_few_sentences_is_refused(vectors: np.ndarray) -> None:
    with pytest.raises(UserError):
        fit_projection(np.repeat(vectors[:2], 10, axis=0), "")


def test_topics_are_told_apart_on_unseen_sentences(vectors: np.ndarray, starters: np.ndarray) -> None:
    labels = [name for name, _ in LABELLED]
    _, quality = fit_topics(vectors, labels, TOPICS, "")
    assert min(quality.auc) > 0.95 and quality.accuracy > 0.85 and quality.calibration < 0.06
    rng = np.random.default_rng(1)
    _, chance = fit_topics(vectors, list(rng.permutation(labels)), TOPICS, "")
    assert max(chance.auc) < 0.75 and chance.accuracy < 0.3  # so the bounds above can be missed
    own = [s for s in STARTERS if s.topic in TOPICS]
    clear = frozen_topics().clear(starters[: len(own)])
    right = [TOPICS[k] == s.topic for k, s in zip(clear, own, strict=True) if k >= 0]
    assert len(right) >= 18 and np.mean(right) > 0.85


def test_scores_are_probabilities_and_the_card_is_theirs(vectors: np.ndarray) -> None:
    scorer = frozen_topics()
    scores = scorer.scores(vectors)
    np.testing.assert_allclose(scores.sum(axis=1), 1)
    assert scorer.names == TOPICS and scorer.centres.shape == (8, 384)
    background = card()["background"]
    assert isinstance(background, dict) and len(background) == 5
    for figures in background.values():
        assert set(figures["share_clear"]) == set(TOPICS)
        assert sum(figures["mean_score"].values()) == pytest.approx(1, abs=1e-3)


def test_too_few_sentences_of_a_topic_are_refused(vectors: np.ndarray) -> None:
    with pytest.raises(UserError, match="30"):
        fit_topics(vectors[:40], [name for name, _ in LABELLED[:40]], TOPICS, "")


# ---- UMAP -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 5, 14])
def test_few_points_fall_back_with_a_notice(count: int, vectors: np.ndarray) -> None:
    few = UmapMap(vectors[:count], frozen_projection())
    assert few.axes == "PCA" and few.notice
    np.testing.assert_array_equal(few.xy, frozen_projection().transform(vectors[:count])[:, :2])


def test_duplicates_fall_back_or_lie_on_one_place(vectors: np.ndarray) -> None:
    same = UmapMap(np.repeat(vectors[:3], 20, axis=0), frozen_projection())
    assert same.axes == "PCA" and np.isfinite(same.xy).all()
    some = np.concatenate([vectors[:16], vectors[:16]])
    twice = UmapMap(some, frozen_projection())
    assert twice.axes == "UMAP" and np.isfinite(twice.xy).all() and twice.xy.shape == (32, 2)
    np.testing.assert_array_equal(twice.xy[:16], twice.xy[16:])


def test_umap_is_the_same_again_and_earlier_points_stay(vectors: np.ndarray) -> None:
    one = UmapMap(vectors[:60], frozen_projection(), seed=3)
    before = one.xy.copy()
    new = one.transform(vectors[60:70])
    assert new.shape == (10, 2) and np.isfinite(new).all()
    np.testing.assert_array_equal(one.xy, before)
    np.testing.assert_array_equal(UmapMap(vectors[:60], frozen_projection(), seed=3).xy, before)
    assert one.transform(vectors[:0]).shape == (0, 2)


TWO_AT_ONCE = """
import threading
import numpy as np
from glauber_core.landscape.projection import frozen_projection
from glauber_core.landscape.umap_map import UmapMap
rng = np.random.default_rng(0)
points = rng.normal(size=(80, 384)).astype(np.float32)
points /= np.linalg.norm(points, axis=1, keepdims=True)
found = []
def fit(seed):
    one = UmapMap(points, frozen_projection(), seed)
    found.append(one.transform(points[:5]).shape)
threads = [threading.Thread(target=fit, args=(k,)) for k in range(3)]
[t.start() for t in threads]
[t.join() for t in threads]
print(found)
"""


def test_visitors_who_fit_at_the_same_time_do_not_kill_the_process() -> None:
    command = [sys.executable, "-c", TWO_AT_ONCE]
    env = {"NUMBA_THREADING_LAYER": "workqueue", "PATH": "/usr/bin:/bin", "HOME": "/tmp"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, env=env)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[(5, 2), (5, 2), (5, 2)]"
