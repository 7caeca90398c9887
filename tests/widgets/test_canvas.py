"""The canvas draws what it is asked, on any size, and layers never erase each other."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.case_loop import loop_over
from widgets.canvas import Canvas, ascii_sign

SIZES = st.tuples(st.integers(0, 60), st.integers(0, 30))
DOTS = st.tuples(st.integers(-500, 500), st.integers(-500, 500))


def test_a_dot_in_the_upper_left_is_the_first_braille_dot() -> None:
    canvas = Canvas(1, 1)
    canvas.dot(0, 0)
    assert canvas.text(0) == "⠁"


def test_a_level_line_crosses_every_cell() -> None:
    canvas = Canvas(3, 1)
    canvas.line(0, 0, 5, 0)
    assert canvas.text(0) == "⠉⠉⠉"


def test_a_steep_line_has_no_gap() -> None:
    canvas = Canvas(1, 3)
    canvas.line(0, 0, 0, 11)
    assert [canvas.text(row) for row in range(3)] == ["⡇", "⡇", "⡇"]


def test_dashes_leave_columns_out() -> None:
    canvas = Canvas(2, 1)
    canvas.line(0, 0, 3, 0, dashes=b"\1\0")
    assert canvas.text(0) == "⠁⠁"


@loop_over("at", range(16))
@loop_over("dashes", [b"\1\0", b"\1\1\1\1\0\0", b"\1\1\1\1\0\1\0\0"])
def test_a_rise_is_drawn_wherever_the_dashes_fall(at: int, dashes: bytes) -> None:
    """A spike of one sample is what the graph is looked at for."""
    canvas = Canvas(10, 5)
    canvas.line(at, 19, at + 1, 0, dashes=dashes)
    canvas.line(at + 1, 0, at + 3, 19, dashes=dashes)
    assert all(canvas.text(row).strip() for row in range(5))


def test_a_later_layer_leaves_the_earlier_dots() -> None:
    canvas = Canvas(1, 1)
    canvas.dot(0, 0, 1)
    canvas.dot(1, 3, 2)
    assert canvas.text(0) == "⢁"


def test_a_cell_takes_the_highest_layer_whatever_the_order() -> None:
    canvas = Canvas(1, 1)
    canvas.dot(1, 3, 3)
    canvas.dot(0, 0, 2)
    assert canvas.layers == b"\3"


def test_ascii_tells_the_upper_half_from_the_lower() -> None:
    canvas = Canvas(2, 1)
    canvas.dot(0, 0, 2)
    canvas.dot(2, 3, 2)
    assert canvas.text(0, ascii_only=True) == "'."


def test_in_ascii_a_later_series_has_its_own_sign() -> None:
    canvas = Canvas(1, 1)
    canvas.dot(0, 0, 3)
    assert canvas.text(0, ascii_only=True) == ascii_sign(3)


@given(SIZES, DOTS, DOTS, st.integers(1, 249))
def test_any_line_on_any_canvas_is_drawn_in_rows_of_its_width(
    size: tuple[int, int], start: tuple[int, int], end: tuple[int, int], layer: int
) -> None:
    canvas = Canvas(*size)
    canvas.line(*start, *end, layer)
    assert {len(canvas.text(row, ascii_only=True)) for row in range(size[1])} <= {size[0]}


@given(SIZES, DOTS, DOTS)
def test_a_line_is_the_same_from_both_ends(size: tuple[int, int], start: tuple[int, int], end: tuple[int, int]) -> None:
    there, back = Canvas(*size), Canvas(*size)
    there.line(*start, *end)
    back.line(*end, *start)
    assert there.dots == back.dots
