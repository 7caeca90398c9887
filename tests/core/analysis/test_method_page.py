"""docs/dev/method.md holds what `make method` recorded, and its bounds fail by chance in less than 2 % of all cases."""

from __future__ import annotations

import pytest

from tests.method import marks
from tests.method.breaks import BREAKS
from tests.method.line import (
    AGAIN,
    FIRST,
    Bound,
    Line,
    Rate,
    at_least,
    at_most,
    drawn_again,
    rate_lines,
    source,
    tail,
)
from tests.method.marks import Recorded, draw, filled_in, first_miss, load
from tests.method.tables import NAMES, TABLES, MethodTable


@pytest.fixture(scope="module")
def recorded() -> Recorded:
    return load()


def test_the_page_holds_what_is_recorded(recorded: Recorded) -> None:
    page = marks.PAGE.read_text(encoding="utf-8")
    assert filled_in(page, recorded) == page


def test_every_table_is_recorded_with_its_columns(recorded: Recorded) -> None:
    assert [*recorded.tables] == [*NAMES]
    for name, one in recorded.tables.items():
        assert {len(line.cells) for line in one.lines} == {len(NAMES[name].heads)}, name


def test_hundreds_of_experiments_a_row_are_recorded_at_least_and_no_row_missed(recorded: Recorded) -> None:
    assert min(one.draws * NAMES[name].part for name, one in recorded.tables.items()) >= 500
    assert [one.missed for one in recorded.tables.values() if one.missed] == []


def test_the_command_fails_by_chance_in_less_than_two_percent(recorded: Recorded) -> None:
    bounds = sum(len(line.bounds) for one in recorded.tables.values() for line in one.lines)
    assert 0 < marks.chance(bounds) < 0.02


def test_every_table_has_a_bound(recorded: Recorded) -> None:
    assert [name for name, one in recorded.tables.items() if not any(line.bounds for line in one.lines)] == []


def test_every_wrong_decision_is_recorded_as_noticed(recorded: Recorded) -> None:
    titles = {table.title for table in TABLES}
    assert [what for what, _, _ in recorded.planted] == [planted.what for planted in BREAKS]
    assert {title for _, title, _ in recorded.planted} <= titles


# -- bounds -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("count", "chance"), [(0, 1.0), (1, 0.75), (2, 0.25), (3, 0.0)])
def test_the_tail_of_two_draws_of_a_half(count: int, chance: float) -> None:
    assert tail(count, 2, 0.5) == pytest.approx(chance)


@pytest.mark.parametrize(("rate", "chance"), [(0.0, 0.0), (1.0, 1.0)])
def test_the_tail_of_what_never_and_always_happens(rate: float, chance: float) -> None:
    assert tail(1, 10, rate) == chance


def test_of_the_largest_count_that_holds_the_next_one_does_not() -> None:
    holding = [count for count in range(401) if at_most(count / 400, 400).holds(FIRST)]
    assert holding == [*range(holding[-1] + 1)]
    assert tail(holding[-1] + 1, 400, 0.05) < FIRST <= tail(holding[-1], 400, 0.05)


def test_a_least_rate_is_the_most_of_its_opposite() -> None:
    for count in (85, 90, 95):
        least, most = at_least(count / 100, 100, 0.95), at_most(1 - count / 100, 100, 0.05)
        assert least.holds(FIRST) is most.holds(FIRST)
    assert not at_least(0.85, 100, 0.95).holds(FIRST)
    assert at_least(0.95, 100, 0.95).holds(FIRST)


def table(rate: Rate) -> MethodTable:
    return MethodTable(name="one", title="One", mark="", heads=("a", "b", "c"), lines=rate_lines((rate,)))


def test_a_row_misses_only_if_both_draws_do() -> None:
    seeds: list[int] = []

    def share(seed: int, draws: int) -> float:
        seeds.append(seed)
        return 0.5 if len(seeds) in (1, 3, 4) else 0.04

    assert draw(table(Rate(name="x", draw=share, promised=0.05)), 1000).missed == ()
    assert draw(table(Rate(name="x", draw=share, promised=0.05)), 1000).missed == ("x",)
    assert seeds[0] != seeds[1]


def test_the_second_bound_is_wider_than_the_first() -> None:
    """Of 1,000 draws 70 are beyond the bound of 99 % for 5 %, and explained where 0.2 % are left to chance."""
    assert tail(68, 1000, 0.05) < FIRST
    assert tail(68, 1000, 0.05) >= AGAIN
    assert draw(table(Rate(name="x", draw=lambda seed, draws: 0.068, promised=0.05)), 1000).missed == ()


def test_the_first_row_that_misses_is_named() -> None:
    rate = Rate(name="x", draw=lambda seed, draws: 0.5, promised=0.9, least=True)
    assert first_miss(table(rate), 100) == "x"
    assert first_miss(table(Rate(name="x", draw=lambda seed, draws: 0.9, promised=0.9, least=True)), 100) == ""


def test_a_row_holds_if_all_its_bounds_do() -> None:
    good, bad = at_most(0.05, 1000), Bound(count=500, draws=1000, promised=0.05)
    assert Line(cells=(), bounds=(good, good)).holds(FIRST)
    assert not Line(cells=(), bounds=(good, bad)).holds(FIRST)


def test_other_draws_have_other_numbers_and_the_first_ones_come_back() -> None:
    first = source(1).random()
    with drawn_again():
        assert source(1).random() != first
    assert source(1).random() == first
