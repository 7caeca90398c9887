"""Writes a report in any of its formats, as text or to files."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

from app.core.presentation.raw_data import intervals, joint_records, read_raw, to_json
from app.core.session.documents import create_folder, write_file
from app.core.session.redaction import redact_session
from app.core.session.state import Session
from app.doors import action
from app.features.report.blocks import Code, Report, section
from app.features.report.csv import runs_csv, samples_csv
from app.features.report.fio_plot import fio_plot_files
from app.features.report.html import to_html
from app.features.report.markdown import picture_name, to_markdown
from app.features.report.model import report_of, run_ids_to_draw
from app.features.report.series import runs_with_graphs
from app.features.report.svg import to_svg
from backends.errors import InvalidValueError, RefusedError
from backends.redaction import Redactor
from backends.text import clean


class ReportFormat(StrEnum):
    """Output formats of a report."""

    MARKDOWN = "md"
    HTML = "html"
    CSV = "csv"
    JSON = "json"
    FIO_PLOT = "fio-plot"
    """A folder with files for fio-plot."""


_ENDINGS = {
    ".md": ReportFormat.MARKDOWN,
    ".html": ReportFormat.HTML,
    ".htm": ReportFormat.HTML,
    ".csv": ReportFormat.CSV,
    ".json": ReportFormat.JSON,
}

ENDINGS = ".md, .html, .csv or .json"
"""The supported file suffixes, for messages."""

_SIZE = (80, 20)
"""Columns and rows of a plot in a text report. Mail programs show lines of this width without wrapping."""


def format_of(file: Path) -> ReportFormat:
    """Return the format for a file's suffix. Raises InvalidValueError for any other suffix."""
    form = _ENDINGS.get(file.suffix.lower())
    if form is None:
        raise InvalidValueError(f"The name must end in {ENDINGS}.")
    return form


def report_text(
    session: Session,
    folder: Path,
    form: ReportFormat,
    *,
    samples: bool = False,
    redactor: Redactor | None = None,
    source: str = "",
) -> str:
    """Return the report as a string. Raises InvalidValueError for the fio-plot format, which is a folder.

    `folder`: folder of the session; `samples`: whether CSV has a row per interval instead of per run; `redactor`: hides
    data that identifies the machine; `source`: name of the session in JSON, if it differs from the folder.
    """
    shown = session if redactor is None else redact_session(session, redactor)
    text = _text(shown, folder, form, samples=samples, source=source)
    return text if redactor is None else redactor.text(text)


def _text(session: Session, folder: Path, form: ReportFormat, *, samples: bool, source: str) -> str:
    match form:
        case ReportFormat.JSON:
            return (
                json.dumps(
                    to_json(session, folder=source or str(folder), joint=joint_records(folder)[0]),
                    indent=1,
                    allow_nan=False,
                )
                + "\n"
            )
        case ReportFormat.CSV:
            if samples:
                return samples_csv(session, {run.id: intervals(run, folder) for run in session.runs})
            return runs_csv(session)
        case ReportFormat.HTML:
            return to_html(report_of(session, read_raw(session, folder, run_ids_to_draw(session))))
        case ReportFormat.MARKDOWN:
            return to_markdown(_markdown_report(session, folder))
        case ReportFormat.FIO_PLOT:
            raise InvalidValueError(
                "The fio-plot format is a folder.", hint="Specify a folder that does not exist yet: -o FOLDER."
            )


def write_report(
    session: Session,
    folder: Path,
    file: Path,
    form: ReportFormat,
    *,
    force: bool = False,
    samples: bool = False,
    redactor: Redactor | None = None,
    source: str = "",
) -> tuple[Path, ...]:
    """Write the report, and return the files or folders that were created.

    An existing file is replaced only with `force`. `report_text` describes the other parameters. Raises
    InvalidValueError, RefusedError, StorageError.
    """
    hide = (lambda text: text) if redactor is None else redactor.text
    session = session if redactor is None else redact_session(session, redactor)
    match form:
        case ReportFormat.FIO_PLOT:
            create_folder(file, force=force)
            for name, content in fio_plot_files(session, folder):
                create_folder((file / name).parent, force=True)
                write_file(file / name, hide(content), force=force)
            return (file,)
        case ReportFormat.MARKDOWN:
            return _write_markdown(session, folder, file, hide, force=force)
        case _:
            text = _text(session, folder, form, samples=samples, source=source)
            write_file(file, hide(text), force=force)
            return (file,)


def _markdown_report(session: Session, folder: Path) -> Report:
    """Return the report with an additional section of plots drawn as text: of each A/B, of the sweep, and of single
    runs over time.
    """
    raw = read_raw(session, folder, run_ids_to_draw(session))
    report, draw = report_of(session, raw), action("plots.session_lines")
    plots = () if draw is None else draw(session, runs_with_graphs(session), raw.samples, _SIZE)
    added = section("Pictures", *(Code(lines=lines, label=heading) for heading, lines in plots))
    headings = [part.heading for part in report.sections]
    at = headings.index("Test objects") if "Test objects" in headings else len(headings)
    return replace(report, sections=(*report.sections[:at], *added, *report.sections[at:]))


def _write_markdown(
    session: Session, folder: Path, file: Path, hide: Callable[[str], str], *, force: bool
) -> tuple[Path, ...]:
    """Write the Markdown file, and its graphs to a folder next to it. Return the created paths."""
    report = _markdown_report(session, folder)
    beside = file.with_name(f"{file.stem}-files")
    if not report.graphs:
        write_file(file, hide(to_markdown(report)), force=force)
        return (file,)
    if beside.exists() and not force:
        raise RefusedError(f"{clean(str(beside), 300)} already exists.", hint="Specify another file, or add --force.")
    write_file(file, hide(to_markdown(report, pictures=beside.name)), force=force)
    create_folder(beside, force=force)
    for graph in report.graphs:
        write_file(beside / picture_name(graph), hide(to_svg(graph, standalone=True)) + "\n", force=force)
    return (file, beside)
