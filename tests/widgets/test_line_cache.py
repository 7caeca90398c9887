"""Lines of a widget look as Textual draws them, whatever surrounds them, and only changed ones are drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rich.segment import Segment
from rich.style import Style
from textual._styles_cache import StylesCache
from textual.app import App, ComposeResult
from textual.containers import Container
from textual.geometry import Region
from textual.strip import Strip

from app.tui.ascii_filter import ControlFilter
from widgets.cached_styles import Selectable
from widgets.line_cache import LineCache

STYLES: dict[str, dict[str, Any]] = {
    "bare": {},
    "padding": {"padding": (1, 3, 2, 1)},
    "padding left": {"padding": (0, 0, 0, 2)},
    "border": {"border": ("round", "green")},
    "border left": {"border_left": ("heavy", "red")},
    "translucent border": {"border_right": ("wide", "rgba(0,0,255,0.4)"), "border_left": ("wide", "rgba(255,0,0,0.4)")},
    "border right and padding": {"border_right": ("wide", "blue"), "padding": (1, 2)},
    "border of half a cell": {"border": ("tall", "yellow"), "background": "darkblue"},
    "outline": {"outline": ("round", "green")},
    "tint": {"tint": "red 40%"},
    "opacity": {"opacity": 0.4, "border": ("round", "green")},
    "text opacity": {"text_opacity": 0.5},
    "hatch": {"hatch": ("cross", "red")},
    "translucent background": {"background": "red 30%"},
}


class Lines(Selectable):
    """Draws a few lines, and counts them."""

    def __init__(self) -> None:
        super().__init__()
        self.texts = ["one", "a line that is longer than the widget is wide", "", "\u65e5\u672c", "\x1b[31m"]
        self.drawn: list[int] = []

    def render_line(self, y: int) -> Strip:
        self.drawn.append(y)
        text = self.texts[y] if y < len(self.texts) else ""
        return Strip(
            [
                Segment(text[:2], Style(color="red", bold=True)),
                Segment(text[2:], Style(color="#80ff00", bgcolor="#000080")),
            ]
        )


class Stage(App[None]):
    CSS = "Container { background: darkgreen; } Lines { width: 24; height: 9; }"

    def compose(self) -> ComposeResult:
        self._filters.insert(0, ControlFilter())
        with Container():
            yield Lines()


def cells(strips: list[Strip]) -> list[list[tuple[str, Style | None]]]:
    return [[(char, style) for text, style, _ in strip for char in text] for strip in strips]


async def drawn_alike(act: Callable[[Lines], None], *more: Callable[[Lines], None]) -> None:
    """After each action, all lines and a part of them are as Textual draws them."""
    app = Stage()
    async with app.run_test(size=(60, 20)) as pilot:
        lines = app.query_one(Lines)
        cache = lines._styles_cache
        assert isinstance(cache, LineCache)
        for each in (act, *more):
            each(lines)
            await pilot.pause()
            for crop in (lines.region.reset_offset, Region(2, 1, 9, 4)):
                assert cells(cache.render_widget(lines, crop)) == cells(StylesCache().render_widget(lines, crop))


def styled(name: str) -> Callable[[Lines], None]:
    def act(lines: Lines) -> None:
        for rule, value in STYLES[name].items():
            setattr(lines.styles, rule, value)

    return act


def retitle(lines: Lines) -> None:
    lines.border_title, lines.border_subtitle = "title", "below"


def resize(lines: Lines) -> None:
    lines.styles.width, lines.styles.height = 31, 7


def repaint_parent(lines: Lines) -> None:
    assert isinstance(lines.parent, Container)
    lines.parent.styles.background = "purple"


def fade_parent(lines: Lines) -> None:
    assert isinstance(lines.parent, Container)
    lines.parent.styles.opacity = 0.5


def retheme(lines: Lines) -> None:
    lines.app.theme = "textual-light"


def rewrite(lines: Lines) -> None:
    lines.texts[1] = "other"
    lines.refresh(Region(0, 1, 5, 1))


@pytest.mark.parametrize("name", STYLES)
async def test_lines_look_as_textual_draws_them(name: str) -> None:
    await drawn_alike(styled(name), retitle, resize, rewrite)


@pytest.mark.parametrize("act", [repaint_parent, fade_parent, retheme], ids=lambda act: act.__name__)
async def test_what_changes_around_the_lines_is_drawn(act: Callable[[Lines], None]) -> None:
    await drawn_alike(styled("translucent background"), act, rewrite)


async def test_only_lines_that_have_changed_are_drawn() -> None:
    app = Stage()
    async with app.run_test(size=(60, 20)) as pilot:
        lines = app.query_one(Lines)
        lines.styles.border = ("round", "green")
        await pilot.pause()
        whole = lines.region.reset_offset
        lines.render_lines(whole)
        lines.drawn.clear()
        lines._styles_cache.set_dirty(Region(0, 2, 9, 1))
        lines.render_lines(whole)
        lines.render_lines(whole)
        assert lines.drawn == [1]


async def test_no_control_character_of_a_line_reaches_the_terminal() -> None:
    app = Stage()
    async with app.run_test(size=(60, 20)):
        lines = app.query_one(Lines)
        texts = [strip.text for strip in lines.render_lines(lines.region.reset_offset)]
        assert texts[4].startswith("\ufffd[31m")
        assert all(text.isprintable() for text in texts)
