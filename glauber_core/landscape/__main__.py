"""Make the shipped map and topics anew, with the figures of their card.

    python -m glauber_core.landscape --train <folder> --heldout <folder>

The folders hold text files, a sentence a line, ``.txt`` or ``.txt.gz``. Writes into glauber_core/assets/landscape.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from glauber_core.landscape import projection, topics
from glauber_core.landscape.embedder import SentenceEmbedder
from glauber_core.landscape.projection import ASSETS, fit_projection
from glauber_core.landscape.topic_sentences import SENTENCES
from glauber_core.landscape.topics import CLEAR, TopicScorer, fit_topics
from glauber_core.models import load
from glauber_core.runners import run
from glauber_core.starters import STARTERS, TOPICS
from glauber_core.training.data import read_lines

SAMPLE, HOT_TAU, HOT_SWEEPS, HOT_CHAINS = 5_000, 3.0, 20, 4


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m glauber_core.landscape", description=__doc__.split("\n")[0])
    parser.add_argument("--train", type=Path, required=True, help="folder of the training text")
    parser.add_argument("--heldout", type=Path, required=True, help="folder of held-out text")
    parser.add_argument("--out", type=Path, default=ASSETS)
    arguments = parser.parse_args()
    embed = SentenceEmbedder()
    labelled = [(name, text) for name in TOPICS for text in SENTENCES[name]]
    texts, labels = [text for _, text in labelled], [name for name, _ in labelled]
    vectors = embed(texts)
    axes = fit_projection(np.concatenate([vectors, embed([s.text for s in STARTERS])]), embed.sha256)
    scorer, quality = fit_topics(vectors, labels, TOPICS, embed.sha256)
    arguments.out.mkdir(parents=True, exist_ok=True)
    projection.save(axes, arguments.out)
    topics.save(scorer, arguments.out)

    rng = np.random.default_rng(1)
    heldout = _sample(arguments.heldout, SAMPLE // 5, rng)
    card: dict[str, Any] = {
        "embedder": {"name": embed.name, "sha256": embed.sha256},
        "axes": {"sentences": len(texts) + len(STARTERS), "explained_variance": axes.explained.round(4).tolist()},
        "topics": {
            "names": list(TOPICS),
            "sentences_each": len(SENTENCES[TOPICS[0]]),
            "auc": dict(zip(TOPICS, np.round(quality.auc, 4).tolist(), strict=True)),
            "accuracy": round(quality.accuracy, 4),
            "log_loss_nats": round(quality.log_loss, 4),
            "calibration_error": round(quality.calibration, 4),
            "penalty": quality.penalty,
            "temperature": round(quality.temperature, 4),
        },
        "clear": CLEAR,
        "background": {
            "training text": _share(scorer, embed(_sample(arguments.train, SAMPLE, rng))),
            "held-out text": _share(scorer, embed(heldout)),
            "held-out text, words shuffled": _share(scorer, embed(_shuffled(heldout, rng))),
            "topic sentences, words shuffled": _share(scorer, embed(_shuffled(texts, rng))),
            f"hot chains, tau {HOT_TAU:g} after {HOT_SWEEPS} sweeps": _share(scorer, embed(_hot())),
        },
    }
    (arguments.out / "card.json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(card, indent=1))


def _sample(folder: Path, count: int, rng: np.random.Generator) -> list[str]:
    lines = [line for path in sorted(folder.glob("*.txt*")) for line in read_lines(path)]
    return [lines[k] for k in rng.choice(len(lines), min(count, len(lines)), replace=False)]


def _shuffled(texts: Sequence[str], rng: np.random.Generator) -> list[str]:
    return [" ".join(rng.permutation(text.split()).tolist()) for text in texts]


def _hot() -> list[str]:
    """Hot chains of the built-in model from all starters, a few from each."""
    model = load("glauber-mini")
    found = []
    for k, starter in enumerate(STARTERS):
        ids = torch.tensor([model.vocabulary.encode(starter.text).ids] * HOT_CHAINS)
        chains = [k * HOT_CHAINS + c for c in range(HOT_CHAINS)]
        done = run(model, ids, HOT_TAU, HOT_SWEEPS * ids.shape[1], seed=1, chains=chains)
        found += [model.vocabulary.text(row) for row in done.final.tolist()]
    return found


def _share(scorer: TopicScorer, vectors: np.ndarray) -> dict[str, Any]:
    """How many of some sentences have each topic clear, and the mean scores."""
    clear = scorer.clear(vectors)
    return {
        "sentences": len(vectors),
        "share_clear": {name: round(float((clear == k).mean()), 4) for k, name in enumerate(scorer.names)},
        "mean_score": dict(zip(scorer.names, scorer.scores(vectors).mean(axis=0).round(4).tolist(), strict=True)),
    }


if __name__ == "__main__":
    main()
