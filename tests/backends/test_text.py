"""Text from devices is harmless once cleaned: one line, no controls, no more than asked for."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from backends.text import clean, clean_lines
from tests.case_loop import loop_over

HARMFUL = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
ANYTHING = st.text(st.characters(exclude_categories=()), max_size=300)


@given(ANYTHING)
def test_no_control_format_private_or_unassigned_character_is_left(text: str) -> None:
    assert not {unicodedata.category(char) for char in clean(text)} & HARMFUL


@given(ANYTHING)
def test_what_is_cleaned_is_one_line(text: str) -> None:
    assert len(clean(text).splitlines()) <= 1


@given(ANYTHING, st.integers(1, 200))
def test_what_is_cleaned_is_no_longer_than_asked(text: str, limit: int) -> None:
    assert len(clean(text, limit)) <= limit


@given(ANYTHING, st.integers(1, 200))
def test_cleaning_twice_is_cleaning_once(text: str, limit: int) -> None:
    assert clean(clean(text, limit), limit) == clean(text, limit)


@given(ANYTHING)
def test_what_is_cleaned_can_be_written_down(text: str) -> None:
    clean(text).encode("utf-8")


@given(st.text(st.characters(codec="ascii", categories=("L", "N", "P", "S")), max_size=128))
def test_printable_text_stays_as_it_is(text: str) -> None:
    assert clean(text) == text


@given(st.text("e x|", max_size=300), st.integers(1, 60))
def test_rows_of_a_table_are_cleaned_alike_with_an_accent_and_without(text: str, limit: int) -> None:
    assert clean(text.replace("e", "é"), limit) == clean(text, limit).replace("e", "é")


@loop_over(
    ("hostile", "harmless"),
    [
        ("ST4000\x1b]52;c;cm0gLXJm\x07", "ST4000\ufffd]52;c;cm0gLXJm\ufffd"),
        ("\x1b[2J\x1b[H", "\ufffd[2J\ufffd[H"),
        ("\x9b31mred", "\ufffd31mred"),
        ("disk\u202egnp.exe", "disk\ufffdgnp.exe"),
        ("zero\u200bwidth", "zero\ufffdwidth"),
        ("line\u2028break\u2029s", "line break s"),
        ("a\r\nb\tc", "a b c"),
        ("WDC      WD40", "WDC WD40"),
        ("\0\0\0SERIAL\0\0", "SERIAL"),
        ("a" + "\u0301" * 500 + "b", "a\u0301b"),
        ("\ud800", "\ufffd"),
        ("\x1b\x1b\x1b\x1b", "\ufffd"),
        ("[red]x[/] [@click=app.quit]y[/]", "[red]x[/] [@click=app.quit]y[/]"),
        (" \n\t ", ""),
    ],
    ids=ascii,
)
def test_hostile_text_is_made_harmless(hostile: str, harmless: str) -> None:
    assert clean(hostile) == harmless


def test_what_is_cut_says_so() -> None:
    assert clean("x" * 200) == "x" * 127 + "…"


def test_a_megabyte_of_noise_costs_no_more_than_its_beginning() -> None:
    assert clean("x" * 10 + "\x1b" * 10_000_000, 20).startswith("xxxxxxxxxx\ufffd")


@given(ANYTHING, st.integers(2, 20), st.integers(2, 50))
def test_of_many_lines_no_more_are_left_than_asked_and_one_that_says_so(text: str, lines: int, width: int) -> None:
    rows = clean_lines(text, lines, width).split("\n")
    assert len(rows) <= lines + 1


@given(ANYTHING)
def test_every_line_is_cleaned(text: str) -> None:
    assert all(clean(row, 400) == row for row in clean_lines(text).split("\n"))


def test_the_middle_of_a_long_text_is_left_out_and_counted() -> None:
    rows = clean_lines("\n".join(map(str, range(100))), lines=8).split("\n")
    assert rows == ["0", "1", "2", "3", "4", "5", "... 92 lines left out ...", "98", "99"]
