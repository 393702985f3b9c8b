"""The built-in sentence encoder, opened once."""

from __future__ import annotations

import pytest

from glauber_core.landscape.embedder import SentenceEmbedder


@pytest.fixture(scope="session")
def embedder() -> SentenceEmbedder:
    return SentenceEmbedder()
