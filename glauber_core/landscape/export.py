"""The landscape as tables: visits with their coordinates, basins, transitions, traps."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float64

from glauber_core.landscape.analysis import Analysis
from glauber_core.landscape.traps import Kept

if TYPE_CHECKING:
    from pandas import DataFrame

_CHAINS = "ABCDEFGH"


def visits_table(analysis: Analysis, xy: Float64[np.ndarray, "S 2"], axes: str, topics: Sequence[str]) -> DataFrame:
    """One row for each kept visit of each chain.

    Columns: chain, visit, entry (of the run record), entered_step (whole number; text where it does not fit 63 bits),
    entered_sweep, stay_steps, log_exit_nats (log q; empty where it was not computed), state, sentence, x, y, axes,
    topic (empty where none is clear), basin (0: none).

    Args:
        analysis: of the run.
        xy: float64 [S, 2], coordinates of the states.
        axes: which map they belong to.
        topics: S names, empty where none is clear.
    """
    from pandas import DataFrame, concat

    picture, parts = analysis.picture, []
    for k, (visits, steps) in enumerate(zip(picture.visits, analysis.per_sweep, strict=True)):
        exact = all(t < 2**63 for t in visits.entered)
        parts.append(
            DataFrame(
                {
                    "chain": _CHAINS[k],
                    "visit": np.arange(len(visits.state)),
                    "entry": visits.entry,
                    "entered_step": list(visits.entered) if exact else [str(t) for t in visits.entered],
                    "entered_sweep": [float(t) / steps for t in visits.entered],
                    "stay_steps": visits.dwell,
                    "log_exit_nats": visits.log_exit,
                    "state": visits.state,
                    "sentence": [picture.texts[s] for s in visits.state],
                    "x": xy[visits.state, 0],
                    "y": xy[visits.state, 1],
                    "axes": axes,
                    "topic": [topics[s] for s in visits.state],
                    "basin": analysis.labels[visits.state] + 1,
                }
            )
        )
    if any(part["entered_step"].dtype == object for part in parts):
        parts = [part.assign(entered_step=part["entered_step"].astype(str)) for part in parts]
    return concat(parts, ignore_index=True)


def basins_table(analysis: Analysis) -> DataFrame:
    """One row for each basin: the fields of ``Basin``, its words, medoid sentence, and transitions to each basin."""
    from pandas import DataFrame

    rows: list[dict[str, Any]] = []
    for basin, words in zip(analysis.basins, analysis.words, strict=True):
        to = {f"to_basin_{b + 1}": int(n) for b, n in enumerate(analysis.flow[basin.number - 1])}
        own = basin._asdict() | {"medoid": analysis.picture.texts[basin.medoid], "words": " ".join(words)}
        rows.append(own | {"reach": analysis.reach, "least_sweeps": analysis.least} | to)
    return DataFrame(rows)


def traps_table(kept: Sequence[tuple[int, Kept]], text: Callable[[tuple[int, ...]], str]) -> DataFrame:
    """One row for each trap of a catalogue.

    Args:
        kept: (chain, trap).
        text: token ids to a sentence.
    """
    from pandas import DataFrame

    return DataFrame(
        [
            {
                "chain": _CHAINS[k],
                "kind": one.trap.kind,
                "reason": one.trap.reason,
                "sentence": text(one.trap.state),
                "token_ids": " ".join(map(str, one.trap.state)),
                "tau": one.trap.tau,
                "stays": one.stays,
                "ended": one.ended,
                "dwell_steps": str(one.dwell),
                "mean_steps_estimate": one.mean,
                "expected_steps": one.trap.expected,
                "holding": one.trap.holding,
                "log_exit_nats": one.trap.log_exit,
                "smallest_margin_nats": one.trap.smallest,
                "margins_nats": " ".join("" if math.isnan(g) else f"{g:.6g}" for g in one.trap.margin),
                "first_entered_step": str(one.trap.entered),
                "first_left_step": "" if one.trap.left is None else str(one.trap.left),
            }
            for k, one in kept
        ]
    )


def to_csv(table: DataFrame) -> str:
    """UTF-8 text with a header row."""
    return str(table.to_csv(index=False, lineterminator="\n"))


def to_parquet(table: DataFrame) -> bytes:
    """Apache Parquet, by pyarrow."""
    out = io.BytesIO()
    table.to_parquet(out, index=False)
    return out.getvalue()
