"""Any order of calls, clicks, faults, closings and silence: everybody gets an answer or a reason, nobody waits on."""

from __future__ import annotations

import threading

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from glauber_core.errors import Busy, Cancelled
from glauber_core.service import Client, ConditionalCache, SamplerService
from glauber_core.turns import urgent
from tests.service.fakes import BAD, LIMIT_S, Watched, values

ACTS = st.one_of(
    st.tuples(st.sampled_from(["play", "click"]), st.integers(0, 5), st.integers(1, 5), st.integers(2, 4)),
    st.tuples(st.sampled_from(["fault", "close", "beat", "silence", "squeeze"]), st.just(0), st.just(1), st.just(2)),
)


class Visitor(threading.Thread):
    """Does one act after the other; what it got that it should not have is in ``wrong``."""

    def __init__(self, name: str, acts: list[tuple[str, int, int, int]], service: SamplerService, now: list[float]):
        super().__init__(daemon=True)
        self.wrong: list[object] = []
        self._who, self._acts, self._service, self._now = name, acts, service, now

    def run(self) -> None:
        try:
            client = self._service.client(self._who)
        except Cancelled:
            return
        for act in self._acts:
            try:
                client = self._do(client, *act)
            except (Busy, Cancelled):
                pass
            except Exception as error:
                if not (act[0] == "fault" and isinstance(error, RuntimeError)):
                    self.wrong.append(error)

    def _do(self, client: Client, kind: str, first: int, count: int, n: int) -> Client:
        if kind == "close":
            client.close()
            return self._service.client(self._who)
        if kind == "beat":
            client.beat()
        elif kind == "silence":
            self._now[0] += 11
        elif kind == "squeeze":
            model = self._service.model
            assert isinstance(model, Watched)
            model.room = 2 if model.room > 2 else 10
        elif kind == "fault":
            client(torch.tensor([[1, BAD]]), torch.tensor([0]))
            self.wrong.append("a faulty row was answered")
        else:
            states = torch.tensor([[first + k] * n for k in range(count)])
            positions = torch.arange(count) % n
            if kind == "click":
                with urgent():
                    found = client(states, positions)
            else:
                found = client(states, positions)
            # In a halved batch the last digits tell its size.
            if all(not torch.allclose(found, values(states, positions, r), rtol=0, atol=3e-9) for r in (2, 3)):
                self.wrong.append((states, positions, found))
        return client


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.lists(ACTS, min_size=1, max_size=8), min_size=2, max_size=6),
    st.sampled_from([1, 2, 3]),
    st.booleans(),
    st.booleans(),
)
def test_no_schedule_hangs(acts: list[list[tuple[str, int, int, int]]], rows: int, cached: bool, ends: bool) -> None:
    now = [0.0]
    cache = ConditionalCache(2000 if cached else 0)
    service = SamplerService(
        Watched(), rows, cache=cache, session_rows=4, total_rows=8, clock=lambda: now[0], idle=0.002
    )
    visitors = [Visitor(f"{k % 4}", mine, service, now) for k, mine in enumerate(acts)]
    for visitor in visitors:
        visitor.start()
    if ends:
        service.close()
    for visitor in visitors:
        visitor.join(LIMIT_S)
    stuck = [visitor.is_alive() for visitor in visitors]
    service.close()
    assert not any(stuck) and [visitor.wrong for visitor in visitors if visitor.wrong] == []
    assert service.queued == 0 and not service._line.waiting
