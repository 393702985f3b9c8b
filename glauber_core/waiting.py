"""Rejection-free moves: how long a state is held and where it is left for, without simulating the steps between.

Pure functions, uniforms in, new states out (MATH section 5). Source: the n-fold way, Bortz, Kalos & Lebowitz, "A new
algorithm for Monte Carlo simulation of Ising spin systems", J. Comput. Phys. 17 (1975), in discrete time.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from jaxtyping import Float, Float64, Int64
from torch import Tensor
from torch.nn.functional import logsigmoid

from glauber_core.errors import UserError
from glauber_core.kernels import StepInfo, entropy_of, inverse_cdf, log_conditional, lowest_argmax, margin_of
from glauber_core.types import Conditionals

FOREVER = 10**306  # where every clock of simulated steps ends: float64 can still hold each time up to it
_LOG_FOREVER = math.log(FOREVER)
_ROWS = 64  # a longer sentence is read in several calls, so that memory does not grow with its length
_SMALL = -600.0  # below this log q, q is about to leave float64's normal range


class Departure(NamedTuple):
    """How S states are left.

    Attributes:
        tokens: int64 [S, n], the states after the change; an absorbed state stays as it is.
        log_exit: float64 [S], log q(x) of the states before it, nats, <= 0; -inf where absorbed.
        info: the change, ``StepInfo`` of [S]; ``log_prob`` is log p_i^tau(new | x_-i). Meaningless where absorbed.
    """

    tokens: Int64[Tensor, "S n"]
    log_exit: Float64[Tensor, " S"]
    info: StepInfo


def log_change(
    logits: Float[Tensor, "B V"], own: Int64[Tensor, " B"], tau: Float64[Tensor, " B"]
) -> Float64[Tensor, " B"]:
    """log sum_{v != own} p^tau(v), float64 [B], nats: the probability that resampling a position changes its token.

    The other tokens are summed themselves: 1 - p(own) would lose everything below 1e-16. 0 where ``own`` lies outside
    V, -inf where nothing else can be drawn.
    """
    wide = logits.double()
    warm = tau.clamp_min(torch.finfo(torch.float64).tiny)
    hot = (wide - wide.amax(dim=1, keepdim=True)) / warm[:, None]
    kept = hot.gather(1, own[:, None])[:, 0]
    others = torch.logsumexp(hot.scatter(1, own[:, None], -torch.inf), dim=1)
    frozen = torch.where(lowest_argmax(logits) == own, -torch.inf, 0.0).double() if bool((tau == 0).any()) else others
    return torch.where(tau == 0, frozen, logsigmoid(others - kept))


def dwell(uniform: float, log_exit: float) -> int:
    """Steps up to and including the change, Geometric(q) on 1, 2, ...: P(D > k) = (1 - q)^k, by inversion.

    Args:
        uniform: in [0, 1), a multiple of 2^-53; every P(D > k) is met to 1.1e-16.
        log_exit: log q, nats, <= 0; -1e-300 and -1e300 are as good as any.

    Returns:
        A Python int: exact below 2^53, to 1e-13 of itself above; ``FOREVER`` + 1 for everything beyond ``FOREVER``.
    """
    if log_exit == -math.inf:
        return FOREVER + 1
    exponential = -math.log1p(-uniform)
    if exponential == 0 or log_exit >= 0:
        return 1
    if log_exit > _SMALL:
        # log(1 - q) from log q, by the branch that does not cancel.
        stay = math.log1p(-math.exp(log_exit)) if log_exit < -math.log(2) else math.log(-math.expm1(log_exit))
        return int(exponential / -stay) + 1
    log_wait = math.log(exponential) - log_exit  # -log(1 - q) is q to all digits here
    return int(math.exp(log_wait)) + 1 if log_wait < _LOG_FOREVER else FOREVER + 1


def read(
    conditionals: Conditionals, tokens: Int64[Tensor, "S n"], tau: Float64[Tensor, " S"], free: Int64[Tensor, " m"]
) -> tuple[Float[Tensor, "S m V"], Float64[Tensor, "S m"]]:
    """All free conditionals of S states: logits [S, m, V] and ``log_change`` [S, m], on the model's device.

    One call of S * m rows; for more than 64 free positions calls of equal size, dummy rows filling up the last.

    Raises:
        UserError: no free position.
    """
    m = len(free)
    if m == 0:
        raise UserError("Every word is locked: unlock at least one to go on.")
    calls = -(-m // _ROWS)
    width = -(-m // calls)
    logits, change = [], []
    for part in torch.split(free[torch.arange(calls * width).clamp_max(m - 1)], width):
        rows = conditionals(tokens.repeat_interleave(width, dim=0), part.repeat(len(tokens)))
        own = tokens[:, part].flatten().to(rows.device)
        change.append(log_change(rows, own, tau.repeat_interleave(width).to(rows.device)).unflatten(0, (-1, width)))
        logits.append(rows.unflatten(0, (-1, width)))
    return torch.cat(logits, dim=1)[:, :m], torch.cat(change, dim=1)[:, :m]


def leave(
    conditionals: Conditionals,
    tokens: Int64[Tensor, "S n"],
    uniform: Float64[Tensor, "S 2"],
    tau: Float64[Tensor, " S"],
    free: Int64[Tensor, " m"],
) -> Departure:
    """The next change of S states that share their free positions; inputs are not mutated.

    The change (i, v), v != x_i, has probability p_i^tau(v | x_-i) / (m q): position first, then token, each by inverse
    CDF. A position whose token lies outside V changes whenever it is picked.

    Args:
        conditionals: the model; called with S * m rows.
        tokens: int64 [S, n].
        uniform: float64 [S, 2] in [0, 1): position and token (columns 1 and 2 of ``streams.wait_uniforms``).
        tau: float64 [S], >= 0.
        free: int64 [m], the positions that may be resampled, in increasing order; m >= 1.

    Raises:
        UserError: no free position.
    """
    logits, change = read(conditionals, tokens, tau, free)
    device, count = logits.device, torch.arange(len(tokens))
    log_exit = (torch.logsumexp(change, dim=1) - math.log(len(free))).clamp_max(0.0)
    held = torch.isneginf(log_exit)
    share = torch.where(held[:, None], 0.0, change) - torch.where(held, 0.0, change.amax(dim=1))[:, None]
    picked = inverse_cdf(share, uniform[:, 0].to(device), torch.isfinite(share))
    position = free[picked.cpu()]
    old = tokens[count, position]
    chosen, tau = logits[count.to(device), picked], tau.to(device)
    log_prob = log_conditional(chosen, tau)
    others = log_prob.scatter(1, old.to(device)[:, None], -torch.inf)
    others = others - others.amax(dim=1, keepdim=True).clamp_min(torch.finfo(torch.float64).min)
    drawn = inverse_cdf(others, uniform[:, 1].to(device), torch.isfinite(others))
    new = torch.where(held, old.to(device), drawn)
    info = StepInfo(
        position,
        old,
        new.cpu(),
        log_prob.gather(1, new[:, None])[:, 0].cpu(),
        entropy_of(log_prob).cpu(),
        margin_of(chosen, new).cpu(),
    )
    after = tokens.clone()
    after[count, position] = info.new
    return Departure(after, log_exit.cpu(), info)
