"""The colours follow the terminal, and whoever chooses others."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import pytest

from app.core.themes import THEMES
from app.tui.theme import DARK, LIGHT, PREFIX, TERMINAL, theme_of
from tests.tui.stage import Table, answer, opened, set_table, text_of, until
from widgets.choice_list import ChoiceDialog


@pytest.mark.parametrize(
    ("environment", "colours", "name"),
    [
        ({}, "truecolor", "dark"),
        ({"COLORFGBG": "15;0"}, "truecolor", "dark"),
        ({"COLORFGBG": "0;15"}, "truecolor", "light"),
        ({"COLORFGBG": "0;default;7"}, "256", "light"),
        ({"COLORFGBG": "nonsense"}, "256", "dark"),
        ({"COLORFGBG": "0;15"}, "standard", "terminal"),
    ],
)
def test_auto_is_what_the_terminal_says_of_itself(environment: dict[str, str], colours: str, name: str) -> None:
    assert theme_of("auto", environment, colours).name == PREFIX + name


@pytest.mark.parametrize("name", ["dark", "light", "terminal"])
def test_what_is_named_is_taken_whatever_the_terminal_says(name: str) -> None:
    assert theme_of(name, {"COLORFGBG": "0;15"}, "standard").name == PREFIX + name


def test_every_name_has_a_theme() -> None:
    assert {theme_of(name, {}, None).name for name in THEMES} == {
        PREFIX + name for name in ("dark", "light", "terminal")
    }


def test_the_terminals_own_theme_names_no_colour_that_it_does_not_have() -> None:
    values = [getattr(TERMINAL, field.name) for field in fields(TERMINAL) if field.name != "cursor_style"]
    assert [value for value in values if not value.startswith("ansi_")] == []


@pytest.mark.parametrize("colours", [DARK, LIGHT], ids=["dark", "light"])
def test_meanings_that_stand_side_by_side_have_colours_of_their_own(colours: object) -> None:
    told_apart = ("text", "dim", "accent", "good", "attention", "bad", "staged")
    assert len({getattr(colours, name) for name in told_apart}) == len(told_apart)


@pytest.mark.long
async def test_the_palette_leads_to_another_theme(table: Table) -> None:
    async with opened(table) as pilot:
        await pilot.press("ctrl+p", *"theme", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceDialog))
        await answer(pilot, "down", "enter")
        assert pilot.app.theme == PREFIX + "light"


async def test_the_theme_that_was_asked_for_is_there_from_the_first_paint(table: Table) -> None:
    app = replace(table, options=replace(table.options, theme="light")).app()
    assert app.theme == PREFIX + "light"
    assert app.stylesheet._variables["background"].lower() == LIGHT.ground


@pytest.mark.parametrize("name", ["dark", "light", "terminal"])
async def test_the_workbench_opens_in_every_theme(tmp_path: Path, name: str) -> None:
    async with opened(set_table(tmp_path, theme=name)) as pilot:
        assert "Devices" in text_of(pilot)
