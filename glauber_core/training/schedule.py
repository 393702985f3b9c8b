"""The learning rate as a function of progress, where progress is whichever budget runs out first."""

from __future__ import annotations


def progress(tokens: int, token_budget: float, seconds: float, second_budget: float) -> float:
    """Share of the training that is over: max of the shares of tokens and of wall time, within [0, 1].

    Driven by both, the rate reaches zero by the deadline even when the machine is busy. Give ``math.inf`` for an
    unlimited budget.
    """
    return min(1.0, max(tokens / token_budget, seconds / second_budget))


def rate_factor(step: int, warmup_steps: int, done: float) -> float:
    """Factor on the peak rate: linear warm-up over steps times linear decay to zero in progress.

    Args:
        step: steps taken so far, from 0.
        warmup_steps: first step with the full rate; 0 for none.
        done: progress in [0, 1].
    """
    warm = 1.0 if warmup_steps <= 0 else min(1.0, (step + 1) / warmup_steps)
    return warm * (1.0 - done)
