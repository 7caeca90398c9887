"""`archive`: write a session to one file, to keep it or to move it to another machine."""

from __future__ import annotations

from pathlib import Path

import click

from app.cli.exit_status import DONE
from app.cli.options import REDACTED
from app.cli.output import lines, print_json, say
from app.cli.session_context import loaded_session
from app.core.session.archive import write_archive
from backends.sizes import size_words
from backends.text import clean
from widgets.text_utils import units


@click.command("archive")
@click.argument("session", required=False)
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", required=True, help="Write it there.")
@click.option("--redact", is_flag=True, help=f"Pseudonyms for serial numbers, {REDACTED}.")
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def archive_command(session: str | None, output: Path, redact: bool, force: bool, as_json: bool) -> int:
    """The session as one file with checksums: its log, and all that fio and other programs said.

    SESSION is a name from `log --list` or a folder; without it the last one. Where a session is named, `compare`,
    `runs`, `report` and `log` take FILE instead.
    """
    made = write_archive(loaded_session(session, whole=True).folder, output, redact=redact, force=force)
    if as_json:
        print_json(archive=str(made.file), files=made.parts, size_bytes=made.size, sha256=made.sha256, redacted=redact)
        return DONE
    lines([f"{made.sha256}  {clean(str(made.file), 300)}"])
    say(f"{units.plural(made.parts, 'file')}, {size_words(made.size)}. `raidbench report FILE` reads it anywhere.")
    return DONE
