"""The cache: bounded in bytes, copies in and out, and every row counted once."""

from __future__ import annotations

import threading

import torch

from glauber_core.service import ConditionalCache
from glauber_core.service.cache import Key

ROW = 8 * 4 + 2  # bytes of a row of four float64 and its state


def key(k: int) -> Key:
    return Key("model", "shape", k, b"ab")


def row(k: int) -> torch.Tensor:
    return torch.full((4,), float(k), dtype=torch.float64)


def test_it_holds_what_fits_and_lets_go_of_what_was_not_used_for_longest() -> None:
    cache = ConditionalCache(3 * ROW)
    for k in range(3):
        cache.put(key(k), row(k))
    assert cache.bytes == 3 * ROW and cache.get(key(0)) is not None
    cache.put(key(3), row(3))
    assert cache.bytes == 3 * ROW and len(cache) == 3
    assert [cache.get(key(k)) is not None for k in range(4)] == [True, False, True, True]
    cache.put(key(3), row(3))  # again: no second copy
    assert cache.bytes == 3 * ROW and len(cache) == 3
    cache.clear()
    assert cache.bytes == 0 and len(cache) == 0 and cache.get(key(3)) is None


def test_a_row_larger_than_the_limit_pushes_nothing_out() -> None:
    cache = ConditionalCache(ROW)
    cache.put(key(0), row(0))
    cache.put(key(1), torch.zeros(100))
    assert cache.get(key(0)) is not None and cache.get(key(1)) is None
    none = ConditionalCache(0)
    none.put(key(0), row(0))
    assert len(none) == none.bytes == 0


def test_hits_and_misses() -> None:
    cache = ConditionalCache()
    assert cache.hit_rate == 0
    cache.get(key(0))
    cache.put(key(0), row(0))
    assert (cache.hits, cache.misses) == (0, 1)
    for _ in range(3):
        cache.get(key(0))
    assert (cache.hits, cache.misses, cache.hit_rate) == (3, 1, 0.75)
    cache.get(key(1))
    cache.get(key(1), again=True)
    assert (cache.hits, cache.misses) == (3, 2)  # the same row is not missed twice
    cache.put(key(1), row(1))
    cache.get(key(1), again=True)
    assert (cache.hits, cache.misses) == (4, 1)


def test_every_part_of_the_key_counts() -> None:
    cache = ConditionalCache()
    first = Key("m", "s", 0, b"x")
    cache.put(first, row(1))
    for other in (first._replace(model="n"), first._replace(shape="t"), first._replace(position=1)):
        assert cache.get(other) is None
    assert cache.get(first._replace(state=b"y")) is None and cache.get(Key("m", "s", 0, b"x")) is not None


def test_nobody_can_write_into_it() -> None:
    cache = ConditionalCache()
    given = row(1)
    cache.put(key(1), given)
    given.zero_()
    found = cache.get(key(1))
    assert found is not None and torch.equal(found, row(1))
    found.zero_()
    again = cache.get(key(1))
    assert again is not None and torch.equal(again, row(1))


def test_a_kept_row_does_not_hold_its_batch() -> None:
    cache = ConditionalCache()
    cache.put(key(0), torch.zeros(1000, 4, dtype=torch.float64)[0])
    found = cache._rows[key(0)]
    assert found.untyped_storage().nbytes() == 32


def test_many_threads_keep_its_books_straight() -> None:
    cache = ConditionalCache(10 * ROW)
    faults: list[int] = []

    def work(me: int) -> None:
        for step in range(300):
            k = (me * 7 + step) % 20
            found = cache.get(key(k))
            if found is not None and not torch.equal(found, row(k)):
                faults.append(k)
            cache.put(key(k), row(k))

    workers = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert faults == [] and cache.hits + cache.misses == 8 * 300
    assert cache.bytes == len(cache) * ROW == 10 * ROW
