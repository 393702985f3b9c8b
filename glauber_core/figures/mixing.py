"""Pictures of mixing: the phase diagram, one cell's distance curve, and Curie-Weiss against its lines.

Colours are Okabe and Ito's; the page's theme chooses ground and text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from glauber_core.figures.literal import literal
from glauber_core.mixing.cell import CellResult
from glauber_core.mixing.curie_weiss import coupling_line, magnetisation_chain, mixing_time, tv_curve, tv_line
from glauber_core.mixing.phase import Boundary, PhasePoint

COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9")
MARGIN = {"l": 10, "r": 10, "t": 10, "b": 10}
PAPER = (1.5, 2.0)  # where arXiv 2605.16378 sees the transition
SCALE = ((0.0, "#56B4E9"), (0.5, "#E69F00"), (1.0, "#D55E00"))  # fast to slow


def phase_diagram(points: Sequence[PhasePoint], found: Sequence[Boundary]) -> go.Figure:
    """Median coupling time over tau x n, sweeps; censored cells crossed, the boundary drawn, the paper's range marked.

    Args:
        points: of one model and start.
        found: their boundaries.
    """
    taus = sorted({p.tau for p in points})
    lengths = sorted({p.n for p in points})
    z = np.full((len(taus), len(lengths)), np.nan)
    text = [["" for _ in lengths] for _ in taus]
    crossed: list[tuple[int, int]] = []
    for p in points:
        row, column = taus.index(p.tau), lengths.index(p.n)
        z[row, column] = math.log10(max(p.median.beyond if p.median.censored else p.median.value, 0.1))
        shown = f"> {p.median.beyond:,.0f}" if p.median.censored else f"{p.median.value:.3g}"
        text[row][column] = shown
        if p.median.censored:
            crossed.append((column, row))
    x, y = list(range(len(lengths))), list(range(len(taus)))  # drawn by place: cells of one size
    names = [[[n, tau] for n in lengths] for tau in taus]
    figure = go.Figure(
        go.Heatmap(
            z=z,
            x=x,
            y=y,
            text=text,
            texttemplate="%{text}",
            textfont={"color": "#000000", "size": 13},
            colorscale=SCALE,
            colorbar={"title": {"text": "sweeps", "side": "top"}, "thickness": 10, "tickprefix": "10^"},
            customdata=names,
            hovertemplate="n = %{customdata[0]}, tau = %{customdata[1]}: median %{text} sweeps<extra></extra>",
            xgap=2,
            ygap=2,
        )
    )
    figure.add_scatter(
        x=[column for column, _ in crossed],
        y=[row for _, row in crossed],
        mode="markers",
        marker={"symbol": "x-thin", "size": 40, "line": {"width": 1.5, "color": "rgba(0,0,0,0.55)"}},
        name="censored: longer than was watched",
        hoverinfo="skip",
    )
    line_x: list[float | None] = []
    line_y: list[float | None] = []
    for b in found:
        if b.slow > 0 and math.isfinite(b.fast):
            column = lengths.index(b.n)
            height = (taus.index(b.slow) + taus.index(b.fast)) / 2
            line_x += [column - 0.5, column + 0.5, None]
            line_y += [height, height, None]
    figure.add_scatter(
        x=line_x, y=line_y, mode="lines", line={"color": "#6A51A3", "width": 5}, name="slow below, fast above",
        hoverinfo="skip",
    )  # fmt: skip
    low, high = (np.interp(edge, taus, range(len(taus))) for edge in PAPER)
    figure.add_shape(
        type="rect",
        xref="paper",
        x0=0,
        x1=1,
        y0=float(low),
        y1=float(high),
        line={"color": "#000000", "width": 1.5, "dash": "dot"},
    )
    figure.add_annotation(
        xref="paper",
        x=1,
        y=float(high),
        xanchor="right",
        yanchor="bottom",
        showarrow=False,
        text="the paper's 1.5 to 2",
        font={"color": "#000000", "size": 12},
        bgcolor="#F2F2F2",
    )
    edges = {"showgrid": False, "zeroline": False}
    ticks = {"tickmode": "array", "tickvals": x, "ticktext": [str(n) for n in lengths]}
    figure.update_xaxes(title="n, tokens of the sentence", range=[-0.5, len(x) - 0.5], **ticks, **edges)
    ticks = {"tickmode": "array", "tickvals": y, "ticktext": [f"{tau:g}" for tau in taus]}
    figure.update_yaxes(title="temperature tau", range=[-0.5, len(y) - 0.5], **ticks, **edges)
    figure.update_layout(margin=MARGIN, legend={"orientation": "h", "y": -0.2, "yanchor": "top"}, dragmode=False)
    return figure


def distance_curves(results: Sequence[CellResult]) -> go.Figure:
    """Mean share of words in which coupled pairs differ, against sweeps; one line for each cell."""
    figure = go.Figure()
    for k, r in enumerate(results):
        figure.add_scatter(
            x=list(r.sweeps),
            y=[100 * d for d in r.distance],
            mode="lines",
            line={"color": COLORS[k % len(COLORS)], "width": 2.5, "shape": "hv"},
            name=literal(f"tau {r.cell.tau:g}"),
            hovertemplate="sweep %{x}: %{y:.1f} % differ<extra>%{fullData.name}</extra>",
        )
    figure.update_xaxes(title="sweeps", type="log" if results else "linear")
    figure.update_yaxes(title="% of the words differ", range=[0, 100])
    figure.update_layout(margin=MARGIN, legend={"orientation": "h", "y": 1.15})
    return figure


def curie_weiss(n: int, betas: Sequence[float], points: int = 60) -> tuple[go.Figure, list[dict[str, object]]]:
    """Exact distance from stationarity of n spins that began all plus, and the mixing times beside their lines.

    Args:
        n: spins.
        betas: inverse temperatures >= 0.
        points: times on each curve.

    Returns:
        the figure, x in units of n log n steps; and one row for each beta: beta, exact t_mix(1/4), its line
        n log n / (2 (1 - beta)), their ratio, and the coupling time's line.
    """
    unit = n * math.log(n)
    figure, rows = go.Figure(), []
    for k, beta in enumerate(betas):
        chain = magnetisation_chain(n, beta)
        far = 3 * unit / max(0.15, abs(1 - beta))
        times = np.unique(np.linspace(0, far, points).round().astype(np.int64))
        found = tv_curve(chain, times.tolist())
        figure.add_scatter(
            x=found.steps / unit,
            y=found.distance,
            mode="lines",
            line={"color": COLORS[k % len(COLORS)], "width": 2.5},
            name=f"beta {beta:g}",
            hovertemplate="%{x:.2f} n log n steps: distance %{y:.3f}<extra>%{fullData.name}</extra>",
        )
        exact = mixing_time(chain, limit=2**18)
        line = tv_line(n, beta) if beta < 1 else None
        rows.append(
            {
                "beta": beta,
                "exact t_mix (steps)": f"more than {2**18:,}" if exact is None else f"{exact:,}",
                "n log n / (2 (1 - beta))": "none: beta is not below 1" if line is None else f"{line:,.0f}",
                "ratio": "" if line is None or exact is None else f"{exact / line:.3f}",
                "coupling: n log n / (1 - beta)": "" if line is None else f"{coupling_line(n, beta):,.0f}",
            }
        )
    figure.add_hline(y=0.25, line={"dash": "dot", "color": "#8A939B"}, annotation={"text": "1/4"})
    figure.update_xaxes(title="steps / (n log n)", range=[0, 10])
    figure.update_yaxes(title="distance from stationarity (TV)", range=[0, 1])
    figure.update_layout(margin=MARGIN, legend={"orientation": "h", "y": 1.15})
    return figure, rows
