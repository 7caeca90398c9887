"""A key keeps its meaning on all screens and dialogs. The exceptions are listed here, each with its reason."""

from __future__ import annotations

import importlib
import pkgutil
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from textual.binding import Binding
from textual.widget import Widget

import app.features
import app.tui
import widgets
from app.tui.commands import COMMANDS, CommandSpec
from app.tui.tasks import TASK_OF_COMMAND, TASK_OF_KEY

Meanings = Mapping[str, tuple[str, frozenset[str]]]


def labels(text: str) -> frozenset[str]:
    return frozenset(text.split(", "))


SAME: Meanings = {
    "A": ("Make something new.", labels("New array, New plan, New note")),
    "R": ("Read the machine again.", labels("Rescan, Refresh")),
    "a": ("Review what was chosen, then do it.", labels("Apply, Create")),
    "asterisk": (
        "All of them, or fewer.",
        labels("All drives, All hosts, All sessions, Earlier runs, Mark all, All values"),
    ),
    "enter": (
        "Open or choose what is under the cursor.",
        labels("Open, Data, Object, Devices, Choose, Unfold or fold, Close, Show"),
    ),
    "ctrl+s": ("Save.", labels("Save plan, Save")),
    "escape": ("One step back.", labels("Back, Cancel, Close")),
    "g": ("The next metric.", labels("IOPS or MiB/s, Metric, Over time")),
    "h": ("One step back.", labels("Back, Close, Fold")),
    "l": ("Open what is under the cursor.", labels("Open, Devices, Open axis, Unfold, Column right")),
    "minus": ("One step less.", labels("Zoom out, Previous level, Previous")),
    "o": ("Open a file.", labels("Open, Open plan")),
    "plus": ("One step more.", labels("Zoom in, More pairs, Level, Next")),
    "q": ("Leave.", labels("Quit, Close")),
    "r": ("Start to measure.", labels("Run, Read")),
    "slash": ("Find.", labels("Filter, Search")),
    "left_square_bracket": ("The previous one.", labels("Previous value, Previous, Previous strip")),
    "right_square_bracket": ("The next one.", labels("Next value, Section, Next chart, Strip, Next")),
    "v": ("Another view of the same.", labels("Heat map, Charts, Live I/O, Percentiles, Plan or sweep, Raw output")),
    "u": ("Restore the old value.", labels("Undo, Revert trial")),
    **{
        key: ("Move.", labels(names))
        for key, names in {
            "up": "Previous run, Row up, Entry up, Up, Field",
            "down": "Next run, Row down, Entry down, Down, Button",
            "k": "Row up, Entry up",
            "j": "Row down, Entry down",
            "home": "First row, First entry",
            "end": "Last row, Newest entry",
            "G": "Last row, Newest entry",
            "pageup": "Page up",
            "pagedown": "Page down",
        }.items()
    },
}
"""Keys whose commands have several names but one meaning: the meaning, and the names."""

EXCEPTIONS: Meanings = {
    "space": (
        "The largest key acts on the row under the cursor: it marks or ticks it, or stages its next value. Graphs have"
        " no rows; there it freezes, as in every player.",
        labels("Freeze, Mark, Tick, Next value, Next, Show"),
    ),
    "left": (
        "On charts and grids it moves to the left; History draws its runs from left to right.",
        labels("Back, Previous run, Close axis, Fold, Column left, Previous"),
    ),
    "right": (
        "On charts and grids it moves to the right; History draws its runs from left to right.",
        labels("Open, Next run, Devices, Open axis, Unfold, Column right, Next"),
    ),
    "g": ("In a list it goes to the first row, as in vi and less.", labels("First row, First entry")),
    "c": ("A review is answered before anything else: it copies the commands of the review.", labels("Compare, Copy")),
    "t": ("A review is answered before anything else: it starts a trial.", labels("Next tab, Trial")),
    "u": ("In a review it shows the undo that it runs elsewhere.", labels("Show undo")),
    "y": ("A review is answered with y for yes, as in a shell.", labels("Axis from 0, Apply")),
    "f": (
        "Both choose how much is listed: the kinds of events of the log, or all results of a run.",
        labels("Show, All results"),
    ),
}
"""Keys with more than one meaning: the reason, and the names."""

Named = Iterable[tuple[str, str]]


def of_commands(commands: Iterable[CommandSpec] = COMMANDS) -> Iterator[tuple[str, str]]:
    """Key and name of each command."""
    for command in commands:
        for key in command.keys:
            yield key, command.label


def of_widgets() -> Iterator[tuple[str, str]]:
    """Key and name of each named binding of a dialog, sheet or list."""
    for package in (app.tui, app.features, widgets):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.startswith("app.features.") or ".screen" in module.name:
                importlib.import_module(module.name)
    for cls in _subclasses(Widget):
        if cls.__module__.startswith(("app.", "widgets.")):
            for binding in cls.__dict__.get("BINDINGS", ()):
                if isinstance(binding, Binding) and binding.description:
                    for key in binding.key.split(","):
                        yield key, binding.description


def _subclasses(cls: type[Widget]) -> Iterator[type[Widget]]:
    for child in cls.__subclasses__():
        yield child
        yield from _subclasses(child)


def unexplained(named: Named) -> dict[str, set[str]]:
    """Return the names of each key with several of them, if the tables above do not have them all."""
    found: dict[str, set[str]] = defaultdict(set)
    for key, name in named:
        found[key].add(name)
    known = {
        key: SAME.get(key, ("", frozenset()))[1] | EXCEPTIONS.get(key, ("", frozenset()))[1]
        for key in (*SAME, *EXCEPTIONS)
    }
    return {key: names for key, names in found.items() if len(names) > 1 and not names <= known.get(key, frozenset())}


def test_a_key_has_one_meaning_or_a_reason() -> None:
    assert unexplained((*of_commands(), *of_widgets())) == {}


def test_a_new_command_that_gives_a_key_another_meaning_is_found() -> None:
    new = CommandSpec(id="runs.verify", keys=("v",), action="verify", label="Verify", help="Verify.", screens=("runs",))
    assert set(unexplained(of_commands((*COMMANDS, new)))) == {"v"}


def test_the_tables_have_no_name_that_no_key_has() -> None:
    found = {*of_commands(), *of_widgets()}
    rows = [(key, name) for table in (SAME, EXCEPTIONS) for key, (_, names) in table.items() for name in names]
    assert [row for row in rows if row not in found] == []


def test_every_exception_has_a_reason() -> None:
    assert [key for key, (reason, _) in EXCEPTIONS.items() if len(reason) < 20 or not reason.endswith(".")] == []


def test_every_key_belongs_to_a_task_of_the_help() -> None:
    keys = {command.keys[0] for command in COMMANDS if command.keys and command.id not in TASK_OF_COMMAND}
    assert keys - TASK_OF_KEY.keys() == set()


def test_the_tasks_name_only_commands_that_exist() -> None:
    assert TASK_OF_COMMAND.keys() - {command.id for command in COMMANDS} == set()
    assert TASK_OF_KEY.keys() - {key for command in COMMANDS for key in command.keys} == set()
