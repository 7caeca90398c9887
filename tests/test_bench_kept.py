"""What became slower is told against the table that is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.figures import Figure
from tests.bench.kept import kept, told, with_figures, worse

PAGE = "# Title\n\n<!-- begin: written by make bench -->\n<!-- end -->\n\nMore.\n"


def figure(value: float, *, name: str = "start", at_least: bool = False, unit: str = "s") -> Figure:
    return Figure(name=name, value=value, low=value, high=value, unit=unit, goal=1.0, at_least=at_least)


def test_what_was_written_is_read_again_to_the_printed_digit() -> None:
    page = with_figures(PAGE, [figure(0.1234), figure(407.25, name="rate", unit="KiB/s")])
    assert kept(page) == {"start": 0.123, "rate": 407.2}


def test_only_the_table_is_written_anew() -> None:
    page = with_figures(with_figures(PAGE, [figure(0.1)]), [figure(0.2)])
    assert (page.startswith("# Title\n"), page.endswith("\nMore.\n"), kept(page)) == (True, True, {"start": 0.2})


@pytest.mark.parametrize(("value", "is_told"), [(1.04, False), (1.06, True), (0.5, False)])
def test_more_is_worse_by_more_than_a_twentieth(value: float, is_told: bool) -> None:
    assert bool(worse([figure(value)], {"start": 1.0})) is is_told


@pytest.mark.parametrize(("value", "is_told"), [(0.96, False), (0.94, True), (2.0, False)])
def test_less_is_worse_where_more_is_better(value: float, is_told: bool) -> None:
    assert bool(worse([figure(value, at_least=True)], {"start": 1.0})) is is_told


def test_both_values_and_the_change_are_told() -> None:
    assert worse([figure(0.183)], {"start": 0.132}) == ["start: 0.183 s, kept 0.132 s (+39%)"]


def test_a_figure_that_was_not_kept_is_not_compared() -> None:
    assert told([figure(1.0), figure(9.0, name="new")], with_figures(PAGE, [figure(1.0)])).endswith("none of 1")


def test_the_goals_that_are_not_reached_are_named() -> None:
    page = with_figures(PAGE, [figure(1.2, name="slow"), figure(0.9), figure(0.8, name="rate", at_least=True)])
    assert "Goals reached: 1 of 3. Not reached: slow; rate." in page


def test_the_page_says_how_its_figures_came_about() -> None:
    assert "\n\nMeasured at noon.\n\n| figure |" in with_figures(PAGE, [figure(0.1)], "Measured at noon.")


def test_the_page_keeps_figures_to_compare_with() -> None:
    page = (Path(__file__).parents[1] / "docs" / "dev" / "performance.md").read_text()
    assert kept(page)["devices --json with 20 disks, CPU"] > 0
