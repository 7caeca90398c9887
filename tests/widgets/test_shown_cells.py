"""Only cells that differ are sent, and the terminal shows the same as if all had been."""

from __future__ import annotations

import io

import pyte
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from widgets.terminal_diff import Piece, ShownCells

WIDE, HIGH = 24, 3
CONSOLE = Console(file=io.StringIO(), color_system="truecolor", force_terminal=True)

styles = st.sampled_from(
    [None]
    + [
        Style.parse(words)
        for words in (
            "red",
            "bold #aabbcc on #101010",
            "#aabbcc on #101010",
            "dim italic on #101010",
            "reverse #aabbcc on blue",
            "underline",
            "strike on color(200)",
            "bright_green on default",
        )
    ]
)
segments = st.lists(
    st.tuples(st.text("ab  ▲日", min_size=1, max_size=5), styles).map(lambda both: Segment(*both)),
    min_size=1,
    max_size=5,
)


@st.composite
def pieces(draw: st.DrawFn) -> Piece:
    """A piece that lies on the terminal."""
    y, left = draw(st.integers(0, HIGH - 1)), draw(st.integers(0, WIDE - 2))
    strip = Strip(draw(segments)).crop(0, WIDE - left)
    return y, left, left + strip.cell_length, strip


def drawn_as_ever(found: list[Piece]) -> str:
    return "".join(f"\x1b[{y + 1};{left + 1}H{strip.render(CONSOLE)}" for y, left, _, strip in found)


def cells(terminal: pyte.Screen) -> list[object]:
    """What is seen: of a blank its ground, and what marks the cell itself."""
    seen: list[object] = []
    for y in range(HIGH):
        for x in range(WIDE):
            cell = terminal.buffer[y][x]
            marked = cell.reverse or cell.underscore or cell.strikethrough
            ink = () if cell.data == " " and not marked else (cell.fg, cell.bold, cell.italics)
            seen.append((cell.data, ink, cell.bg, cell.reverse, cell.underscore, cell.strikethrough))
    return seen


@settings(max_examples=20, deadline=None)
@given(st.lists(pieces(), min_size=1, max_size=8))
def test_a_terminal_that_was_sent_what_differs_shows_all_of_it(found: list[Piece]) -> None:
    sparse, whole = pyte.Screen(WIDE, HIGH), pyte.Screen(WIDE, HIGH)
    shown = ShownCells()
    for piece in found:
        pyte.Stream(sparse).feed(shown.sequence([piece], CONSOLE))
        pyte.Stream(whole).feed(drawn_as_ever([piece]))
    assert cells(sparse) == cells(whole)


def line(text: str, style: str = "#aabbcc on #101010") -> Piece:
    return 0, 0, len(text), Strip([Segment(text, Style.parse(style))])


def test_what_is_shown_already_is_not_sent() -> None:
    shown = ShownCells()
    shown.sequence([line("the same")], CONSOLE)
    assert shown.sequence([line("the same")], CONSOLE) == ""


def test_a_look_is_said_once_for_all_that_has_it() -> None:
    sent = ShownCells().sequence([line("one"), (0, 3, 6, line("two")[3])], CONSOLE)
    assert (sent.count("38;2"), "onetwo" in sent) == (1, True)


def test_after_something_else_was_sent_all_is_sent() -> None:
    shown = ShownCells()
    before = shown.sequence([line("the same")], CONSOLE)
    shown.forget()
    assert shown.sequence([line("the same")], CONSOLE) == before


def test_half_of_a_wide_character_is_never_sent() -> None:
    shown = ShownCells()
    shown.sequence([(0, 0, 4, Strip([Segment("日本")]))], CONSOLE)
    assert "日語" in shown.sequence([(0, 0, 4, Strip([Segment("日語")]))], CONSOLE)
