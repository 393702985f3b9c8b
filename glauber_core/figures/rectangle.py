"""Pictures of the rectangle test: pairs, distribution, distance, models side by side.

Colours are Okabe and Ito's; the page's theme chooses ground and text.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float64

from glauber_core.figures.literal import literal
from glauber_core.rectangle.compare import Row
from glauber_core.rectangle.statistics import Summary

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#8A939B"
# Pale to deep blue: one direction for every kind of colour vision; neither end is a light or a dark page's ground.
SCALE = ((0.0, "#D3E6F3"), (0.35, "#7FB8DA"), (0.7, "#2F88C0"), (1.0, "#00508A"))
MARGIN = {"l": 10, "r": 10, "t": 10, "b": 10}
BINS_PER_DECADE = 8


def heat_map(medians: Float64[np.ndarray, "n n"], tokens: Sequence[str]) -> go.Figure:
    """Median delta of every pair of words; hovering names the pair, and an invisible marker on it can be clicked.

    Args:
        medians: float64 [n, n], nats; NaN where untested.
        tokens: n words.

    Returns:
        a figure whose second trace has a point for each tested pair with ``customdata`` [i, j].
    """
    n = len(tokens)
    places = list(range(n))
    names = [literal(f"{k + 1} {t}") for k, t in enumerate(tokens)]
    grid = go.Heatmap(
        z=medians,
        x=places,
        y=places,
        colorscale=SCALE,
        zmin=0,
        zmax=float(medians[np.isfinite(medians)].max(initial=1e-12)),
        colorbar={"title": {"text": "nats", "side": "top"}, "thickness": 10, "nticks": 6},
        hoverinfo="skip",
        xgap=1,
        ygap=1,
    )
    rows, columns = np.nonzero(np.isfinite(medians))
    clickable = go.Scatter(
        x=columns,
        y=rows,
        mode="markers",
        marker={"symbol": "square", "size": max(8, min(26, 420 // max(1, n))), "opacity": 0.0, "color": BLUE},
        customdata=np.stack([rows, columns], axis=1).tolist(),  # of an array a click would send back no list
        text=[
            f"{names[i]} / {names[j]}<br>median delta {medians[i, j]:.3g} nats"
            for i, j in zip(rows, columns, strict=True)
        ],
        hovertemplate="%{text}<extra></extra>",
        showlegend=False,
    )
    figure = go.Figure([grid, clickable])
    axis = {"tickmode": "array", "tickvals": places, "ticktext": names, "showgrid": False, "zeroline": False}
    figure.update_xaxes(**axis, tickangle=-60, range=[-0.5, n - 0.5], constrain="domain")
    figure.update_yaxes(**axis, range=[n - 0.5, -0.5], scaleanchor="x", constrain="domain")
    figure.update_layout(margin=MARGIN | {"t": 34}, dragmode=False)
    return figure


def histogram(delta: Float64[np.ndarray, " N"], floor: float | None, markers: Summary | None = None) -> go.Figure:
    """Distribution of delta on a logarithmic axis, with the noise floor and the median marked.

    Args:
        delta: float64 [N], nats.
        floor: nats, or None.
        markers: whose median is drawn, or None.
    """
    smallest = min(1e-6, floor or 1e-6)
    logs = np.log10(np.maximum(delta, smallest))
    low, high = np.floor(logs.min(initial=-2.0)), np.ceil(logs.max(initial=1.0))
    edges = np.linspace(low, high, int(high - low) * BINS_PER_DECADE + 1)
    counts, _ = np.histogram(logs, edges)
    left, right = 10 ** edges[:-1], 10 ** edges[1:]
    spans = [f"{a:.2g} to {b:.2g} nats" for a, b in zip(left, right, strict=True)]
    least = int(np.searchsorted(edges, np.log10(smallest), side="right")) - 1
    if least >= 0:  # zero has no place on a logarithmic axis
        spans[least] = f"up to {right[least]:.2g} nats"
    figure = go.Figure(
        go.Bar(
            x=(left + right) / 2,
            y=counts,
            width=right - left,
            marker={"color": BLUE},
            text=spans,
            textposition="none",
            hovertemplate="%{text}: %{y} rectangles<extra></extra>",
        )
    )
    figure.update_xaxes(type="log", title="delta (nats)", dtick=1, exponentformat="power")
    figure.update_yaxes(title="rectangles", rangemode="tozero")
    if floor is not None and floor > 0:
        _mark(figure, floor, f"noise floor {floor:.1g}", ORANGE, "dash")
    if markers is not None:
        _mark(figure, max(markers.median, smallest), f"median {markers.median:.2g}", GREEN, "dot")
    figure.update_layout(margin=MARGIN | {"t": 34}, showlegend=False, bargap=0, dragmode=False)
    return figure


def _mark(figure: go.Figure, value: float, label: str, color: str, dash: str) -> None:
    figure.add_shape(
        type="line", x0=value, x1=value, y0=0, y1=1, yref="paper", line={"color": color, "dash": dash, "width": 2}
    )
    figure.add_annotation(x=float(np.log10(value)), y=1.0, yref="paper", yanchor="bottom", text=label, showarrow=False)


def distance_curve(by_distance: dict[int, Summary]) -> go.Figure:
    """Median delta and its quartiles against the distance between the two words."""
    distances = list(by_distance)
    rows = list(by_distance.values())
    figure = go.Figure(
        go.Scatter(
            x=distances,
            y=[r.median for r in rows],
            error_y={
                "type": "data",
                "symmetric": False,
                "array": [r.q75 - r.median for r in rows],
                "arrayminus": [r.median - r.q25 for r in rows],
                "color": GREY,
                "thickness": 1.5,
            },
            mode="markers+lines",
            marker={"color": BLUE, "size": 8},
            line={"color": BLUE},
            text=[f"{r.rectangles} rectangles" for r in rows],
            hovertemplate="distance %{x}: median %{y:.3g} nats, %{text}<extra></extra>",
        )
    )
    figure.update_xaxes(title="distance |i - j| (tokens)", rangemode="tozero")
    figure.update_yaxes(title="delta (nats)", rangemode="tozero")
    figure.update_layout(margin=MARGIN, showlegend=False, dragmode=False)
    return figure


def compare_box(rows: Sequence[Row]) -> go.Figure:
    """Box plot of delta for each model; colour and name say which are controls."""
    colors = {"masked": BLUE, "control": ORANGE, "by construction": GREEN}
    figure = go.Figure()
    for row in rows:
        summary = row.summary
        figure.add_trace(
            go.Box(
                name=literal(row.subject.name),
                x=[literal(row.subject.name)],
                q1=[summary.q25],
                median=[summary.median],
                q3=[summary.q75],
                lowerfence=[float(row.measured.delta.min())],
                upperfence=[summary.q90],
                mean=[summary.mean],
                marker={"color": colors[row.subject.kind]},
                boxmean=True,
                hoverinfo="y+name",
            )
        )
    figure.update_yaxes(title="delta (nats)", rangemode="tozero", zeroline=True)
    figure.update_layout(margin=MARGIN, showlegend=False, dragmode=False)
    return figure
