"""One Glauber step for a batch of chains: pure functions, uniforms in, new state out (MATH section 1).

Source: random-scan Glauber dynamics, Levin & Peres, "Markov Chains and Mixing Times", section 3.3, with the
conditionals of arXiv 2605.16378, section 2.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Float64, Int, Int64
from torch import Tensor

from glauber_core.errors import UserError
from glauber_core.types import Conditionals


class ChainState(NamedTuple):
    """What is carried from step to step.

    Attributes:
        tokens: int64 [C, n], one sentence a chain.
        steps: int64 [C], steps done.
    """

    tokens: Int64[Tensor, "C n"]
    steps: Int64[Tensor, " C"]


class StepInfo(NamedTuple):
    """Diagnostics of one transition.

    Attributes:
        position: int64 [C], the resampled position (0-based).
        old, new: int64 [C], token before and after.
        log_prob: float64 [C], log p_i^tau(new | x_-i), nats.
        entropy: float64 [C], entropy of p_i^tau(. | x_-i), nats.
        margin: float64 [C], l_i(new) - max over other tokens of l_i, nats at tau = 1 (MATH section 4).
    """

    position: Int64[Tensor, " C"]
    old: Int64[Tensor, " C"]
    new: Int64[Tensor, " C"]
    log_prob: Float64[Tensor, " C"]
    entropy: Float64[Tensor, " C"]
    margin: Float64[Tensor, " C"]


def init(tokens: Int[Tensor, "C n"]) -> ChainState:
    """State of C chains at step 0; ``tokens`` int64 [C, n] is copied.

    Raises:
        UserError: no position at all.
    """
    if tokens.shape[1] == 0:
        raise UserError("A chain needs at least one word.")
    return ChainState(tokens.clone().long(), torch.zeros(len(tokens), dtype=torch.int64))


def lowest_argmax(logits: Float[Tensor, "B V"]) -> Int64[Tensor, " B"]:
    """int64 [B]: the most likely token of each row, the lowest id on ties (``torch.argmax`` promises no order)."""
    ids = torch.arange(logits.shape[1], device=logits.device)
    return torch.where(logits == logits.amax(dim=1, keepdim=True), ids, logits.shape[1]).amin(dim=1)


def entropy_of(log_prob: Float64[Tensor, "B V"]) -> Float64[Tensor, " B"]:
    """float64 [B], nats: entropy of each row of log probabilities; tokens of probability 0 add nothing."""
    prob = log_prob.exp()
    return -(prob * torch.where(prob > 0, log_prob, 0.0)).sum(dim=1)


def log_conditional(logits: Float[Tensor, "B V"], tau: Float64[Tensor, " B"]) -> Float64[Tensor, "B V"]:
    """log p^tau = log softmax(logits / tau) in float64; at tau = 0 all mass on the argmax of lowest id.

    The maximum is subtracted before the division, so tau = 1e-300 and 1e6 neither overflow nor give NaN.
    """
    wide = logits.double()
    centred = wide - wide.amax(dim=1, keepdim=True)
    hot = centred / tau.clamp_min(torch.finfo(torch.float64).tiny)[:, None]
    hot = torch.where(centred == 0, centred, hot)
    result = hot - torch.logsumexp(hot, dim=1, keepdim=True)
    cold = tau == 0
    if bool(cold.any()):
        ids = torch.arange(logits.shape[1], device=logits.device)
        frozen = torch.where(ids == lowest_argmax(logits)[:, None], 0.0, -torch.inf).double()
        result = torch.where(cold[:, None], frozen, result)
    return result


def inverse_cdf(
    log_prob: Float64[Tensor, "B V"],
    uniform: Float64[Tensor, " B"],
    allowed: Bool[Tensor, " V"] | Bool[Tensor, "B V"],
) -> Int64[Tensor, " B"]:
    """Token by inverse CDF in id order, clamped at the last allowed token, of all rows or of each row.

    ``torch.multinomial`` is not used: it can return an index of probability zero (PyTorch issue 50034).
    """
    cdf = torch.cumsum(log_prob.exp(), dim=1)
    # The first id whose cdf exceeds the target added mass itself, so it is never a disallowed one.
    drawn = torch.searchsorted(cdf, (uniform * cdf[:, -1])[:, None].contiguous(), right=True)[:, 0]
    ids = torch.arange(log_prob.shape[1], device=drawn.device)
    last = torch.where(allowed.to(drawn.device), ids, 0).amax(dim=-1)
    return torch.minimum(drawn, last)


def margin_of(logits: Float[Tensor, "B V"], tokens: Int64[Tensor, " B"]) -> Float64[Tensor, " B"]:
    """g = l(token) - max over v != token of l(v), float64 [B] in nats; NaN where the token is outside V."""
    wide = logits.double()
    own = wide.gather(1, tokens[:, None])[:, 0]
    top = wide.topk(2, dim=1)
    rival = torch.where(top.indices[:, 0] == tokens, top.values[:, 1], top.values[:, 0])
    return torch.where(torch.isfinite(own), own - rival, torch.nan)


def pick_positions(free: Int64[Tensor, " m"], uniform: Float64[Tensor, " C"]) -> Int64[Tensor, " C"]:
    """Uniform choice among the free positions, int64 [C]."""
    index = (uniform * len(free)).long().clamp_max(len(free) - 1)
    return free[index]


def picked(free: Int64[Tensor, " m"], uniform: Float64[Tensor, "C 2"]) -> Int64[Tensor, " C"]:
    """The position that each chain's step resamples, int64 [C]. Raises UserError where no position is free."""
    if len(free) == 0:
        raise UserError("Every word is locked: unlock at least one to go on.")
    return pick_positions(free, uniform[:, 0])


