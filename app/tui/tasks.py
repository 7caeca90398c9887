"""The task that each command serves: the groups of the help. Keys keep their meaning, so most follow from the key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType

from app.tui.commands import CommandSpec


class Task(StrEnum):
    """What a user does with a command. The value is the heading of its group in the help."""

    MOVE = "Move"
    CHANGE = "Change settings"
    MEASURE = "Measure"
    COMPARE = "Compare"
    SHOW = "Choose the view"
    SAVE = "Save"
    LEAVE = "Help and leave"


def _table(words_of: Mapping[Task, str]) -> Mapping[str, Task]:
    return MappingProxyType({word: task for task, words in words_of.items() for word in words.split()})


TASK_OF_KEY: Mapping[str, Task] = _table(
    {
        Task.MOVE: "0 1 2 3 4 5 up down left right enter left_square_bracket right_square_bracket t slash n N"
        " exclamation_mark",
        Task.CHANGE: "a u U K w A S d backspace plus minus greater_than_sign less_than_sign",
        Task.MEASURE: "m r x p e o T M P i space",
        Task.COMPARE: "b B c H X",
        Task.SHOW: "asterisk v g z y L f s C R",
        Task.SAVE: "E Y ctrl+s",
        Task.LEAVE: "escape q question_mark ctrl+p ctrl+z",
    }
)
"""The task of each key, in Textual's notation."""

TASK_OF_COMMAND: Mapping[str, Task] = _table(
    {
        Task.CHANGE: "devices.next devices.previous array.tick array.strip array.strip-before",
        Task.MEASURE: "hosts.all sweep.new array.compare",
        Task.COMPARE: "runs.mark compare.more explore.what",
        Task.SHOW: "bench.freeze bench.zoom-in bench.zoom-out app.theme",
        Task.SAVE: "log.note",
    }
)
"""The task of commands that differ from the task of their key, and of some commands without a key, by command id."""


def task_of(command: CommandSpec) -> Task:
    """Return the task of a command."""
    key = command.keys[0] if command.keys else ""
    return TASK_OF_COMMAND.get(command.id) or TASK_OF_KEY.get(key, Task.SHOW)


def by_task(commands: Iterable[CommandSpec]) -> Mapping[Task, tuple[CommandSpec, ...]]:
    """Return the commands in groups, in the order of the tasks, without empty groups."""
    given = tuple(commands)
    groups = {task: tuple(command for command in given if task_of(command) is task) for task in Task}
    return {task: group for task, group in groups.items() if group}
