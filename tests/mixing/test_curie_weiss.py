"""The magnetisation chain against the enumerated one, the known mixing times, and its three regimes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from glauber_core.errors import UserError
from glauber_core.exact import CurieWeiss, StateSpace, joint_law, transition_matrix
from glauber_core.mixing import curie_weiss, exact
from glauber_core.mixing.curie_weiss import coupling_line, magnetisation_chain, mixing_time, tv_curve, tv_line


@pytest.mark.parametrize("beta", [0.0, 0.6, 1.0, 2.5])
@pytest.mark.parametrize("n", [1, 2, 7])
def test_against_the_enumerated_chain(n: int, beta: float) -> None:
    model = CurieWeiss(beta)
    space, matrix = StateSpace.full(model, n), transition_matrix(model, n, 1.0)
    plus = space.states().sum(dim=1).numpy()
    chain = magnetisation_chain(n, beta)
    assert np.allclose(np.bincount(plus, joint_law(model, space), n + 1), chain.law, rtol=1e-12)
    for x, k in enumerate(plus):
        assert np.allclose(np.bincount(plus, matrix[x], n + 1), chain.matrix()[k], atol=1e-15)
    assert np.allclose(chain.law @ chain.matrix(), chain.law, atol=1e-15)
    times, full = [0, 1, 3, 10, 40], 2**n - 1
    ours, enumerated = tv_curve(chain, times), exact.tv_curve(matrix, times, full)
    assert np.allclose(ours.distance, enumerated.distance, atol=1e-13)
    assert mixing_time(chain) == exact.mixing_time(matrix, start=full)
    assert mixing_time(chain, start=0) == exact.mixing_time(matrix, start=0)


@pytest.mark.parametrize(("beta", "steps", "ratio"), [(0.3, 2408, 1.085), (0.6, 3770, 0.971)])
def test_known_mixing_times_at_500_spins(beta: float, steps: int, ratio: float) -> None:
    found = mixing_time(magnetisation_chain(500, beta))
    assert found == steps and round(found / tv_line(500, beta), 3) == ratio
    assert coupling_line(500, beta) == 2 * tv_line(500, beta)


def test_three_regimes() -> None:
    """n log n below the critical point, n^1.5 at it, exponential above."""

    def times(beta: float, sizes: tuple[int, ...]) -> list[int]:
        found = [mixing_time(magnetisation_chain(n, beta), limit=2**34) for n in sizes]
        return [t for t in found if t is not None]

    hot = times(0.5, (250, 500, 1000))
    assert len(hot) == 3
    ratios = [t / tv_line(n, 0.5) for t, n in zip(hot, (250, 500, 1000), strict=True)]
    assert max(ratios) / min(ratios) < 1.05
    critical = times(1.0, (250, 1000))
    assert math.log(critical[1] / critical[0]) / math.log(4) == pytest.approx(1.5, abs=0.03)
    cold = times(1.5, (40, 80, 120))
    assert cold[1] / cold[0] > 8 and cold[2] / cold[1] > 8


def test_squaring_goes_on_where_single_steps_end(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = magnetisation_chain(40, 1.3)
    direct = mixing_time(chain)
    monkeypatch.setattr(curie_weiss, "_DIRECT", 128)
    assert direct is not None and direct > 1000
    assert mixing_time(chain, limit=2**30) == direct
    assert mixing_time(chain, limit=direct) == direct and mixing_time(chain, limit=direct - 1) is None
    monkeypatch.setattr(curie_weiss, "_DENSE", 10)
    assert mixing_time(chain, limit=2**30) == direct and mixing_time(chain, limit=direct - 1) is None


def test_large_start_and_bad_arguments() -> None:
    chain = magnetisation_chain(3000, 0.6)
    assert mixing_time(chain, limit=1000) is None
    assert mixing_time(chain, start=1500) == 0 or tv_curve(chain, [0], 1500).distance[0] > 0.25
    for bad in (lambda: magnetisation_chain(0, 0.5), lambda: magnetisation_chain(10**6, 0.5)):
        with pytest.raises(UserError, match="spins"):
            bad()
    for beta in (-1.0, math.nan, math.inf):
        with pytest.raises(UserError, match="beta"):
            magnetisation_chain(5, beta)
    with pytest.raises(UserError, match="plus spins"):
        mixing_time(chain, start=3001)
    with pytest.raises(UserError, match="beta"):
        tv_line(100, 1.0)
    with pytest.raises(UserError, match="increase"):
        tv_curve(chain, [2, 1])
