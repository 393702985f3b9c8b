"""Pictures of the landscape: dwell ribbon, transitions between basins, escape times, topics that recur.

Colours are Okabe and Ito's; the page's theme chooses ground and text. Basins are told apart by their number, too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float64, Int64

from glauber_core.figures.literal import literal
from glauber_core.landscape.basins import Basin
from glauber_core.landscape.escape import Escape, curve
from glauber_core.landscape.flow import Stays

COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#8A7A00", "#7F7F7F")
# Basins take the others first, so that a few chains and a few basins share no colour; as in the browser's map.
BASINS = ("#D55E00", "#56B4E9", "#8A7A00", "#6A51A3", "#0072B2", "#E69F00", "#009E73", "#CC79A7")
GREY = "#8A939B"
MARGIN = {"l": 10, "r": 10, "t": 10, "b": 10}
PIXELS = 1200  # a ribbon's stays shorter than one such part of the time are drawn with their neighbours


def basin_color(number: int) -> str:
    """Of basin ``number`` >= 1; grey for 0, no basin."""
    return GREY if number < 1 else BASINS[(number - 1) % len(BASINS)]


def ribbon(
    stays: Sequence[Stays], traps: Sequence[Sequence[tuple[float, str]]] = (), names: Sequence[str] = "ABCDEFGH"
) -> go.Figure:
    """Time on x, one row a chain, the basin as colour, traps marked.

    Args:
        stays: one a chain.
        traps: for each chain (sweep of entry, words for the hover); may be empty.
        names: of the chains.
    """
    total = max((float(s.entered[-1] + s.sweeps[-1]) for s in stays if len(s.basin)), default=1.0) or 1.0
    bars: dict[int, list[tuple[str, float, float]]] = {}
    for name, one in zip(names, stays, strict=False):
        for basin, begin, length in _visible(one, total / PIXELS):
            bars.setdefault(basin + 1, []).append((name, begin, length))
    figure = go.Figure()
    for number in sorted(bars):
        rows = bars[number]
        figure.add_bar(
            y=[r[0] for r in rows],
            base=[r[1] for r in rows],
            x=[r[2] for r in rows],
            orientation="h",
            marker={"color": basin_color(number), "line": {"width": 0}, "opacity": 0.35 if number == 0 else 1.0},
            name="no basin" if number == 0 else f"basin {number}",
            hovertemplate="chain %{y}, from sweep %{base:,.1f}, for %{x:,.1f} sweeps<extra>%{fullData.name}</extra>",
            width=0.72,
        )
    marks = [(name, at, text) for name, found in zip(names, traps, strict=False) for at, text in found]
    if marks:
        figure.add_scatter(
            y=[m[0] for m in marks],
            x=[m[1] for m in marks],
            text=[literal(m[2]) for m in marks],
            mode="markers",
            marker={"symbol": "diamond", "size": 9, "color": "#FFFFFF", "line": {"color": "#000000", "width": 1.5}},
            name="a trap begins",
            hovertemplate="%{text}<extra></extra>",
        )
    figure.update_layout(barmode="overlay", margin=MARGIN, bargap=0.1, legend={"orientation": "h", "y": 1.12, "x": 0})
    figure.update_yaxes(categoryorder="array", categoryarray=list(names[: len(stays)])[::-1], fixedrange=True)
    figure.update_xaxes(title="simulated sweeps", range=[0, total], rangemode="nonnegative")
    return figure


def _visible(stays: Stays, least: float) -> list[tuple[int, float, float]]:
    """Stays as (basin, begin, length); where several would fall into one pixel, its longest one stands for them."""
    found: list[tuple[int, float, float]] = []
    group: list[tuple[int, float, float]] = []

    def flush() -> None:
        if group:
            longest = max(group, key=lambda g: g[2])
            end = group[-1][1] + group[-1][2]
            found.append((longest[0], group[0][1], end - group[0][1]))
            group.clear()

    for stay in zip(stays.basin.tolist(), stays.entered.tolist(), stays.sweeps.tolist(), strict=True):
        if stay[2] >= least:
            flush()
            found.append(stay)
            continue
        group.append(stay)
        if stay[1] + stay[2] - group[0][1] >= least:
            flush()
    flush()
    return found


def flow_graph(
    basins: Sequence[Basin],
    words: Sequence[Sequence[str]],
    flow: Int64[np.ndarray, "B B"],
    places: Float64[np.ndarray, "B 2"],
) -> go.Figure:
    """Basins as discs at their place on the map, transitions between them as arrows.

    Args:
        basins: B of them.
        words: their distinguishing words.
        flow: int64 [B, B], ``flow.transitions``.
        places: float64 [B, 2], where their medoids lie.
    """
    figure = go.Figure()
    most = int((flow - np.diag(np.diag(flow))).max(initial=0))
    for a, b in zip(*np.nonzero(flow), strict=True):
        if a == b:
            continue
        count = int(flow[a, b])
        figure.add_annotation(
            x=places[b, 0], y=places[b, 1], ax=places[a, 0], ay=places[a, 1],
            xref="x", yref="y", axref="x", ayref="y",
            arrowhead=2, arrowsize=1, arrowwidth=1 + 4 * count / most, arrowcolor=basin_color(int(a) + 1),
            standoff=16, startstandoff=16, opacity=0.75, text="",
        )  # fmt: skip
    said = [
        f"basin {b.number}: {', '.join(w) or 'no word stands out'}<br>{100 * b.share:.1f} % of the time, "
        f"{b.visits} visits, {b.returns} returns"
        for b, w in zip(basins, words, strict=True)
    ]
    figure.add_scatter(
        x=places[:, 0],
        y=places[:, 1],
        mode="markers+text",
        text=[str(b.number) for b in basins],
        textfont={"color": "#FFFFFF", "size": 14},
        marker={
            "size": [22 + 40 * math.sqrt(b.share) for b in basins],
            "color": [basin_color(b.number) for b in basins],
        },
        hovertext=[literal(s).replace("&lt;br&gt;", "<br>") for s in said],
        hovertemplate="%{hovertext}<extra></extra>",
        showlegend=False,
        cliponaxis=False,
    )
    axis = {"showgrid": False, "zeroline": False, "showticklabels": False}
    figure.update_xaxes(**axis)
    figure.update_yaxes(**axis)
    figure.update_layout(margin={"l": 30, "r": 30, "t": 30, "b": 30})
    return figure


def escape_plot(found: Sequence[Escape]) -> go.Figure:
    """Escape times against 1/tau on a log scale: simulated, exact, and the two lower bounds (MATH section 4)."""
    powers = curve(found)
    x = powers["inverse_tau"]
    y = {name: 10.0 ** np.minimum(values, 300.0) for name, values in powers.items() if name != "inverse_tau"}
    figure = go.Figure()
    figure.add_scatter(x=x, y=y["exact"], name="exact: 1/q", mode="lines", line={"color": COLORS[0], "width": 3})
    figure.add_scatter(
        x=x, y=y["sum_bound"], name="sum bound", mode="lines", line={"color": COLORS[2], "dash": "dash", "width": 2}
    )
    informative = np.where(powers["margin_bound"] > 0, y["margin_bound"], np.nan)
    name = "margin bound" + ("" if np.isfinite(informative).any() else " (says nothing here)")
    figure.add_scatter(
        x=x, y=informative, name=name, mode="lines", line={"color": COLORS[4], "dash": "dot", "width": 2}
    )
    seen = np.isfinite(powers["mean"])
    mean, low, high = (y[column][seen] for column in ("mean", "low", "high"))
    figure.add_scatter(
        x=x[seen],
        y=mean,
        name="simulated (95 % interval)",
        mode="markers",
        marker={"color": COLORS[3], "size": 9, "symbol": "diamond"},
        error_y={"type": "data", "symmetric": False, "array": high - mean, "arrayminus": mean - low},
    )
    if (~seen).any():
        figure.add_scatter(
            x=x[~seen],
            y=y["low"][~seen],
            name="none left in time: above this",
            mode="markers",
            marker={"color": COLORS[3], "size": 11, "symbol": "arrow-up"},
        )
    figure.update_traces(hovertemplate="1/temperature %{x:.3g}: %{y:,.4g} steps<extra>%{fullData.name}</extra>")
    figure.update_xaxes(title="1 / temperature")
    figure.update_yaxes(
        title="steps until it changes", type="log", exponentformat="power", dtick=1 if _far(y) else None
    )
    figure.update_layout(margin=MARGIN, legend={"orientation": "h", "y": -0.22, "yanchor": "top", "x": 0})
    return figure


def _far(columns: dict[str, Float64[np.ndarray, " T"]]) -> bool:
    """True where whole powers of ten are ticks enough, and not too many."""
    top = max((float(v[np.isfinite(v)].max(initial=1.0)) for v in columns.values()), default=1.0)
    return 1e2 <= top <= 1e12


def topic_matrix(share: Float64[np.ndarray, "C T"], rows: Sequence[str], topics: Sequence[str]) -> go.Figure:
    """Share of time that chains from each start spent in each topic.

    Args:
        share: float64 [C, T], in [0, 1].
        rows: names of the starts.
        topics: T names.
    """
    figure = go.Figure(
        go.Heatmap(
            z=100 * share,
            x=list(topics),
            y=[literal(r) for r in rows],
            zmin=0,
            zmax=100,
            colorscale=((0.0, "#D3E6F3"), (0.35, "#7FB8DA"), (0.7, "#2F88C0"), (1.0, "#00508A")),
            colorbar={"title": {"text": "% of time", "side": "top"}, "thickness": 10},
            hovertemplate="start %{y}: %{z:.1f} % of the time in %{x}<extra></extra>",
            xgap=2,
            ygap=2,
        )
    )
    figure.update_yaxes(autorange="reversed", title="start")
    figure.update_xaxes(title="topic on the way", side="top")
    figure.update_layout(margin=MARGIN | {"t": 50}, dragmode=False)
    return figure