def step(
    conditionals: Conditionals,
    state: ChainState,
    uniform: Float64[Tensor, "C 2"],
    tau: Float64[Tensor, " C"],
    free: Int64[Tensor, " m"],
) -> tuple[ChainState, StepInfo]:
    """One random-scan step of C chains that share their free positions; inputs are not mutated.

    Args:
        conditionals: the model; called once with C rows.
        state: C chains of n tokens.
        uniform: float64 [C, 2] in [0, 1): position and token (``streams.uniforms``).
        tau: float64 [C], >= 0.
        free: int64 [m], the positions that may be resampled, in increasing order; m >= 1.

    Raises:
        UserError: no free position.
    """
    position = picked(free, uniform)
    return resample(conditionals, state, position, uniform[:, 1], tau)


def resample(
    conditionals: Conditionals,
    state: ChainState,
    position: Int64[Tensor, " C"],
    uniform: Float64[Tensor, " C"],
    tau: Float64[Tensor, " C"],
) -> tuple[ChainState, StepInfo]:
    """Resample a given position of each chain; the part of ``step`` after the position is chosen."""
    return draw(conditionals(state.tokens, position), conditionals.allowed, state, position, uniform, tau)


def draw(
    logits: Float[Tensor, "C V"],
    allowed: Bool[Tensor, " V"],
    state: ChainState,
    position: Int64[Tensor, " C"],
    uniform: Float64[Tensor, " C"],
    tau: Float64[Tensor, " C"],
) -> tuple[ChainState, StepInfo]:
    """Draw the new token of each chain from logits that were read; the part of ``resample`` after the model."""
    tau, uniform = tau.to(logits.device), uniform.to(logits.device)
    log_prob = log_conditional(logits, tau)
    new = inverse_cdf(log_prob, uniform, allowed.to(logits.device))
    rows = torch.arange(len(position))
    old = state.tokens[rows, position]
    info = StepInfo(
        position,
        old,
        new.cpu(),
        log_prob.gather(1, new[:, None])[:, 0].cpu(),
        entropy_of(log_prob).cpu(),
        margin_of(logits, new).cpu(),
    )
    tokens = state.tokens.clone()
    tokens[rows, position] = info.new
    return ChainState(tokens, state.steps + 1), info
