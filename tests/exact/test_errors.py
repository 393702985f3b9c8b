"""What an exact model refuses, in one sentence a person can act on."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from glauber_core.errors import UserError
from glauber_core.exact import (
    Bigram,
    ConditionalTable,
    CurieWeiss,
    JointTable,
    Potts,
    SmoothedCounts,
    StateSpace,
    conditional_law,
    distribution_after,
    joint_law,
    site_kernel,
    systematic_scan_matrix,
    transition_matrix,
)
from tests.exact.models import mask

NAN, INF = float("nan"), float("inf")
RNG = np.random.default_rng(0)
TABLE = ConditionalTable.random(2, 3, RNG, allowed=mask(1, 1, 0))
HALVES = torch.full((2,), 0.5, dtype=torch.float64)
SQUARE = torch.full((2, 2), 0.5, dtype=torch.float64)
BASE = np.full(2, 0.5)
COUNTS = np.array([[1, 2], [0, 1]])
ZEROS = np.zeros(2, dtype=np.int64)

CASES: list[tuple[Callable[[], object], str]] = [
    (lambda: CurieWeiss(-0.1), "beta"),
    (lambda: CurieWeiss(NAN), "beta"),
    (lambda: CurieWeiss(INF), "beta"),
    (lambda: Potts(1, 1.0), "two colours"),
    (lambda: Potts(3, -1.0), "beta"),
    (lambda: Potts(3, 1.0, mask(1, 1)), "has 2 entries"),
    (lambda: Potts(3, 1.0, mask(0, 1, 0)), "two allowed"),
    (lambda: Bigram.from_matrix(HALVES, SQUARE * 1.1), "sum to 1"),
    (lambda: Bigram.from_matrix(torch.tensor([0.0, 1.0]).double(), SQUARE), "positive"),
    (lambda: Bigram.from_matrix(HALVES, torch.tensor([[NAN, 1.0], [0.5, 0.5]]).double()), "positive and finite"),
    (lambda: Bigram.from_matrix(HALVES[:1] * 2, SQUARE[:1, :1] * 2), "at least two tokens"),
    (lambda: Bigram.from_sequences([[0, 2]], 2), "outside 0 to 1"),
    (lambda: Bigram.from_sequences([[0, -1]], 2), "outside 0 to 1"),
    (lambda: Bigram.from_sequences([[], []], 2), "no token"),
    (lambda: Bigram.from_sequences([[0]], 1), "at least two tokens"),
    (lambda: Bigram.from_sequences([[0]], 2, strength=0.0), "strength"),
    (lambda: Bigram.from_sequences([[0]], 2, backoff="trigram"), "choose one of unigram, uniform"),
    (lambda: SmoothedCounts.from_sequences([[0]], 2, additive=0.0), "additive"),
    (lambda: SmoothedCounts(COUNTS[:1], ZEROS, BASE, 1.0), "square"),
    (lambda: SmoothedCounts(-COUNTS, ZEROS, BASE, 1.0), "negative"),
    (lambda: SmoothedCounts(COUNTS, ZEROS, BASE * 0.9, 1.0), "sum to 1"),
    (lambda: SmoothedCounts(COUNTS, ZEROS, BASE, INF), "strength"),
    (lambda: JointTable(torch.zeros(2, 3).double()), "Every axis"),
    (lambda: JointTable(torch.tensor([[0.0, -INF], [0.0, 0.0]]).double()), "finite"),
    (lambda: JointTable(torch.tensor(0.0).double()), "at least one position"),
    (lambda: JointTable.random(9, 9, RNG), "too large"),
    (lambda: JointTable.random(3, 3, RNG)(torch.zeros(1, 4).long(), torch.zeros(1).long()), "for 3 positions"),
    (lambda: JointTable.random(3, 3, RNG).log_weight(torch.zeros(1, 2).long()), "for 3 positions"),
    (lambda: ConditionalTable(torch.zeros(2, 3, 2).double()), "one row for each"),
    (lambda: ConditionalTable(torch.full((1, 1, 2), NAN).double()), "finite"),
    (lambda: ConditionalTable.random(0, 3, RNG), "at least one position"),
    (lambda: ConditionalTable.random(20, 3, RNG), "too large"),
    (lambda: TABLE(torch.zeros(1, 3).long(), torch.zeros(1).long()), "for 2 positions"),
    (lambda: TABLE.with_trap([0, 2], 0.1), "2 allowed tokens"),
    (lambda: TABLE.with_trap([0], 0.1), "2 allowed tokens"),
    (lambda: TABLE.with_trap([0, 1], 0.0), "between 0 and 1"),
    (lambda: TABLE.with_trap([0, 1], 0.1, tau=0.0), "above 0"),
    (lambda: StateSpace(()), "at least one position"),
    (lambda: StateSpace(((1, 0),)), "increasing"),
    (lambda: StateSpace(((0,), ())), "increasing"),
    (lambda: StateSpace(((0, 1),) * 13), "at most 4096"),
    (lambda: transition_matrix(CurieWeiss(1.0), 10_000, 1.0), "at most 4096"),
    (lambda: transition_matrix(TABLE, 0, 1.0), "at least one position"),
    (lambda: transition_matrix(TABLE, 2, -1.0), "0 or more"),
    (lambda: transition_matrix(TABLE, 2, NAN), "finite"),
    (lambda: transition_matrix(TABLE, 2, INF), "finite"),
    (lambda: transition_matrix(TABLE, 2, 1.0, free=[]), "unlock at least one"),
    (lambda: transition_matrix(TABLE, 2, 1.0, free=[2]), "between 0 and 1"),
    (lambda: systematic_scan_matrix(TABLE, 2, 1.0, order=[0, -1]), "between 0 and 1"),
    (lambda: systematic_scan_matrix(TABLE, 2, 1.0, order=[]), "unlock at least one"),
    (lambda: site_kernel(TABLE, StateSpace(((0, 1), (2,))), 1, 1.0), "Position 2 is locked"),
    (lambda: conditional_law(np.zeros((1, 2)), -0.5), "0 or more"),
    (lambda: StateSpace.full(TABLE, 2).decode(np.array([4])), "between 0 and 3"),
    (lambda: StateSpace.full(TABLE, 2).encode(torch.tensor([[0, 2]])), "Position 2 holds a token outside"),
    (lambda: StateSpace.full(TABLE, 2).encode(torch.tensor([[0, 1, 0]])), "for 2 positions"),
    (lambda: StateSpace.around(TABLE, torch.tensor([0, 2]), [2]), "between 0 and 1"),
    (lambda: joint_law(CurieWeiss(1.0), StateSpace.full(CurieWeiss(1.0), 2), 0.0), "above 0"),
    (lambda: distribution_after(np.eye(2), 2, 1), "between 0 and 1"),
    (lambda: distribution_after(np.eye(2), 0, -1), "negative"),
]


@pytest.mark.parametrize(("make", "words"), CASES, ids=[words.replace(" ", "-") for _, words in CASES])
def test_refusal_is_one_clear_sentence(make: Callable[[], object], words: str) -> None:
    with pytest.raises(UserError) as refused:
        make()
    sentence = str(refused.value)
    assert words in sentence
    assert sentence[0].isupper() and sentence.endswith(".") and "\n" not in sentence and len(sentence) < 140
