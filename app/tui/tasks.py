"""The task that each command serves: the groups of the help. Keys keep their meaning, so most follow from the key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType

from app.tui.commands import CommandSpec


class KeyTask(StrEnum):
    """What a user does with a command. The value is the heading of its group in the help."""

    MOVE = "Move"
    CHANGE = "Change settings"
    MEASURE = "Measure"
    COMPARE = "Compare"
    SHOW = "Choose the view"
    SAVE = "Save"
    LEAVE = "Help and leave"


def _table(words_of: Mapping[KeyTask, str]) -> Mapping[str, KeyTask]:
    return MappingProxyType({word: task for task, words in words_of.items() for word in words.split()})


TASK_OF_KEY: Mapping[str, KeyTask] = _table(
    {
        KeyTask.MOVE: "0 1 2 3 4 5 up down left right enter left_square_bracket right_square_bracket t slash n N"
        " exclamation_mark",
        KeyTask.CHANGE: "a u U K w A S d backspace plus minus greater_than_sign less_than_sign",
        KeyTask.MEASURE: "m r x p e o O T M P i space",
        KeyTask.COMPARE: "b B c H X",
        KeyTask.SHOW: "asterisk v g z y L f s C R",
        KeyTask.SAVE: "E Y ctrl+s",
        KeyTask.LEAVE: "escape q question_mark ctrl+p ctrl+z",
    }
)
"""The task of each key, in Textual's notation."""

TASK_OF_COMMAND: Mapping[str, KeyTask] = _table(
    {
        KeyTask.CHANGE: "devices.next devices.previous array.tick array.strip array.strip-before",
        KeyTask.MEASURE: "hosts.all sweep.new array.compare",
        KeyTask.COMPARE: "runs.mark compare.more explore.what",
        KeyTask.SHOW: "bench.freeze bench.zoom-in bench.zoom-out app.theme",
        KeyTask.SAVE: "log.note",
    }
)
"""The task of commands that differ from the task of their key, and of some commands without a key, by command id."""


def task_of(command: CommandSpec) -> KeyTask:
    """Return the task of a command."""
    key = command.keys[0] if command.keys else ""
    return TASK_OF_COMMAND.get(command.id) or TASK_OF_KEY.get(key, KeyTask.SHOW)


def by_task(commands: Iterable[CommandSpec]) -> Mapping[KeyTask, tuple[CommandSpec, ...]]:
    """Return the commands in groups, in the order of the tasks, without empty groups."""
    given = tuple(commands)
    groups = {task: tuple(command for command in given if task_of(command) is task) for task in KeyTask}
    return {task: group for task, group in groups.items() if group}
