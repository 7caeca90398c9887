"""Hints name commands, not keys: the key is looked up, so that no hint can name a key that does something else."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from app.tui.commands import COMMANDS, SCREENS, SHEETS, with_keys
from tests.tui.stage import Table, notices, opened, set_table, text_of, until

ROOT = Path(__file__).parents[2]
PLACES = ("app/tui", "app/features", "app/core/presentation", "widgets")
BY_ID = {command.id: command for command in COMMANDS}

COMMAND = re.compile(r"<([a-z]+(?:\.[a-z-]+)+)>")
BEGUN = "<[a-z]"
"""How the id of a command begins. No operator does: a space follows it."""

WORDS = r"[A-Za-z0-9!?*/+\[\]=<>-]|\^[a-z]|[Ss]pace|[Bb]ackspace|bksp|[Ee]nter|[Ee]sc(?:ape)?|[Tt]ab"
VERBS = (
    "show|open|close|mark|apply|applie|start|stage|stop|choose|select|goe?|return|measure|quit|write|switche?|run|add|"
    "copie|revert|keep|restore|list|hide|cancel|end|collapse|save|pick|sort|count"
)
NAMED = re.compile(
    rf"(?:^|[\s(:;,.])(?P<before>{WORDS}) (?:{VERBS})s\b"
    rf"|\b[Pp]ress (?P<pressed>{WORDS})(?![\w.])|\bkey (?P<key>[A-Za-z0-9])\b|(?<=\s)\((?P<told>[A-Za-z0-9!?*])\)"
    rf"|`(?P<quoted>[A-Za-z])` in the workbench"
    rf"|Next: (?P<next>{WORDS}) "
)
"""A sentence that names a key."""

FIXED = {"enter", "esc", "tab"}
"""Keys that no keymap changes: Textual's widgets handle them."""

OF_THE_COMMAND_LINE = {
    "`u` in the workbench": "devices.undo",
    "Confirm or revert the trial first: `raidbench keep`, or press u in the workbench.": "app.take-back",
}
"""Hints of the command line, which knows no keymap, with the command that they mean."""

OF_DIALOGS = {
    "Move by one row; page up, page down, home (g) and end (G) move further.": "the keys of KeyedTable",
    "(x)": "a ticked box",
    "To confirm, press tab and type {}": "tab goes from the buttons to the field",
    "There is nothing to copy. In a review, press c to copy the commands.": "the key of ConfirmDialog",
    "Ctrl+C copies the text selected with the mouse; <app.quit> quits.": "a key of the terminal",
    "space marks several   enter chooses   esc cancels": "the keys of MarkDialog",
    "Edit job (ctrl+s saves, esc cancels; space or + - change a value)": "the keys of JobForm",
    "v raw output  esc close": "the keys of FiguresScreen",
    "c copies it": "the key of ConfirmDialog",
    "c copies them": "the key of ConfirmDialog",
    "u shows how to undo it": "the key of ConfirmDialog",
}
"""Hints of dialogs with their own keys, which no keymap changes."""


@cache
def strings(sign: str = "") -> tuple[tuple[str, str], ...]:
    """File and text of each string of the program that is no docstring; `{}` stands for a value.

    `sign`: a pattern that a file must have somewhere, or it is not read.
    """
    found = []
    for place in PLACES:
        for file in sorted((ROOT / place).rglob("*.py")):
            if re.search(sign, source := file.read_text()):
                found += [(str(file.relative_to(ROOT)), text) for text in _texts(ast.parse(source))]
    return tuple(found)


def _texts(tree: ast.Module) -> Iterator[str]:
    skipped = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            skipped.add(id(node.value))
        if isinstance(node, ast.JoinedStr):
            skipped |= {id(part) for part in node.values}
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.value


