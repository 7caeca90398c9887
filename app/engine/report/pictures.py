"""The pictures of a session as text, for reports that are mailed or pasted into a ticket."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from app.doors import action
from app.engine.report.blocks import Code, Report, section
from app.engine.report.raw import Raw
from app.engine.report.series import pictured
from app.engine.session.state import Session

SIZE = (80, 20)
"""Columns and rows: what a mail shows unbroken."""


def with_pictures(report: Report, session: Session, raw: Raw) -> Report:
    """The report with a section of pictures: percentiles of each A/B, what its sweep found, single runs over time."""
    blocks = tuple(_pictures(session, raw))
    made = section("Pictures", *blocks)
    at = next((at for at, one in enumerate(report.sections) if one.heading == "Under test"), len(report.sections))
    return replace(report, sections=(*report.sections[:at], *made, *report.sections[at:]))


def _pictures(session: Session, raw: Raw) -> Iterator[Code]:
    draw = action("plots.session_lines")
    for heading, lines in () if draw is None else draw(session, pictured(session), raw.samples, SIZE):
        yield Code(lines=lines, label=heading)
