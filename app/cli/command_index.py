"""The commands by name. Listing them imports no command module."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from app.doors import DoorCommand, doors

_CORE: dict[str, DoorCommand] = {
    "devices": DoorCommand("app.cli.devices:devices_command", "Everything found: controllers, arrays, drives.", 10),
    "show": DoorCommand(
        "app.cli.devices:show_command", "Facts and settings of one target, and what may be changed.", 20
    ),
    "set": DoorCommand("app.cli.set_command:set_command", "Change settings, after showing the exact commands.", 50),
    "undo": DoorCommand("app.cli.undo:undo_command", "Take back changes of the session.", 60),
    "keep": DoorCommand("app.cli.trial:keep_command", "Keep what is on trial.", 70),
    "persist": DoorCommand("app.cli.persist:persist_command", "Keep settings after a reboot.", 80),
    "bench": DoorCommand("app.cli.bench:bench_command", "Measure a device, an array or a scratch file with fio.", 110),
    "precondition": DoorCommand(
        "app.cli.precondition:precondition_command", "Write a device in full, twice, before it is measured.", 130
    ),
    "profiles": DoorCommand("app.cli.profiles:profiles_command", "The workloads by name.", 180),
    "runs": DoorCommand("app.cli.runs:runs_command", "The runs of the session.", 190),
    "compare": DoorCommand(
        "app.cli.runs:compare_command",
        "Two runs, their repeats or an experiment side by side, and what they show.",
        200,
    ),
    "log": DoorCommand("app.cli.log:log_command", "The session as it was.", 260),
    "archive": DoorCommand("app.cli.archive:archive_command", "The session as one file, for another machine.", 280),
    "recover": DoorCommand("app.cli.recover:recover_command", "Restore what a crash left.", 290),
    "capture": DoorCommand("app.cli.capture:capture_command", "Record this machine for a test or a bug report.", 320),
    "keys": DoorCommand("app.cli.reference:keys_command", "The keys of the workbench.", 330),
    "version": DoorCommand(
        "app.cli.version_help:version_command", "The version; with --json also Python, form and file formats.", 340
    ),
    "help": DoorCommand("app.cli.version_help:help_command", "What a command does, and its options.", 350),
    "glossary": DoorCommand(
        "app.cli.reference:glossary_command", "The words that are used here, and what they mean.", 360
    ),
}
"""The commands that belong to no feature."""


class CommandTable(Mapping[str, DoorCommand]):
    """The commands of the core and of all features. A command of the core is found without importing any door."""

    def __getitem__(self, name: str) -> DoorCommand:
        command = _CORE.get(name)
        return _all_commands()[name] if command is None else command

    def __iter__(self) -> Iterator[str]:
        return iter(_all_commands())

    def __len__(self) -> int:
        return len(_all_commands())


@cache
def _all_commands() -> dict[str, DoorCommand]:
    """Return every command, in the order of `--help`."""
    commands = _CORE | {name: command for door in doors().values() for name, command in door.commands.items()}
    return dict(sorted(commands.items(), key=lambda item: item[1].rank))


COMMANDS = CommandTable()
"""Every command by name, in the order of `--help`."""
