"""The table of all commands by name. Listing the commands imports no command module."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from app.doors import DoorCommand, HelpGroup, doors

_CORE: dict[str, DoorCommand] = {
    "devices": DoorCommand(
        "app.cli.devices:devices_command", "List controllers, arrays and drives.", HelpGroup.LOOK, 10
    ),
    "show": DoorCommand(
        "app.cli.devices:show_command", "Show the facts and settings of one target.", HelpGroup.LOOK, 20
    ),
    "set": DoorCommand(
        "app.cli.set_command:set_command",
        "Change settings after a review of the exact commands.",
        HelpGroup.CHANGE,
        40,
    ),
    "undo": DoorCommand("app.cli.undo:undo_command", "Undo changes of the session.", HelpGroup.CHANGE, 50),
    "keep": DoorCommand("app.cli.trial:keep_command", "Keep the new values of a trial.", HelpGroup.CHANGE, 60),
    "persist": DoorCommand("app.cli.persist:persist_command", "Make settings survive a reboot.", HelpGroup.CHANGE, 70),
    "bench": DoorCommand(
        "app.cli.bench:bench_command", "Measure a device, an array or a file with fio.", HelpGroup.MEASURE, 100
    ),
    "precondition": DoorCommand(
        "app.cli.precondition:precondition_command",
        "Overwrite a device twice to measure it as in regular use.",
        HelpGroup.MEASURE,
        110,
    ),
    "profiles": DoorCommand(
        "app.cli.profiles:profiles_command",
        "List the profiles for `raidbench bench --profile`.",
        HelpGroup.MEASURE,
        170,
    ),
    "runs": DoorCommand("app.cli.runs:runs_command", "List the runs of the session.", HelpGroup.COMPARE, 180),
    "compare": DoorCommand(
        "app.cli.runs:compare_command", "Compare two runs or show an experiment.", HelpGroup.COMPARE, 190
    ),
    "log": DoorCommand("app.cli.log:log_command", "Show the events of a session.", HelpGroup.REPORTS, 260),
    "archive": DoorCommand("app.cli.archive:archive_command", "Pack a session into one file.", HelpGroup.REPORTS, 270),
    "recover": DoorCommand(
        "app.cli.recover:recover_command",
        "Restore settings after a crash or a lost connection.",
        HelpGroup.MAINTENANCE,
        310,
    ),
    "capture": DoorCommand(
        "app.cli.capture:capture_command",
        "Record this machine for a test or a bug report.",
        HelpGroup.MAINTENANCE,
        320,
    ),
    "keys": DoorCommand(
        "app.cli.reference:keys_command", "List the keys of the workbench.", HelpGroup.MAINTENANCE, 330
    ),
    "version": DoorCommand("app.cli.version_help:version_command", "Show the version.", HelpGroup.MAINTENANCE, 340),
    "help": DoorCommand("app.cli.version_help:help_command", "Show the help of a command.", HelpGroup.MAINTENANCE, 350),
    "glossary": DoorCommand(
        "app.cli.reference:glossary_command", "Explain the terms that raidbench uses.", HelpGroup.MAINTENANCE, 360
    ),
}
"""The commands that do not belong to a feature."""


class CommandTable(Mapping[str, DoorCommand]):
    """The commands of all features, and those of no feature, which are found without importing any feature."""

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