def named_keys(text: str) -> list[str]:
    """Return the keys that a text names as keys."""
    found = [key for match in NAMED.finditer(text) for key in match.groups() if key]
    return [key for key in found if key.lower() not in FIXED]


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("Press x to stop it.", ["x"]),
        ("r runs the job; p chooses another.", ["r", "p"]),
        ("no run yet: 2 goes to Bench", ["2"]),
        ("Go to Bench (2).", ["2"]),
        ("Esc shows all", []),
        ("A run measures the drive.", []),
    ],
)
def test_a_key_in_a_sentence_is_recognised(text: str, keys: list[str]) -> None:
    assert [key for key in named_keys(text) if key != "A"] == keys


@pytest.mark.long
def test_no_hint_spells_a_key_of_the_table() -> None:
    listed = OF_DIALOGS.keys() | OF_THE_COMMAND_LINE.keys()
    found = [(file, text) for file, text in strings() if named_keys(text)]
    assert [(file, text) for file, text in found if text not in listed] == []
    assert listed - {text for _, text in strings()} == set()


def test_a_hint_of_the_command_line_names_the_key_of_its_command() -> None:
    assert [named_keys(text) for text in OF_THE_COMMAND_LINE] == [
        list(BY_ID[name].keys) for name in OF_THE_COMMAND_LINE.values()
    ]


def test_every_command_in_a_hint_exists_and_has_a_key() -> None:
    named = {name for _, text in strings(BEGUN) for name in COMMAND.findall(text)}
    assert {name for name in named if name not in BY_ID or not BY_ID[name].keys} == set()
    assert len(named) > 30


SCREEN_OF_FILE = {
    "app/tui/bench/": "bench",
    "app/tui/devices/": "devices",
    "app/tui/log/": "log",
    "app/tui/runs/compare.py": "compare",
    "app/tui/runs/": "runs",
    "app/features/arrays/": "array",
    "app/features/fleet/screen/screen.py": "hosts",
    "app/features/fleet/screen/multihost_run.py": "joint",
    "app/features/plots/": "explore",
    "app/features/slowest/": "slowest",
    "app/features/observe/": "observe",
    "app/features/sweep/screen/": "sweep",
}
"""The screen that shows the hints of a file, by the beginning of its path."""


def test_a_hint_names_commands_of_its_screen_or_also_the_way_to_theirs() -> None:
    wrong = []
    for file, text in strings(BEGUN):
        screen = next((name for path, name in SCREEN_OF_FILE.items() if file.startswith(path)), None)
        titles = {name: title for name, title in (SCREENS | SHEETS).items() if title in text}
        for name in COMMAND.findall(text):
            screens = {*BY_ID[name].screens}
            gone = {ident.removeprefix("app.") for ident in COMMAND.findall(text)}
            if screen is not None and not screens & {screen, "all", *titles, *gone}:
                wrong.append((file, text, name))
    assert wrong == []


def test_a_key_of_the_keymap_is_named_in_its_place() -> None:
    assert with_keys("<bench.run> starts it, <app.quit> quits.", {"bench.run": "f5,r"}) == "f5 starts it, q quits."


def test_other_words_in_brackets_stay() -> None:
    assert with_keys("lvs: <a.b> is not <bench.nothing>") == "lvs: <a.b> is not <bench.nothing>"


@pytest.mark.long
async def test_hints_on_the_screen_name_the_keys_of_the_keymap(tmp_path: Path, table: Table) -> None:
    keymap = {"bench.run": "f5", "devices.next": "f6", "runs.mark": "f7", "runs.compare": "f8"}
    async with opened(set_table(tmp_path, keymap=keymap)) as pilot:
        await pilot.press("a")
        await until(pilot, lambda: "On a setting, f6 stages the next value" in notices(pilot))
        await pilot.press("2")
        await until(pilot, lambda: "f5 runs the job; p chooses another, T the target." in text_of(pilot))
        await pilot.press("3", "f8")
        await until(pilot, lambda: "Mark two runs with f7, then press f8." in notices(pilot))
