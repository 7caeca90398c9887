"""The `report` command, which writes a session as a document."""

from __future__ import annotations

from pathlib import Path

import click

from app.cli.command import command
from app.cli.exit_status import DONE
from app.cli.output import data, say
from app.cli.session_context import picked_session
from app.cli.shared_options import force_option, judge_again_option, output_option, redact_option
from app.core.analysis.stored_verdicts import without_stored_verdicts
from app.core.session.archive import session_redactor
from app.features.report.output import ReportFormat, format_of, report_text, write_report
from backends.errors import InvalidValueError
from backends.text import clean


@command("report", "raidbench report -o report.html", "raidbench report --format csv --samples -o samples.csv")
@click.argument("session", required=False)
@click.option(
    "--format",
    "form",
    type=click.Choice([form.value for form in ReportFormat]),
    help="Format of the report (default: by the suffix of FILE, else md). fio-plot is a folder for fio-plot.",
)
@output_option()
@click.option("--samples", is_flag=True, help="With csv: write a row for each interval instead of each run.")
@redact_option
@judge_again_option
@force_option
def report_command(
    session: str | None,
    form: str | None,
    output: Path | None,
    samples: bool,
    redact: bool,
    judge_again: bool,
    force: bool,
) -> int:
    """Write the session as a report.

    The report has the machine, devices, commands, results with intervals, graphs, and the changes that still apply.
    SESSION is a name from `raidbench log --list`, a folder or an archive (default: the last session). With FILE, a
    Markdown report has graphs as SVG files in a folder next to it.
    """
    loaded = picked_session(session, whole=True)
    wanted = _form(form, output)
    if samples and wanted is not ReportFormat.CSV:
        raise click.UsageError("--samples needs --format csv.")
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
    """Return the format that the user named, else the one that the suffix of the file implies, else Markdown."""
    if named is not None:
        return ReportFormat(named)
    if output is None:
        return ReportFormat.MARKDOWN
    try:
        return format_of(output)
    except InvalidValueError:
        return ReportFormat.MARKDOWN
