"""Plotly figures of results that were computed elsewhere; nothing here computes a statistic."""
