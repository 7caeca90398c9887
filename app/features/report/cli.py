"""The `report` command: the session as a document."""

from __future__ import annotations

from pathlib import Path

import click

from app.cli.exit_status import DONE
from app.cli.options import JUDGE_AGAIN_HELP, REDACTED
from app.cli.output import data, say
from app.cli.session_context import loaded_session
from app.core.analysis.stored_verdicts import without_stored_verdicts
from app.core.session.archive import session_redactor
from app.features.report.output import ReportFormat, format_of, report_text, write_report
from backends.errors import InvalidValueError
from backends.text import clean


@click.command("report")
@click.argument("session", required=False)
@click.option(
    "--format",
    "form",
    type=click.Choice([form.value for form in ReportFormat]),
    help="By the ending of FILE, else md. fio-plot: a folder that fio-plot reads.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write it there.")
@click.option("--samples", is_flag=True, help="With csv: a row for each interval of each run, not for each run.")
@click.option("--redact", is_flag=True, help=f"Pseudonyms for serial numbers, {REDACTED}.")
@click.option("--judge-again", is_flag=True, help=JUDGE_AGAIN_HELP)
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
def report_command(
    session: str | None,
    form: str | None,
    output: Path | None,
    samples: bool,
    redact: bool,
    judge_again: bool,
    force: bool,
) -> int:
    """The session as a document: machine, devices, commands, figures with intervals, graphs, what is still in force.

    SESSION is a name from `log --list`, a folder or an archive; without it the last one. Markdown has graphs when it is
    written to a FILE: as SVG in a folder beside it.
    """
    loaded = loaded_session(session, whole=True)
    wanted = _form(form, output)
    if samples and wanted is not ReportFormat.CSV:
        raise click.UsageError("--samples is for --format csv.")
    shown = without_stored_verdicts(loaded.session) if judge_again else loaded.session
    redactor = session_redactor(shown, loaded.folder) if redact else None
    if output is None:
        text = report_text(shown, loaded.folder, wanted, samples=samples, redactor=redactor, source=loaded.display_path)
        data(text.rstrip("\n"))
        return DONE
    report = shown, loaded.folder, output, wanted
    for path in write_report(*report, force=force, samples=samples, redactor=redactor, source=loaded.display_path):
        say(f"Written to {clean(str(path), 300)}")
    return DONE


def _form(named: str | None, output: Path | None) -> ReportFormat:
    """Return the named format, else the one of the file's suffix, else Markdown."""
    if named is not None:
        return ReportFormat(named)
    if output is None:
        return ReportFormat.MARKDOWN
    try:
        return format_of(output)
    except InvalidValueError:
        return ReportFormat.MARKDOWN
