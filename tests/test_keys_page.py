"""docs/keys.md is what the screens do.

`python -c "from tests.test_keys_page import page; print(page(), end='')"` writes it.
"""

from __future__ import annotations

from pathlib import Path

from app.tui.commands import COMMANDS, MOVING, SCREENS, SHEETS, commands_of

PAGE = Path(__file__).parents[1] / "docs" / "keys.md"


def page() -> str:
    """Return the text of docs/keys.md."""
    lines = [
        "# The keys",
        "",
        "`?` shows those of a screen, `raidbench keys` all with the names that `[keymap]` takes.",
    ]
    lines += ["", "## Moving", "", "| key | what it does |", "| --- | --- |"]
    lines += [f"| {_cell(keys)} | {help} |" for keys, help in MOVING]
    everywhere = tuple(command for command in COMMANDS if "all" in command.screens)
    own = {title: commands_of(name, shared=False) for name, title in (SCREENS | SHEETS).items()}
    for title, commands in {"On every screen": everywhere, **own}.items():
        lines += ["", f"## {title}", "", "| key | command | what it does |", "| --- | --- | --- |"]
        lines += [f"| {_cell(command.shown_keys)} | {command.label} | {command.help} |" for command in commands]
    return "\n".join(lines) + "\n"


def _cell(keys: str) -> str:
    return " ".join(f"`{key}`" for key in keys.replace(",", " ").split())


def test_the_page_is_what_the_program_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()


def test_every_command_is_on_it() -> None:
    assert [command.id for command in COMMANDS if f"| {command.label} | {command.help} |" not in page()] == []


def test_the_keys_that_move_are_on_it() -> None:
    assert all(help in page() for _, help in MOVING)
