"""No text leaves a widget with a character that could steer the terminal."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.case_loop import loop_over
from widgets.text_utils.text import break_hard, clean, pad, shorten, width_of, wrap, wrap_words


@given(st.text(st.characters()))
def test_a_cleaned_text_holds_no_control_or_format_character(text: str) -> None:
    assert not {unicodedata.category(character)[0] for character in clean(text)} & {"C"}


@given(st.text())
def test_cleaning_twice_changes_nothing_more(text: str) -> None:
    assert clean(clean(text)) == clean(text)


def test_an_ordinary_text_stays_as_it_is() -> None:
    assert clean("ST4000NM0035 µs é") == "ST4000NM0035 µs é"


@given(st.text(), st.integers(0, 40))
def test_a_padded_text_takes_exactly_its_width(text: str, width: int) -> None:
    assert width_of(pad(clean(text), width)) == width


def test_a_shortened_text_says_so() -> None:
    assert shorten("write-through", 6) == "write…"


@given(st.text(), st.integers(2, 40), st.integers(0, 6))
def test_no_wrapped_line_is_wider_than_asked(text: str, width: int, indent: int) -> None:
    assert all(width_of(line) <= max(width, 2) for line in wrap(text, width, min(indent, width - 2)))


@pytest.mark.long
@given(st.text(), st.integers(1, 30), st.integers(0, 6))
def test_wrapping_leaves_out_nothing_but_spaces(text: str, width: int, indent: int) -> None:
    whole = "".join(clean(line) for line in text.splitlines())
    assert "".join(wrap(text, width, indent)).replace(" ", "") == whole.replace(" ", "")


@pytest.mark.parametrize("number", ["128 KiB", "0.5 %", "20 ms", "1.20M IOPS", "340 MiB/s"])
def test_a_number_and_its_unit_stay_together(number: str) -> None:
    width = len(f"block size {number}") - 1
    assert wrap(f"block size {number}", width) == ["block size", number]
    assert wrap_words(f"block size {number}", width) == ["block size", number]
    assert wrap(number, len(number) - 1) == number.split()


@given(st.text(min_size=1), st.integers(1, 20))
def test_a_broken_word_can_be_put_together_again(text: str, width: int) -> None:
    assert "".join(break_hard(clean(text), width)) == clean(text)


@loop_over(
    ("first", "last"),
    [
        (0x20, 0x52F),
        (0x1100, 0x11FF),
        (0x2010, 0x2027),
        (0x2190, 0x23FF),
        (0x2500, 0x25FF),
        (0x2800, 0x28FF),
        (0x3041, 0x3096),
        (0x4E00, 0x4EFF),
        (0xAC00, 0xACFF),
        (0xFF01, 0xFF60),
        (0x1F600, 0x1F64F),
    ],
)
def test_a_character_is_as_wide_as_it_is_drawn(first: int, last: int) -> None:
    shown = [chr(code) for code in range(first, last + 1) if chr(code).isprintable()]
    assert [char for char in shown if width_of(char) != cell_len(char)] == []


def test_a_wide_character_is_not_cut_in_half() -> None:
    assert shorten("日本語", 4) == "日…"


def test_what_has_no_room_for_its_end_is_only_that() -> None:
    assert shorten("sda is busy", 1, "..") == "."
