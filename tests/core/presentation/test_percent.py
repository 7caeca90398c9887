"""Differences in percent, with their intervals, and where they say nothing."""

from __future__ import annotations

import pytest

from app.core.analysis.stats import ConfidenceInterval
from app.core.presentation.percent import (
    between_text,
    covers_text,
    difference_text,
    effect_text,
    interval_text,
    percent_text,
)


def interval(low: float, high: float, level: float = 0.05) -> ConfidenceInterval:
    return ConfidenceInterval(mean=(low + high) / 2, low=low, high=high, sd=0.1, n=3, p=0.5, level=level)


@pytest.mark.parametrize(
    ("percent", "text"),
    [
        (-18.44, "-18.4 %"),
        (0.0, "+0.0 %"),
        (999.9, "+999.9 %"),
        (1000.0, "11x"),
        (15_100.0, "152x"),
        (-99.9, "-99.9 %"),
        (-99.97, "below -99.9 %"),
    ],
)
def test_a_difference_is_percent_until_it_is_a_factor_or_nothing(percent: float, text: str) -> None:
    assert percent_text(percent) == text


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (-0.2, -0.1, "-13.9 % [-18.1, -9.5]"),
        (-2.0, 2.0, "+0.0 % [-86.5, +638.9]"),
        (-2.31, 2.31, "too noisy to tell"),  # from a tenth to ten times
        (2.5, 5.0, "43x [12x, 148x]"),
        (-9.0, -8.0, "below -99.9 %"),
    ],
)
def test_an_interval_as_wide_as_the_world_is_not_written(low: float, high: float, text: str) -> None:
    assert interval_text(interval(low, high)) == text


def test_the_level_stands_with_an_interval_in_words() -> None:
    assert between_text(interval(-0.2, -0.1, 0.01)) == "between -18.1 and -9.5 % (99 %)"


@pytest.mark.parametrize(
    ("percent", "text"), [(4.12, "if there is an effect, it is below 4.1 %"), (100.0, "too noisy to tell")]
)
def test_an_effect_as_large_as_the_whole_is_no_limit(percent: float, text: str) -> None:
    assert effect_text(percent) == text


@pytest.mark.parametrize(("level", "text"), [(0.05, "95 %"), (0.01, "99 %"), (0.008, "99.2 %")])
def test_levels_are_told_by_what_they_cover(level: float, text: str) -> None:
    assert covers_text(level) == text


@pytest.mark.parametrize(("a", "b"), [(None, 1.0), (1.0, None), (0.0, 1.0)])
def test_what_has_no_difference_has_a_dash(a: float | None, b: float | None) -> None:
    assert difference_text(a, b) == "-"
