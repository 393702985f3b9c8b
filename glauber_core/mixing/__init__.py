"""Mixing measured (MATH section 6): exact curves, coupled chains, drift, scaling, and sweeps over tau x n.

Import the modules by name; this package itself imports nothing, so that it stays light.
"""
