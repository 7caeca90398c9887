"""docs/keys.md lists the commands of the screens: `python -m tests.test_keys_page` writes it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from app.tui.commands import COMMANDS, MOVING, SCREENS, SHEETS, CommandSpec, commands_of

PAGE = Path(__file__).parents[1] / "docs" / "keys.md"

SHARED = 2
"""A command of this many screens is listed once, before the screens."""

PAIRS = (("next", "previous"), ("previous", "next"))
"""Words of two commands that share a row."""

HEAD = """\
# Keys of the workbench

`?` shows and finds keys, and `Ctrl-P` runs a command by name. `raidbench keys` lists names for `[keymap]`.

<!-- Written by `python -m tests.test_keys_page`. -->

## Move in lists

| key | effect |
| --- | --- |
"""


def page() -> str:
    """Return the text of docs/keys.md."""
    shared = list(_shared_commands())
    listed = {(command.label, command.help) for command in shared}
    parts = [
        HEAD + "".join(f"| {_cell(keys)} | {help} |\n" for keys, _, help in MOVING),
        _section("Several screens", shared),
    ]
    for name, title in (SCREENS | SHEETS).items():
        own = commands_of(name, shared=False)
        if alone := [command for command in own if (command.label, command.help) not in listed]:
            parts.append(_section(title, alone))
    return "\n".join(parts)


def _shared_commands() -> Iterator[CommandSpec]:
    """Yield the commands of several screens, without duplicates for single screens."""
    alike: dict[tuple[str, str], list[CommandSpec]] = defaultdict(list)
    for command in COMMANDS:
        alike[command.label, command.help].append(command)
    for commands in alike.values():
        screens = {screen for command in commands for screen in command.screens}
        if "all" in screens or len(screens) >= SHARED:
            yield max(commands, key=lambda command: len(command.screens))


def _section(title: str, commands: Iterable[CommandSpec]) -> str:
    rows = ((_cell(command.shown_keys), command.label, command.help) for command in commands)
    text = "".join(f"| {' | '.join(row)} |\n" for row in _merged(rows))
    return f"## {title}\n\n| key | command | |\n| --- | --- | --- |\n{text}"


Row = tuple[str, str, str]
"""Keys, label and help."""


def _merged(rows: Iterable[Row]) -> list[Row]:
    """Return the rows; two for the next and the previous of the same kind become one."""
    merged: list[Row] = []
    for keys, label, help in rows:
        before_keys, before_label, before = merged[-1] if merged else ("", "", "")
        text = next((before.replace(a, f"{a} or {b}") for a, b in PAIRS if before.replace(a, b) == help != before), "")
        if text:
            merged[-1] = (f"{before_keys}, {keys}", f"{before_label}, {label}", text)
        else:
            merged.append((keys, label, help))
    return merged


def _cell(keys: str) -> str:
    return " ".join(f"`{key}`" for key in keys.replace(",", " ").split())


def test_the_page_matches_the_screens() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()


def test_every_command_is_on_it() -> None:
    rows = [row.split(" | ") for row in page().splitlines() if row.count(" | ") == 2]
    shown = {(label, help.removesuffix(" |")) for _, labels, help in rows for label in labels.split(", ")}
    for command in COMMANDS:
        texts = (command.help, *(command.help.replace(word, f"{a} or {b}") for a, b in PAIRS for word in (a, b)))
        assert any((command.label, text) in shown for text in texts), command.id


def test_the_keys_that_move_are_on_it() -> None:
    assert all(help in page() for _, _, help in MOVING)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
