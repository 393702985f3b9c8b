"""Exact small models on the ``Conditionals`` protocol, and their chains as matrices.

Every model has ``vocab_size``, ``allowed``, ``name`` and ``model_hash``; those with a joint law also ``log_weight``.
"""

from glauber_core.exact.bigram import Bigram
from glauber_core.exact.curie_weiss import CurieWeiss, Potts
from glauber_core.exact.enumerate import (
    conditional_law,
    site_kernel,
    systematic_scan_matrix,
    transition_matrix,
)
from glauber_core.exact.joint import Compatible, joint_law
from glauber_core.exact.laws import distribution_after, stationary_law
from glauber_core.exact.statespace import MAX_STATES, StateSpace
from glauber_core.exact.tables import ConditionalTable, JointTable
from glauber_core.exact.transitions import DenseTransitions, SmoothedCounts, Transitions

__all__ = [
    "MAX_STATES",
    "Bigram",
    "Compatible",
    "ConditionalTable",
    "CurieWeiss",
    "DenseTransitions",
    "JointTable",
    "Potts",
    "SmoothedCounts",
    "StateSpace",
    "Transitions",
    "conditional_law",
    "distribution_after",
    "joint_law",
    "site_kernel",
    "stationary_law",
    "systematic_scan_matrix",
    "transition_matrix",
]
