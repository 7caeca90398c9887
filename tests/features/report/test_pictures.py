"""Markdown carries the pictures of a session as text, for mails and tickets."""

from __future__ import annotations

from pathlib import Path

from app.features.report.output import ReportFormat, report_text
from tests.features.plots.making import experiment, run, session


def fences(text: str) -> list[list[str]]:
    """The rows of every fenced block."""
    return [block.strip("\n").splitlines() for block in text.split("```")[1::2]]


def test_an_ab_has_its_percentiles_in_a_fenced_block_of_80_columns_without_escapes() -> None:
    text = report_text(session(experiment(), run(7)), Path("/nowhere"), ReportFormat.MARKDOWN)
    (picture,) = (block for block in fences(text) if any("by percentile" in row for row in block))
    assert (len(picture), max(map(len, picture)) <= 80, "\x1b" in text) == (20, True, False)


def test_without_anything_to_draw_there_is_no_such_section() -> None:
    text = report_text(session(run(1)), Path("/nowhere"), ReportFormat.MARKDOWN)
    assert "## Pictures" not in text


def test_html_has_its_own_pictures() -> None:
    text = report_text(session(experiment()), Path("/nowhere"), ReportFormat.HTML)
    assert "by percentile, 3 runs each" not in text
