"""What the command line prints whatever the machine is: the help of every command, and three lists."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

import click
from click.testing import CliRunner

from app.cli.main import cli

LISTS = ("glossary", "keys", "profiles")
"""Commands whose text needs no machine."""


def help_files() -> dict[str, str]:
    """Return the golden files of `--help` by name: `raidbench.txt`, `array.txt`, `array-create.txt` and so on."""
    return {f"{'-'.join(words) or 'raidbench'}.txt": printed(*words, "--help") for words in command_lines()}


def list_files() -> dict[str, str]:
    """Return the golden files of what the commands print that are lists of the program itself."""
    return {f"{command}.txt": printed(command) for command in LISTS}


def command_lines() -> Iterator[tuple[str, ...]]:
    """Yield the words of every command and subcommand, first none at all: the program itself."""
    yield from _below(cli, click.Context(cli, info_name="raidbench", **cli.context_settings), ())


def printed(*words: str) -> str:
    """Return what a command prints in this process: 80 columns, no colours, no configuration file.

    Raises RuntimeError where it fails.
    """
    with tempfile.TemporaryDirectory(prefix="catalogue-") as folder:
        environment = {"COLUMNS": "80", "NO_COLOR": "1", "RAIDBENCH_STATE_DIR": folder, "SUDO_UID": None}
        result = CliRunner().invoke(cli, list(words), prog_name="raidbench", env=environment)
    if result.exit_code:
        raise RuntimeError(f"raidbench {' '.join(words)} ends with {result.exit_code}: {result.stderr}")
    return result.stdout


def _below(command: click.Command, context: click.Context, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    yield words
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            if found is None:
                raise RuntimeError(f"{' '.join((*words, name))} is listed, but there is no such command")
            yield from _below(found, click.Context(found, info_name=name, parent=context), (*words, name))
