"""Words that tell basins apart: log-odds ratios with a Dirichlet prior.

Monroe, Colaresi & Quinn, "Fightin' Words", Political Analysis 16 (2008), equations 15, 16, 18, 20 and 22: the counts of
all texts are the prior, so that a word seen once or twice proves nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from jaxtyping import Int64

_PRIOR = 50.0  # words that the prior is worth


def distinguishing_words(texts: Sequence[str], labels: Int64[np.ndarray, " S"], count: int = 5) -> list[list[str]]:
    """For each basin the words most over-represented in its states, best first; at most ``count``, maybe none.

    Args:
        texts: S sentences, words parted by spaces; each counts once. Signs without a letter are no words, nor are the
            English function words of scikit-learn's list.
        labels: basin of each, -1 for noise, which serves as comparison like the other basins.
        count: words at most.
    """
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    used: dict[int, Counter[str]] = {b: Counter() for b in range(-1, int(labels.max(initial=-1)) + 1)}
    for text, label in zip(texts, labels.tolist(), strict=True):
        words = (w for w in text.split() if any(c.isalpha() for c in w) and w.lower() not in ENGLISH_STOP_WORDS)
        used[label].update(words)
    whole: Counter[str] = Counter()
    for counts in used.values():
        whole.update(counts)
    total = sum(whole.values())
    if total == 0:
        return [[] for _ in range(len(used) - 1)]
    return [_best(used[b], whole, total, count) for b in range(len(used) - 1)]


def _best(own: Counter[str], whole: Counter[str], total: int, count: int) -> list[str]:
    names = sorted(own)
    here = np.array([own[w] for w in names], dtype=np.float64)
    there = np.array([whole[w] for w in names], dtype=np.float64) - here
    n_here, n_there = here.sum(), total - here.sum()
    if n_there == 0:  # nothing to compare with: what is frequent
        return [w for w, _ in sorted(own.items(), key=lambda item: (-item[1], item[0]))[:count]]
    prior = _PRIOR * np.array([whole[w] for w in names]) / total
    odds = np.log((here + prior) / (n_here + _PRIOR - here - prior))
    odds -= np.log((there + prior) / (n_there + _PRIOR - there - prior))
    score = odds / np.sqrt(1 / (here + prior) + 1 / (there + prior))
    order = sorted(range(len(names)), key=lambda k: (-score[k], names[k]))
    return [names[k] for k in order[:count] if score[k] > 0]
