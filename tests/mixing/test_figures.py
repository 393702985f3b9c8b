"""The pictures of mixing show the numbers they were given."""

from __future__ import annotations

import math

import pytest

from glauber_core.figures.mixing import PAPER, curie_weiss, distance_curves, phase_diagram
from glauber_core.mixing.phase import boundaries
from glauber_core.mixing.shipped import shipped, shipped_sweep
from glauber_core.mixing.store import open_store


def test_every_point_of_the_table_is_in_the_diagram() -> None:
    points = shipped("plan").points
    figure = phase_diagram(points, boundaries(points))
    grid, crosses, line = figure.data
    taus, lengths = sorted({p.tau for p in points}), sorted({p.n for p in points})
    for p in points:
        row, column = taus.index(p.tau), lengths.index(p.n)
        wanted = p.median.beyond if p.median.censored else p.median.value
        assert 10 ** grid.z[row, column] == pytest.approx(max(wanted, 0.1))
        assert grid.text[row][column].startswith("> ") == p.median.censored
    assert len(crosses.x) == sum(p.median.censored for p in points)
    assert list(figure.layout.xaxis.ticktext) == [str(n) for n in lengths]
    for b in boundaries(points):
        if b.slow > 0 and math.isfinite(b.fast):
            height = (taus.index(b.slow) + taus.index(b.fast)) / 2
            assert (lengths.index(b.n) - 0.5, height) in list(zip(line.x, line.y, strict=True))
    box = figure.layout.shapes[0]
    assert (taus[int(box.y0)], taus[int(box.y1)]) == PAPER


def test_curves_and_magnet() -> None:
    with open_store(shipped_sweep("hot")) as store:
        results = store.results()
    figure = distance_curves(results[:2])
    assert list(figure.data[0].y) == [100 * d for d in results[0].distance]
    figure, rows = curie_weiss(50, (0.5, 1.5), points=6)
    assert len(figure.data) == 2 and figure.data[0].y[0] > 0.99 and rows[1]["ratio"] == ""
