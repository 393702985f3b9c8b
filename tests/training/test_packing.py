from __future__ import annotations

import numpy as np
import pytest
import torch

from glauber_core.training.packing import attention_mask, lay_out, pack
from tests.training import tiny


def test_every_passage_is_packed_once_and_fits() -> None:
    lengths = np.random.default_rng(0).integers(1, 65, size=1000)
    rows = pack(lengths, 128)
    assert sorted(index for row in rows for index in row) == list(range(1000))
    assert max(int(lengths[row].sum()) for row in rows) <= 128


def test_little_is_padded() -> None:
    # Sentence lengths of English prose: log-normal, median 24 pieces, two special tokens, none above 64.
    lengths = np.clip(np.exp(np.random.default_rng(1).normal(np.log(24), 0.5, 5000)), 3, 62).astype(np.int64) + 2
    rows = pack(lengths, 128)
    assert lengths.sum() / (len(rows) * 128) > 0.97


def test_a_known_case() -> None:
    # 6+4, 5+5, 3+3+3 is optimal for rows of 10 and what best fit finds.
    lengths = np.asarray([5, 3, 4, 6, 3, 5, 3])
    assert sorted(sorted(lengths[row].tolist()) for row in pack(lengths, 10)) == [[3, 3, 3], [4, 6], [5, 5]]


@pytest.mark.parametrize("length", [0, 11])
def test_lengths_that_cannot_be_packed(length: int) -> None:
    with pytest.raises(ValueError, match="between 1 and 10"):
        pack(np.asarray([3, length]), 10)


def test_rows_read_as_the_tokenizer_writes() -> None:
    tokenizer, text = tiny.tokenizer(), tiny.encoded(3)
    parts = [text.ids[a:b] for a, b in zip(text.bounds, text.bounds[1:], strict=False)]
    rows = lay_out([parts], (2, 40), tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.pad_token_id)
    for number, line in enumerate(tiny.sentences(3)):
        own = tokenizer(line)["input_ids"]
        here = rows.segments[0] == number
        assert rows.ids[0][here].tolist() == own
        assert rows.positions[0][here].tolist() == list(range(len(own)))
    padding = rows.segments < 0
    assert (rows.ids[padding] == tokenizer.pad_token_id).all()
    assert bool(padding[1].all())


@pytest.mark.parametrize("kind", ["masked", "causal"])
def test_a_packed_passage_is_read_as_if_alone(kind: str) -> None:
    tokenizer, text = tiny.tokenizer(), tiny.encoded(3)
    model = tiny.model(tiny.config(kind=kind, length=40)).eval()
    parts = [text.ids[a:b] for a, b in zip(text.bounds, text.bounds[1:], strict=False)]
    rows = lay_out([parts], (1, 40), tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.pad_token_id)
    with torch.inference_mode():
        together = model.base_model(
            input_ids=rows.ids,
            attention_mask=attention_mask(rows.segments, causal=kind == "causal"),
            position_ids=rows.positions,
        )[0]
        for number, line in enumerate(tiny.sentences(3)):
            alone = model.base_model(**tokenizer(line, return_tensors="pt", return_token_type_ids=False))[0]
            torch.testing.assert_close(together[0][rows.segments[0] == number], alone[0], atol=1e-5, rtol=1e-5)
