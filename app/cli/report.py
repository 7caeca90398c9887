"""`report`: the session as a document."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click

from app.cli.failures import DONE
from app.cli.opening import loaded_session
from app.cli.output import data, say
from backends.errors import RefusedError, StorageError
from backends.text import clean


@click.command("report")
@click.argument("session", required=False)
@click.option("--format", "form", type=click.Choice(["md", "json"]), help="Markdown (default) or JSON.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write it there.")
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
def report_command(session: str | None, form: str | None, output: Path | None, force: bool) -> int:
    """The session as a document: machine, devices, changes, runs, what is still in force.

    SESSION is a name from `log --list` or a folder; without it the last one.
    """
    loaded = loaded_session(session)
    if form is None:
        form = "json" if output is not None and output.suffix == ".json" else "md"
    if form == "json":
        from app.engine.report.as_json import to_json

        text = json.dumps(to_json(loaded.session, folder=str(loaded.folder)), indent=1, allow_nan=False) + "\n"
    else:
        from app.engine.report.markdown import to_markdown
        from app.engine.report.model import report_of

        text = to_markdown(report_of(loaded.session))
    if output is None:
        data(text.rstrip("\n"))
        return DONE
    _write(output, text, force=force)
    say(f"Written to {clean(str(output), 300)}")
    return DONE


def _write(file: Path, text: str, *, force: bool) -> None:
    """A new file; an existing one is replaced as a whole, and only with `force`.

    Raises RefusedError, StorageError.
    """
    shown = clean(str(file), 300)
    target = file.with_name(f".{file.name}.{os.getpid()}") if force else file
    try:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as handle:
            handle.write(text)
        if force:
            target.replace(file)
    except FileExistsError:
        raise RefusedError(f"{shown} is there already.", hint="Name another file, or add --force.") from None
    except OSError as error:
        raise StorageError(f"{shown} cannot be written: {error.strerror}.", evidence=str(error)) from error
