"""Chains on their way: laws and paths are those of ``Chain``, pictures depend on the record alone, and exports hold."""

from __future__ import annotations

import io

import numpy as np
import pandas
import pytest

from glauber_core.errors import Cancelled, UserError
from glauber_core.exact import ConditionalTable
from glauber_core.figures import landscape as figures
from glauber_core.landscape import export
from glauber_core.landscape.analysis import analyse
from glauber_core.landscape.escape import escape
from glauber_core.landscape.expedition import MAX_CHAINS, Expedition, Start
from glauber_core.landscape.traps import catalogue, scan

TABLE = ConditionalTable.random(3, 3, np.random.default_rng(41), 1.5).with_trap([2, 0, 1], 0.002)
STARTS = [Start((0, 0, 0), "a a a", "food"), Start((1, 2, 1), "b c b", "sport"), Start((2, 0, 1), "c a b", "food")]


def spell(state: tuple[int, ...]) -> str:
    return " ".join("abc"[t] for t in state)


def embed(texts: list[str]) -> np.ndarray:
    found = np.array([[("abc".index(c) + 1) * (k + 1) for k, c in enumerate(t.split())] for t in texts], dtype=float)
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def travel(horizon: int = 3_000, slices: float = 60.0, tau: float = 1.0) -> Expedition:
    made = Expedition(TABLE, STARTS, tau, 5, spell, embed)
    while not made.move(horizon, slices):
        made.look()
    made.look()
    return made


def test_every_chain_ends_exactly_at_the_horizon_and_time_adds_up() -> None:
    made = travel(1_500)
    assert made.picture.elapsed == (1_500,) * 3
    for visits in made.picture.visits:
        assert visits.dwell.sum() == 1_500
    assert len(made.picture.texts) == len(made.picture.embeddings) == len(made.book)
    assert made.picture.texts[0] == "a a a" and made.picture.absorbed == (False,) * 3


def test_slices_change_nothing() -> None:
    whole, sliced = travel(2_000), travel(2_000, slices=0.01)
    for one, other in zip(whole.chains, sliced.chains, strict=True):
        assert one.record.entries == other.record.entries
    assert [spell(s) for s in whole.book.states].sort() == [spell(s) for s in sliced.book.states].sort()
    for a, b in zip(whole.picture.visits, sliced.picture.visits, strict=True):
        assert [whole.picture.texts[s] for s in a.state] == [sliced.picture.texts[s] for s in b.state]
        assert a.entered == b.entered


def test_chains_of_one_start_differ_and_a_hot_one_is_thinned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glauber_core.landscape.expedition.POINTS", 400)
    made = Expedition(TABLE, [STARTS[0]] * 4, 50.0, 5, spell, embed)
    made.move(500, 120.0)
    made.look()
    assert len({tuple(v.entered) for v in made.picture.visits}) == 4
    assert min(made.picture.stride) > 4
    assert 200 < sum(len(v.state) for v in made.picture.visits) < 500


def test_an_absorbed_chain_waits_for_the_others_and_a_warmer_one_goes_on() -> None:
    made = Expedition(TABLE, [STARTS[2]], 0.0, 5, spell, embed)
    assert made.move(500, 60.0)
    assert made.look().absorbed == (True,) and made.picture.elapsed == (500,)
    made.set_tau(0.0)
    assert made.look().absorbed == (True,)
    made.set_tau(20.0)
    assert made.move(900, 60.0)
    assert made.look().absorbed == (False,) and len(made.picture.texts) > 1


def test_a_stopped_embedding_keeps_the_old_picture() -> None:
    made = Expedition(TABLE, STARTS, 1.0, 5, spell, embed)
    before = made.picture
    made.move(100, 60.0)

    def stop(share: float) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        made.look(stop)
    assert made.picture is before
    assert made.look().elapsed == (100,) * 3


