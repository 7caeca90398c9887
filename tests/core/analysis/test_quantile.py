"""The quantile of Student's t against closed forms, in few evaluations of the distribution."""

from __future__ import annotations

from math import acos, cos, inf, pi, sqrt, tan

import pytest

from app.core.analysis import stats
from app.core.analysis.stats import quantile, tails

PROBABILITIES = (0.6, 0.8, 0.9, 0.95, 0.975, 0.995, 0.9995, 1 - 1e-6, 1 - 1e-9)
DEGREES = (0.5, 1.0, 1.5, 2.0, 2.7, 3.0, 5.0, 11.3, 30.0, 99.0, 989.0)


def closed_form(p: float, dof: int) -> float:
    """Return the quantile for 1, 2 and 4 degrees of freedom (Shaw, J. Computational Finance 9, 2006)."""
    alpha = 4 * p * (1 - p)
    if dof == 1:
        return tan(pi * (p - 0.5))
    if dof == 2:
        return (2 * p - 1) * sqrt(2 / alpha)
    return 2 * sqrt(cos(acos(sqrt(alpha)) / 3) / sqrt(alpha) - 1)


@pytest.mark.parametrize("dof", [1, 2, 4])
def test_the_quantile_has_the_digits_of_the_closed_form(dof: int) -> None:
    for p in PROBABILITIES[:-2]:
        assert quantile(p, dof) == pytest.approx(closed_form(p, dof), rel=1e-12)


@pytest.mark.parametrize(
    ("p", "dof", "printed"),
    [
        (0.975, 5, 2.570581835636314),
        (0.975, 10, 2.228138851986274),
        (0.95, 30, 1.697260886593957),
        (0.995, 100, 2.625890521438017),
        (0.9995, 3, 12.92397863668796),
    ],
)
def test_the_quantile_is_that_of_printed_tables(p: float, dof: float, printed: float) -> None:
    assert quantile(p, dof) == pytest.approx(printed, rel=1e-12)


@pytest.mark.parametrize("dof", DEGREES)
def test_the_tails_beyond_the_quantile_have_the_probability_that_was_asked_for(dof: float) -> None:
    for p in PROBABILITIES:
        assert tails(quantile(p, dof), dof) == pytest.approx(2 * (1 - p), rel=1e-11)
        assert quantile(1 - p, dof) == pytest.approx(-quantile(p, dof), rel=1e-6)
    found = [quantile(p, dof) for p in PROBABILITIES]
    assert found == sorted(set(found))


def test_more_degrees_of_freedom_bring_the_quantile_closer_to_the_normal_one() -> None:
    found = [quantile(0.975, dof) for dof in DEGREES]
    assert found == sorted(set(found), reverse=True)
    assert found[-1] > 1.959963984540054


def test_a_quantile_too_large_to_square_is_infinite() -> None:
    assert quantile(1 - 1e-12, 0.01) == inf
    assert quantile(1e-12, 0.01) == -inf


def test_few_evaluations_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = [0]

    def counted(t: float, dof: float) -> float:
        calls[0] += 1
        return tails(t, dof)

    monkeypatch.setattr(stats, "tails", counted)
    for dof in DEGREES:
        for p in PROBABILITIES:
            calls[0] = 0
            quantile.__wrapped__(p, dof)
            assert calls[0] <= 8, (p, dof)
