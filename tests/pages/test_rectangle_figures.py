"""Pictures of the rectangle test show the numbers they are given, and text as it is."""

from __future__ import annotations

import numpy as np
import pytest

from glauber_core.exact import ConditionalTable
from glauber_core.figures import rectangle as figures
from glauber_core.figures.literal import literal
from glauber_core.rectangle import Rule, Subject, by_distance, compare, pair_medians, summarize, survey

TABLE = ConditionalTable.random(5, 3, np.random.default_rng(1))
STATES = [(0, 1, 2, 0, 1), (2, 2, 1, 0, 0)]
FOUND = survey(TABLE, STATES, Rule("uniform", alternatives=2))


def test_heat_map() -> None:
    medians = pair_medians(FOUND, 1, 5)
    figure = figures.heat_map(medians, ["<b>", "$x$", "a", "a", "."])
    grid, points = figure.data
    np.testing.assert_array_equal(np.array(grid.z), medians)
    assert (grid.zmin, grid.zmax) == (0, np.nanmax(medians))  # one without the other is not heeded
    assert len(points.x) == 20  # every pair twice, the diagonal never
    for x, y, (i, j) in zip(points.x, points.y, points.customdata, strict=True):
        assert (y, x) == (i, j) and np.isfinite(medians[i, j])
    assert list(figure.layout.xaxis.ticktext) == ["1 &lt;b&gt;", "2 $\u200bx$\u200b", "3 a", "4 a", "5 ."]
    assert f"{medians[0, 1]:.3g} nats" in points.text[0] and "<b>" not in points.text[0]


def test_histogram_counts_everything_and_marks_floor_and_median() -> None:
    summary = summarize(FOUND, 1e-3, resamples=0)
    delta = np.append(FOUND.delta, [0.0, 1e-12, 40.0])
    figure = figures.histogram(delta, 1e-3, summary)
    assert sum(figure.data[0].y) == len(delta)
    at = [shape.x0 for shape in figure.layout.shapes]
    assert at == [1e-3, summary.median]
    notes = [(round(10**note.x, 9), note.text) for note in figure.layout.annotations]  # in powers of ten, unlike shapes
    assert notes == [(1e-3, "noise floor 0.001"), (round(summary.median, 9), f"median {summary.median:.2g}")]
    assert figures.histogram(np.zeros(3), None).data[0].y.sum() == 3


@pytest.mark.parametrize("floor", [None, 3e-7, 1e-13, 0.5])
def test_bars_stand_on_their_bins(floor: float | None) -> None:
    delta = np.array([0.0, 2e-6, 0.03, 0.0301, 0.4, 12.0])
    bars = figures.histogram(delta, floor).data[0]
    left, right = bars.x - bars.width / 2, bars.x + bars.width / 2
    np.testing.assert_allclose(left[1:], right[:-1], rtol=1e-12)
    for value in delta[1:]:
        (at,) = np.nonzero((left <= value) & (value < right))[0]
        assert bars.y[at] >= 1
    (lowest,) = [k for k, span in enumerate(bars.text) if span.startswith("up to")]
    assert bars.y[lowest] == 1 and not bars.y[:lowest].any()


def test_a_file_holds_the_whole_picture() -> None:
    page = figures.histogram(FOUND.delta, 1e-3, summarize(FOUND, 1e-3, resamples=0)).to_html()
    assert "noise floor 0.001" in page and len(page) > 1_000_000  # with the drawing code: it opens with no network


def test_distance_curve() -> None:
    rows = by_distance(FOUND, None)
    trace = figures.distance_curve(rows).data[0]
    assert list(trace.x) == [1, 2, 3, 4] and list(trace.y) == [r.median for r in rows.values()]
    tops = np.array(trace.y) + np.array(trace.error_y.array)
    bottoms = np.array(trace.y) - np.array(trace.error_y.arrayminus)
    np.testing.assert_allclose(tops, [r.q75 for r in rows.values()])
    np.testing.assert_allclose(bottoms, [r.q25 for r in rows.values()])


def test_boxes() -> None:
    subjects = [Subject(name, "control", TABLE, STATES) for name in ("one", "<i>two</i>")]
    rows = compare(subjects, Rule("uniform"))
    boxes = figures.compare_box(rows).data
    assert [box.x[0] for box in boxes] == ["one", "&lt;i&gt;two&lt;/i&gt;"]
    for box, row in zip(boxes, rows, strict=True):
        s = row.summary
        assert (box.q1[0], box.median[0], box.q3[0], box.mean[0]) == (s.q25, s.median, s.q75, s.mean)
        assert (box.lowerfence[0], box.upperfence[0]) == (row.measured.delta.min(), s.q90)


def test_text_is_literal() -> None:
    assert literal("$5 & <a>") == "$\u200b5 &amp; &lt;a&gt;"
