"""tau: what is accepted, and its programmes."""

from __future__ import annotations

import math
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glauber_core.errors import UserError
from glauber_core.temperature import HOT, SCHEDULES, Schedule, check_tau

TARGETS = st.floats(0, sys.float_info.max)


@pytest.mark.parametrize("tau", [0, 0.7, 1e-300, 5e-324, 1e6, 1.7e308, "0.7", " 2 ", 3])
def test_good_temperatures_are_kept_as_they_are(tau: object) -> None:
    assert check_tau(tau) == float(tau)  # type: ignore[arg-type]


def test_minus_zero_is_zero() -> None:
    assert math.copysign(1, check_tau(-0.0)) == 1.0


@pytest.mark.parametrize(
    "tau, reason",
    [
        *((bad, "finite") for bad in (math.nan, math.inf, -math.inf, "nan", "inf", "1e999")),
        *((bad, "negative") for bad in (-1, -1e-300, "-0.1")),
        *((bad, "must be a number") for bad in ("", "warm", None, [1.0], {}, 1j, 10**400, object())),
    ],
)
def test_bad_temperatures_are_refused_and_never_replaced(tau: object, reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        check_tau(tau)


@given(st.sampled_from(SCHEDULES), TARGETS, st.floats(-5, 1e6), st.floats(1e-3, 1e6))
def test_every_programme_stays_finite_and_ends_at_its_target(kind: str, target: float, sweep: float, n: float) -> None:
    programme = Schedule(kind, n)
    tau = programme.tau(target, sweep)
    assert math.isfinite(tau) and 0 <= tau <= max(HOT, 2 * target)
    assert check_tau(tau) == tau
    assert programme.tau(target, n) == programme.tau(target, 2 * n + 1) == target


@pytest.mark.parametrize("kind", SCHEDULES)
def test_programmes_of_a_huge_temperature_stay_finite(kind: str) -> None:
    for target in (1e308, sys.float_info.max):
        assert all(math.isfinite(Schedule(kind).tau(target, sweep)) for sweep in (0.0, 5.0, 19.9, 20.0))


def test_constant() -> None:
    assert [Schedule().tau(0.7, s) for s in (0, 3.5, 1e9)] == [0.7, 0.7, 0.7]


def test_heat_then_cool() -> None:
    programme = Schedule("heat_then_cool", 10)
    assert [programme.tau(0.5, s) for s in (0, 4.99, 5, 10, 11)] == [3.0, 3.0, 0.5, 0.5, 0.5]
    assert programme.tau(2.0, 0) == 4.0  # never colder than the target


def test_anneal_cools_geometrically() -> None:
    programme = Schedule("anneal", 20)
    taus = [programme.tau(0.3, s) for s in range(21)]
    assert taus[0] == HOT and taus[20] == 0.3
    assert all(b / a == pytest.approx((0.3 / HOT) ** (1 / 20)) for a, b in zip(taus, taus[1:], strict=False))
    assert programme.tau(0.0, 19.999) == pytest.approx(0.02, rel=1e-3) and programme.tau(0.0, 20) == 0.0


def test_bad_programmes_are_refused() -> None:
    with pytest.raises(UserError, match="constant, heat_then_cool, anneal"):
        Schedule("boil")
    for sweeps in (0, -1, math.nan, math.inf):
        with pytest.raises(UserError, match="more than 0 sweeps"):
            Schedule("anneal", sweeps)
