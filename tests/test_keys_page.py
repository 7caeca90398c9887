"""docs/keys.md is what the screens do.

`python -c "from app.tui.commands import page; print(page(), end='')"` writes it.
"""

from __future__ import annotations

from pathlib import Path

from app.tui.commands import COMMANDS, MOVING, page

PAGE = Path(__file__).parents[1] / "docs" / "keys.md"


def test_the_page_is_what_the_program_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()


def test_every_command_is_on_it() -> None:
    assert [command.id for command in COMMANDS if f"| {command.label} | {command.help} |" not in page()] == []


def test_the_keys_that_move_are_on_it() -> None:
    assert all(help in page() for _, help in MOVING)
