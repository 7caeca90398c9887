"""Tables and facts of the views as text."""

from __future__ import annotations

import pytest

from app.cli import options, output
from app.cli.render import LineLayout, fact_lines, fitted_lines, table_lines, with_sign
from app.core.presentation.table import Align, Cell, Column, FactLine, Facts, Row, StatusSymbol, Table, Tone
from widgets.text_utils.text import wrap_words

STATES = Table(
    columns=(Column(title="Name"), Column(title="State"), Column(title="Model")),
    rows=(
        Row(cells=("sda", Cell("failed", Tone.BAD), "A")),
        Row(cells=("sdb\x1b[2J", Cell("optimal", Tone.GOOD), "B"), depth=1),
    ),
)


@pytest.fixture
def coloured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options.Options, "coloured", property(lambda _: True))


def test_cells_stand_below_their_heading_and_steer_no_terminal() -> None:
    assert table_lines(STATES) == [
        "Name       State    Model",
        "sda        failed   A",
        "  sdb\N{REPLACEMENT CHARACTER}[2J  optimal  B",
    ]


@pytest.mark.usefixtures("coloured")
def test_a_tone_colours_its_word_and_nothing_beside_it() -> None:
    assert "\x1b[31mfailed\x1b[0m   A" in table_lines(STATES)[1]


def test_a_table_without_rows_is_not_shown() -> None:
    assert table_lines(Table(columns=STATES.columns)) == []


def test_values_of_facts_stand_below_each_other() -> None:
    facts = Facts(heading="md0", facts=(FactLine("Level", "raid5"), FactLine("In use", "/srv\x07")))
    assert fact_lines(facts) == ["md0", "  Level   raid5", "  In use  /srv\N{REPLACEMENT CHARACTER}"]


def test_a_sign_stands_before_its_word() -> None:
    assert with_sign(Cell("degraded", Tone.ATTENTION, StatusSymbol.ATTENTION)) == "▲ degraded"


def test_no_two_signs_look_alike_even_in_ascii() -> None:
    signs = [with_sign(Cell("", mark=mark)).strip().translate(output._ASCII) for mark in StatusSymbol]
    assert len(set(signs)) == len(StatusSymbol)


def test_what_is_there_to_be_seen_only_is_marked_without_colours() -> None:
    assert (
        table_lines(Table(columns=(Column(title="Setting"),), rows=(Row(cells=("Cache",), dim=True),)))[1] == "Cache *"
    )


def grown(width: int | None, *later: str) -> list[str]:
    """A row that comes after a layout was made, in it."""
    columns = (Column(title="Name", room=12), Column(title="Model", shrinks=True), Column(title="Address"))
    known = Table(columns=columns, rows=(Row(cells=("a", "model of a", "at:a")),))
    layout = LineLayout.growing(known, width)
    return [*layout.heading(), *layout.rows([*known.rows, Row(cells=later)])]


def test_a_longer_cell_that_comes_later_takes_only_what_is_free() -> None:
    assert grown(None, "a" * 15, "short", "at:b") == [
        "Name          Model       Address",
        "a             model of a  at:a",
        "aaaaaaaaaaaaaaa  short    at:b",
    ]


def test_a_later_row_is_folded_where_the_terminal_ends() -> None:
    assert grown(33, "b", "a much longer model", "at:b")[-2:] == [
        "b             a much longer  at:b",
        "              model",
    ]


def test_a_later_word_that_is_wider_than_its_column_is_cut() -> None:
    assert grown(33, "b", "a-much-longer-model", "at:b")[-1] == "b             a-much-long..  at:b"


def test_a_table_that_grows_keeps_columns_in_which_nothing_stands_yet() -> None:
    columns = (Column(title="Name", room=12), Column(title="Used by"), Column(title="Address"))
    layout = LineLayout.growing(Table(columns=columns, rows=(Row(cells=("a", "", "at:a")),)), None)
    assert layout.rows([Row(cells=("b", "/srv", "at:b"))]) == ["b             /srv     at:b"]


RUNS = Table(
    columns=(
        Column(title="Run"),
        Column(title="Target", shrinks=True),
        Column(title="Read IOPS", align=Align.RIGHT),
        Column(title="fio CPU", align=Align.RIGHT, priority=1),
    ),
    rows=(Row(cells=("r1", "megaraid:/c0/v1 and megaraid:/c1/v0", "84.1 k", "12 %")),),
)


def test_a_narrow_table_folds_its_headings_and_long_cells_and_no_number() -> None:
    assert fitted_lines(RUNS, 36) == [
        "                        Read     fio",
        "Run  Target             IOPS     CPU",
        "r1   megaraid:/c0/v1  84.1 k    12 %",
        "     and",
        "     megaraid:/c1/v0",
    ]


def test_a_narrower_table_leaves_out_what_matters_least() -> None:
    assert [line.split() for line in fitted_lines(RUNS, 30)[1:]] == [
        ["Run", "Target", "IOPS"],
        ["r1", "megaraid:/c0/v1", "84.1", "k"],
        ["and"],
        ["megaraid:/c1/v0"],
    ]


def test_a_row_with_a_word_that_fits_no_column_is_a_block() -> None:
    long = "naa.600605b00003e1a74b6e00013c6ef362"
    columns = (Column(title=""), Column(title="r1"), Column(title="r2"))
    sides = Table(columns=columns, rows=(Row(cells=("Array id", long, long)), Row(cells=("Level", "raid5", "raid0"))))
    assert fitted_lines(sides, 60)[1:] == ["Array id", f"  r1  {long}", f"  r2  {long}", fitted_lines(sides, 60)[-1]]
    assert fitted_lines(sides, 60)[-1].split() == ["Level", "raid5", "raid0"]


def test_where_every_row_is_a_block_an_empty_column_takes_no_space() -> None:
    columns = (Column(title="Run"), Column(title="IOPS", align=Align.RIGHT), Column(title="Changed conditions"))
    rows = (Row(cells=(), banner=("today",)), Row(cells=("2026-11-30/r1", "84.1 k", "")))
    assert fitted_lines(Table(columns=columns, rows=rows), 14) == ["today", "2026-11-30/r1", "  IOPS  84.1 k"]


def test_a_command_in_a_sentence_stays_whole() -> None:
    assert wrap_words("Show it: `raidbench attach 2026-11-29 --stop`.", 30) == [
        "Show it:",
        "`raidbench attach 2026-11-29 --stop`.",
    ]


def test_a_sentence_is_indented_as_its_beginning_and_colours_take_no_space() -> None:
    assert wrap_words("\x1b[31mone\x1b[0m two three", 12, "fix  ") == ["fix  \x1b[31mone\x1b[0m two", "     three"]
