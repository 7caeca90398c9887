"""The commands `version` and `help`."""

from __future__ import annotations

import sys

import click

from app.cli.command import command
from app.cli.exit_status import DONE
from app.cli.output import data, print_json
from app.cli.shared_options import json_option
from backends.did_you_mean import suggestion_hint
from backends.version import licence_text, program_version


def print_version(as_json: bool) -> None:
    """Print the version. The JSON also has those of Python and the file formats, and the kind of installation."""
    if not as_json:
        data(f"raidbench {program_version()}")
        return
    from backends.formats import FORMATS
    from backends.self_exec import install_form

    python = ".".join(map(str, sys.version_info[:3]))
    fields = {"version": program_version(), "python": python, "form": install_form(), "formats": FORMATS}
    print_json(program=fields)


@command("version", "raidbench version", "raidbench version --json")
@click.option("--licenses", is_flag=True, help="Show the licences of raidbench and its components.")
@json_option
def version_command(licenses: bool, as_json: bool) -> int:
    """Show the version.

    With --json, also show Python, the kind of installation and the file formats.
    """
    if licenses and as_json:
        raise click.UsageError("--licenses cannot be combined with --json: sbom.json of a release lists the licences.")
    if licenses:
        data(licence_text().rstrip("\n"))
    else:
        print_version(as_json)
    return DONE


@command("help", "raidbench help bench", "raidbench help array create")
@click.argument("args", nargs=-1, metavar="[COMMAND]...")
@click.pass_context
def help_command(ctx: click.Context, args: tuple[str, ...]) -> int:
    """Show the help of a command.

    Without COMMAND, list all commands.
    """
    at = ctx.parent
    assert at is not None
    for word in args:
        group = at.command
        command = group.get_command(at, word) if isinstance(group, click.Group) else None
        if command is None:
            names = group.list_commands(at) if isinstance(group, click.Group) else ()
            raise click.UsageError(f"No such command {word!r}. {suggestion_hint(word, names)}".rstrip(), at)
        at = click.Context(command, info_name=word, parent=at, **command.context_settings)
    data(at.get_help())
    return DONE
