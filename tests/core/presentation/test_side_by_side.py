"""What stands over the figures of a comparison says what the table says."""

from __future__ import annotations

import pytest

from app.core.analysis.comparison import Comparison, compare, compare_experiment
from app.core.presentation.comparison import comparison_table
from app.core.presentation.side_by_side import (
    comparison_title,
    drawing_text,
    drawn_difference,
    side_names,
    verdict_parts,
)
from app.core.presentation.table import Tone, text_of
from app.core.session.state import replay
from tests.core import sessions
from tests.core.presentation.test_comparison import FASTER, OPEN, SAME, SLOWER, measured


def experiment(pairs: tuple[tuple[float, float], ...]) -> Comparison:
    both = compare_experiment(measured(*pairs), "e1")
    assert both is not None
    return both


def single(*, b: dict[str, str] | None = None, names: tuple[str, str] | None = None) -> Comparison:
    """Two single runs of 1000 and of 1050 IOPS."""
    settings = {"nr": "1"}
    one, other = sessions.run("r1", iops=1000, settings=settings), sessions.run("r2", iops=1050, settings=b or settings)
    runs = replay([*one, *other]).runs
    return compare(runs[0], runs[1], runs, runs, names=names)


@pytest.mark.parametrize(
    ("pairs", "sign", "word", "tone"),
    [
        (FASTER, "↑", "faster", Tone.GOOD),
        (SLOWER, "↓", "slower", Tone.BAD),
        (SAME, "=", "no difference", Tone.DIM),
        (OPEN, "", "not decided", Tone.DIM),
    ],
)
def test_the_first_verdict_is_that_of_the_headline(
    pairs: tuple[tuple[float, float], ...], sign: str, word: str, tone: Tone
) -> None:
    told = verdict_parts(experiment(pairs))[0]
    assert (told.sign, told.word, told.figure, told.tone) == (sign, word, "read IOPS", tone)


def test_what_is_not_decided_says_why() -> None:
    assert "if there is an effect, it is below" in verdict_parts(experiment(OPEN))[0].reason


def test_what_was_shown_needs_no_reason() -> None:
    assert verdict_parts(experiment(FASTER))[0].reason == ""


def test_an_interval_is_told_with_both_ends_and_what_it_covers() -> None:
    told = verdict_parts(experiment(FASTER))[0]
    assert (told.difference, told.between) == ("+20.0 %", "between +19.7 and +20.4 % (95 %)")


def test_two_single_runs_have_a_difference_and_no_interval() -> None:
    told = verdict_parts(single(b={"nr": "2"}))[0]
    assert (told.word, told.difference, told.between) == ("not decided", "+5.0 %", "")


def test_a_repeat_is_called_one() -> None:
    assert [told.word for told in verdict_parts(single())] == ["repeat"]


def test_the_drawing_has_a_point_for_each_pair() -> None:
    drawn = drawn_difference(experiment(((1000, 1200), (1000, 1100), (1000, 1150))))
    assert drawn is not None
    assert [round(point, 6) for point in drawn.points] == [20.0, 10.0, 15.0]


def test_single_runs_are_drawn_without_bar_and_points() -> None:
    drawn = drawn_difference(single(b={"nr": "2"}))
    assert drawn is not None
    assert (round(drawn.middle, 6), drawn.low, drawn.points) == (5.0, None, ())


@pytest.mark.parametrize(("pairs", "told"), [(FASTER, True), (None, False)])
def test_only_what_is_drawn_is_explained(pairs: tuple[tuple[float, float], ...] | None, told: bool) -> None:
    drawn = drawn_difference(single(b={"nr": "2"}) if pairs is None else experiment(pairs))
    assert drawn is not None
    words = drawing_text(drawn)
    assert ("pair" in words, "bar" in words, "+-2 %" in words) == (told, told, True)


def test_the_title_says_what_differs_and_what_does_not() -> None:
    title = comparison_title(single(b={"nr": "2"}), "r1", "s/r2")
    assert title.startswith("s/r2 against r1: nr 2 against 1, ")


def test_the_one_value_that_differs_stands_with_the_names() -> None:
    assert side_names(single(b={"nr": "2"}), "r1", "r2") == ("r1 1", "r2 2")


def test_without_a_difference_the_names_stand_alone() -> None:
    assert side_names(single(), "r1", "r2") == ("r1", "r2")


def test_figures_with_a_shown_difference_come_before_the_others() -> None:
    rows = comparison_table(experiment(FASTER)).rows
    shown = [bool(text_of(row.cells[3])) for row in rows]
    assert (rows[0].key, shown) == ("read IOPS", sorted(shown, reverse=True))


def test_the_sign_and_the_difference_bear_the_colour_of_the_verdict() -> None:
    cells = comparison_table(experiment(SLOWER)).rows[0].cells
    assert [cell if isinstance(cell, str) else cell.tone for cell in cells[3:]] == [Tone.BAD] * 3
