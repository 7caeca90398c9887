"""Whatever is written on any screen can be read: its contrast with what it is written on is 4.5:1 at least."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.color import Color, ColorSystem, ColorType
from rich.color_triplet import ColorTriplet
from rich.style import Style
from textual.pilot import Pilot
from textual.screen import ModalScreen

from tests.journeys.bench_walk import run_once, start
from tests.journeys.test_settings import apply, risky, stage
from tests.tui.conftest import stillness
from tests.tui.stage import Table, app_of, heard, opened, set_table, settled
from widgets.text_utils.symbols import SIGNS

pytestmark = pytest.mark.exhaustive  # every screen, three times

ENOUGH = 4.5
"""WCAG 2.1, 1.4.3, for text of any size."""

_CHARS = {sign.char for sign in SIGNS}

Written = tuple[str, Style, str]
"""Where, how and what."""


def luminance(colour: ColorTriplet) -> float:
    """As WCAG defines it."""
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour.normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(style: Style, colours: ColorSystem) -> float:
    """Of text with what it is written on, in as many colours as the terminal has."""
    over, under = (luminance(shown(colour, colours)) for colour in (style.color, style.bgcolor))
    return (max(over, under) + 0.05) / (min(over, under) + 0.05)


def shown(colour: Color | None, colours: ColorSystem) -> ColorTriplet:
    """The colour that a terminal has for it."""
    assert colour is not None
    assert not colour.is_default
    return colour.downgrade(colours).get_truecolor()


def on_the_screen(pilot: Pilot[int]) -> Iterator[Written]:
    """All text and signs with their styles; of a dialog only itself: what lies behind is dimmed. Lines are no text."""
    screen = pilot.app.screen
    modal = isinstance(screen, ModalScreen)
    areas = [child.region for child in screen.children] if modal else [screen.region]
    for y, strip in enumerate(screen._compositor.render_strips()):
        for area in areas:
            if area.y <= y < area.bottom:
                for text, style, _ in strip.crop(area.x, area.right):
                    if style is not None and any(char.isalnum() or char in _CHARS for char in text):
                        yield type(screen).__name__, style, text.strip()


async def walk(table: Table) -> set[Written]:
    """Every screen, with something staged, applied, measured and compared on it, and its dialogs."""
    seen: set[Written] = set()

    async def look(pilot: Pilot[int], *keys: str) -> None:
        await pilot.press(*keys)
        await pilot.pause()
        await heard(pilot)
        await pilot.pause()
        seen.update(on_the_screen(pilot))

    async with opened(table) as pilot:
        await look(pilot)
        await stage(pilot)
        for severity in ("warning", "error", "information"):
            pilot.app.notify("Something happened.", severity=severity)
        await look(pilot)
        await look(pilot, "a")
        await pilot.press("escape")
        await settled(pilot)
        await apply(pilot)
        await look(pilot)
        await risky(pilot)
        await look(pilot)
        await pilot.press("escape")
        await look(pilot, "question_mark")
        await look(pilot, "escape", "ctrl+p")
        await look(pilot, *"read")
        await pilot.press("escape", "escape")
        await look(pilot, "1", "enter")
        await pilot.press("escape")
        await look(pilot, "2", "p")
        await look(pilot, "escape", "e")
        await look(pilot, "escape", "T")
        await pilot.press("escape")
        for _ in range(2):
            await run_once(pilot, table)
        await look(pilot, "2")
        await start(pilot, table)
        await look(pilot)
        await look(pilot, "h")
        for key in "345":
            await look(pilot, key)
        table.load.finish()
        await pilot.press("3", "space", "down", "space")
        await look(pilot)
        await look(pilot, "c")
        await look(pilot, "escape", "enter")
        await look(pilot, "escape", "5", "slash", *"run")
        assert app_of(pilot).session.runs
    return seen


@pytest.fixture(scope="module", params=["dark", "light"])
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> set[Written]:
    """All that was written on the way."""
    folder: Path = tmp_path_factory.mktemp(request.param)
    with stillness():
        return asyncio.run(walk(set_table(folder, theme=request.param)))


@pytest.mark.parametrize("colours", [ColorSystem.TRUECOLOR, ColorSystem.EIGHT_BIT], ids=["millions", "256"])
def test_all_text_can_be_read(written: set[Written], colours: ColorSystem) -> None:
    weak = {(where, str(style), text) for where, style, text in written if contrast(style, colours) < ENOUGH}
    assert sorted(weak) == []


def test_the_walk_came_by_many_styles(written: set[Written]) -> None:
    assert len({(style.color, style.bgcolor) for _, style, _ in written}) > 20


def test_in_the_terminals_own_colours_no_other_is_used(tmp_path: Path, still: None) -> None:
    written = asyncio.run(walk(set_table(tmp_path, theme="terminal")))
    used = {colour for _, style, _ in written for colour in (style.color, style.bgcolor) if colour is not None}
    assert [str(colour) for colour in used if colour.type not in (ColorType.STANDARD, ColorType.DEFAULT)] == []


async def test_in_the_terminals_own_colours_the_row_under_the_cursor_is_inverse(tmp_path: Path, still: None) -> None:
    async with opened(set_table(tmp_path, theme="terminal")) as pilot:
        await pilot.press("down", "up")
        await pilot.pause()
        inverse = [text for _, style, text in on_the_screen(pilot) if style.reverse]
        assert "sda" in " ".join(inverse)