def test_a_full_record_is_said_and_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glauber_core.landscape.expedition.MAX_ENTRIES", 40)
    made = Expedition(TABLE, [STARTS[0]], 5.0, 5, spell, embed)
    assert not made.move(10_000, 5.0)
    with pytest.raises(UserError, match="recorded steps"):
        made.move(10_000, 5.0)
    assert made.chains[0].steps == 40 and len(made.look().visits[0].state) > 1


def test_the_number_of_chains_is_limited() -> None:
    for starts in ([], [STARTS[0]] * (MAX_CHAINS + 1)):
        with pytest.raises(UserError):
            Expedition(TABLE, starts, 1.0, 5, spell, embed)


def test_analysis_files_and_figures_of_a_run() -> None:
    made = travel(1_500)
    found = analyse(made.picture, made.per_sweep, reach=0.05, least=20)
    assert found.basins and abs(sum(b.share for b in found.basins) + found.noise - 1) < 1e-9
    again = analyse(travel(1_500, 0.01).picture, made.per_sweep, reach=0.05, least=20)
    assert sorted(round(b.share, 9) for b in again.basins) == sorted(round(b.share, 9) for b in found.basins)
    xy = made.picture.embeddings[:, :2].astype(np.float64)
    topics = ["food"] * len(xy)
    visits = export.visits_table(found, xy, "PCA", topics)
    assert len(visits) == sum(len(v.state) for v in made.picture.visits)
    assert visits.groupby("chain")["stay_steps"].sum().tolist() == [1_500.0] * 3
    back = pandas.read_csv(io.StringIO(export.to_csv(visits)))
    assert back["sentence"].tolist() == visits["sentence"].tolist()
    pandas.testing.assert_frame_equal(pandas.read_parquet(io.BytesIO(export.to_parquet(visits))), visits)
    basins = export.basins_table(found)
    assert basins["number"].tolist() == [b.number for b in found.basins]
    kept = [(k, one) for k, c in enumerate(made.chains) for one in catalogue(scan(c.record, TABLE))]
    traps = export.traps_table(kept, spell)
    assert len(traps) == len(kept) > 0 and "c a b" in traps["sentence"].tolist()
    export.to_parquet(traps)

    ribbon = figures.ribbon(found.stays, [[(1.0, "<b>$5</b>")], [], []])
    bars = [t for t in ribbon.data if t.type == "bar"]
    total = sum(sum(t.x) for t in bars)
    assert total == pytest.approx(sum(s.sweeps.sum() for s in found.stays), rel=1e-6)
    assert "<b>" not in ribbon.to_json()
    places = xy[[b.medoid for b in found.basins]]
    graph = figures.flow_graph(found.basins, found.words, found.flow, places)
    off = found.flow - np.diag(np.diag(found.flow))
    assert len(graph.layout.annotations) == int((off > 0).sum())
    plot = figures.escape_plot(escape(TABLE, (2, 0, 1), [0.5, 1.0], 4, 50))
    assert {t.name.split(" (")[0] for t in plot.data} >= {"exact: 1/q", "sum bound", "margin bound"}
    assert plot.data[0].y[0] == pytest.approx(1 / np.exp(escape(TABLE, (2, 0, 1), [1.0], 1, 1)[0].log_exit))
    matrix = figures.topic_matrix(np.array([[0.5, 0.5]]), ["my <i>"], ["food", "sport"])
    assert matrix.data[0].z.max() == 50 and "<i>" not in str(matrix.data[0].y)


def test_a_clock_beyond_63_bits_is_written_as_text() -> None:
    made = Expedition(TABLE, [STARTS[2]], 0.0, 5, spell, embed)
    made.move(10**30, 60.0)
    made.set_tau(5.0)
    made.move(10**30 + 50, 60.0)
    made.look()
    found = analyse(made.picture, made.per_sweep)
    table = export.visits_table(found, np.zeros((len(made.book), 2)), "PCA", [""] * len(made.book))
    assert str(10**30)[:20] in table["entered_step"].astype(str).iloc[-1]
    export.to_parquet(table)
