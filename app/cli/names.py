"""The commands by name: their list needs no import, a command only its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from app.doors import DoorCommand, doors

_CORE: dict[str, DoorCommand] = {
    "devices": DoorCommand(
        path="app.cli.devices:devices_command", help="Everything found: controllers, arrays, drives.", rank=10
    ),
    "show": DoorCommand(
        path="app.cli.devices:show_command", help="Facts and settings of one target, and what may be changed.", rank=20
    ),
    "set": DoorCommand(
        path="app.cli.change:set_command", help="Change settings, after showing the exact commands.", rank=50
    ),
    "undo": DoorCommand(path="app.cli.undo:undo_command", help="Take back changes of the session.", rank=60),
    "keep": DoorCommand(path="app.cli.trial:keep_command", help="Keep what is on trial.", rank=70),
    "persist": DoorCommand(path="app.cli.persist:persist_command", help="Keep settings after a reboot.", rank=80),
    "bench": DoorCommand(
        path="app.cli.bench:bench_command", help="Measure a device, an array or a scratch file with fio.", rank=110
    ),
    "precondition": DoorCommand(
        path="app.cli.precondition:precondition_command",
        help="Write a device in full, twice, before it is measured.",
        rank=130,
    ),
    "profiles": DoorCommand(path="app.cli.profiles:profiles_command", help="The workloads by name.", rank=180),
    "runs": DoorCommand(path="app.cli.runs:runs_command", help="The runs of the session.", rank=190),
    "compare": DoorCommand(
        path="app.cli.runs:compare_command",
        help="Two runs, their repeats or an experiment side by side, and what they show.",
        rank=200,
    ),
    "log": DoorCommand(path="app.cli.log:log_command", help="The session as it was.", rank=260),
    "archive": DoorCommand(
        path="app.cli.archive:archive_command", help="The session as one file, for another machine.", rank=280
    ),
    "recover": DoorCommand(path="app.cli.recover:recover_command", help="Restore what a crash left.", rank=290),
    "capture": DoorCommand(
        path="app.cli.capture:capture_command", help="Record this machine for a test or a bug report.", rank=320
    ),
    "keys": DoorCommand(path="app.cli.keys:keys_command", help="The keys of the workbench.", rank=330),
    "version": DoorCommand(
        path="app.cli.about:version_command",
        help="The version; with --json also Python, form and file formats.",
        rank=340,
    ),
    "help": DoorCommand(path="app.cli.about:help_command", help="What a command does, and its options.", rank=350),
    "glossary": DoorCommand(
        path="app.cli.glossary:glossary_command", help="The words that are used here, and what they mean.", rank=360
    ),
}
"""The commands that belong to no feature."""


class CommandTable(Mapping[str, DoorCommand]):
    """The commands of the core and of all features. Who asks for one of the core looks at no door."""

    def __getitem__(self, name: str) -> DoorCommand:
        found = _CORE.get(name)
        return _all()[name] if found is None else found

    def __iter__(self) -> Iterator[str]:
        return iter(_all())

    def __len__(self) -> int:
        return len(_all())


@cache
def _all() -> dict[str, DoorCommand]:
    """Return every command, in the order of `--help`."""
    found = _CORE | {name: command for door in doors().values() for name, command in door.commands.items()}
    return dict(sorted(found.items(), key=lambda item: item[1].rank))


COMMANDS = CommandTable()
"""Every command by name, in the order of `--help`."""
