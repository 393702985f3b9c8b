"""Chains in the space of meanings: trajectories, basins, traps, topics (MATH sections 4 and 7).

Import what you need from its modules: some of them bring scikit-learn or sentence-transformers along when used.
"""
