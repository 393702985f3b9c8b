"""Text in a Plotly figure, shown character by character."""

from __future__ import annotations

import html


def literal(text: str) -> str:
    """``text`` so that Plotly shows it as it is: it reads a few HTML tags, and MathJax reads dollar signs."""
    return html.escape(text, quote=False).replace("$", "$\u200b")
