"""`archive`: write a session to one file, to keep the session or to move it to another machine."""

from __future__ import annotations

from pathlib import Path

import click

from app.cli.command import command
from app.cli.exit_status import DONE
from app.cli.output import lines, print_json, say
from app.cli.session_context import picked_session
from app.cli.shared_options import force_option, json_option, output_option, redact_option
from app.core.session.archive import write_archive
from backends.sizes import size_words
from backends.text import clean
from widgets.text_utils import units


@command("archive", "raidbench archive -o night.raidbench", "raidbench compare night.raidbench/r1 r1")
@click.argument("session", required=False)
@output_option(required=True)
@redact_option
@force_option
@json_option
def archive_command(session: str | None, output: Path, redact: bool, force: bool, as_json: bool) -> int:
    """Pack a session into one file.

    SESSION is a name from `raidbench log --list` or a folder (default: the last session). FILE holds the log and the
    output of fio and other programs, with checksums. `compare`, `runs`, `report` and `log` accept FILE as a session.
    """
    made = write_archive(picked_session(session, whole=True).folder, output, redact=redact, force=force)
    if as_json:
        print_json(archive=str(made.file), files=made.parts, size_bytes=made.size, sha256=made.sha256, redacted=redact)
        return DONE
    lines([f"{made.sha256}  {clean(str(made.file), 300)}"])
    say(f"{units.plural(made.parts, 'file')}, {size_words(made.size)}. `raidbench report FILE` reads it on any host.")
    return DONE
