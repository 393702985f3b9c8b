from __future__ import annotations

from collections import Counter

import pytest
import torch

from glauber_core.training.packing import Rows
from glauber_core.training.stream import Stream
from tests.training import tiny


def epoch(stream: Stream, number: int) -> list[Rows]:
    return [stream.batch(number, index) for index in range(stream.batches(number))]


def counts(batches: list[Rows]) -> Counter[int]:
    special = {tiny.SPECIAL.index(token) for token in ("[PAD]", "[CLS]", "[SEP]")}
    return Counter(i for rows in batches for i in rows.ids.flatten().tolist() if i not in special)


def test_an_epoch_holds_every_token_once_with_little_padding() -> None:
    text = tiny.encoded(400)
    batches = epoch(Stream([text], [], tiny.tokenizer(), tiny.config(length=64)), 0)
    assert counts(batches) == Counter(text.ids.tolist())
    padding = torch.cat([rows.segments < 0 for rows in batches[:-1]]).double().mean()
    assert float(padding) < 0.05


def test_order_is_a_function_of_seed_and_epoch() -> None:
    one, two = tiny.stream(tiny.config()), tiny.stream(tiny.config())
    epoch(one, 1)
    assert torch.equal(one.batch(0, 3).ids, two.batch(0, 3).ids)
    assert not torch.equal(one.batch(0, 3).ids, one.batch(1, 3).ids)
    assert not torch.equal(one.batch(0, 3).ids, tiny.stream(tiny.config(seed=1)).batch(0, 3).ids)


def test_long_and_short_passages_are_mixed() -> None:
    batches = epoch(tiny.stream(tiny.config(), 2000), 0)
    sizes = torch.tensor([float((rows.segments.amax(1) + 1).double().mean()) for rows in batches[:-1]])
    half = len(sizes) // 2
    # Sorted by length, the halves would differ by about one passage a row.
    assert abs(float(sizes[:half].mean() - sizes[half:].mean())) < 0.15


@pytest.mark.parametrize("share", [0.3, 0.5])
def test_replayed_texts_make_up_their_share(share: float) -> None:
    fresh, old = tiny.encoded(300), tiny.encoded(900, seed=1)
    old.ids[:] = tiny.SPECIAL.index("[unused1]")  # to tell them apart
    stream = Stream([fresh], [old], tiny.tokenizer(), tiny.config(replay_share=share))
    found = counts(epoch(stream, 0))
    replayed = found.pop(tiny.SPECIAL.index("[unused1]"))
    assert found == Counter(fresh.ids.tolist())
    assert replayed / (replayed + sum(found.values())) == pytest.approx(share, abs=0.01)


def test_fingerprint_tells_texts_apart() -> None:
    one, same, other = tiny.encoded(50), tiny.encoded(50), tiny.encoded(50, seed=1)
    prints = [Stream([t], [], tiny.tokenizer(), tiny.config()).fingerprint for t in (one, same, other)]
    assert prints[0] == prints[1] != prints[2]
