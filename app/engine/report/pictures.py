"""The pictures of a session as text, for reports that are mailed or pasted into a ticket."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from app.engine.picture.asked import Wish
from app.engine.picture.making import picture, usual
from app.engine.picture.subject import PlacedRun, Subject, of_experiment, of_runs, of_sweep
from app.engine.report.blocks import Code, Report, section
from app.engine.report.raw import Raw
from app.engine.report.series import pictured
from app.engine.session.figures import Sample
from app.engine.session.state import Session
from widgets.plain.picture.look import PictureLook
from widgets.plain.picture.painting import painted

SIZE = (80, 20)
"""Columns and rows: what a mail shows unbroken."""

_NOWHERE = Path()


def with_pictures(report: Report, session: Session, raw: Raw) -> Report:
    """The report with a section of pictures: percentiles of each A/B, what its sweep found, single runs over time."""
    blocks = tuple(_pictures(session, raw))
    made = section("Pictures", *blocks)
    at = next((at for at, one in enumerate(report.sections) if one.heading == "Under test"), len(report.sections))
    return replace(report, sections=(*report.sections[:at], *made, *report.sections[at:]))


def _pictures(session: Session, raw: Raw) -> Iterator[Code]:
    def intervals(placed: PlacedRun) -> Sequence[Sample]:
        return raw.samples.get(placed.run.id, ())

    width, height = SIZE
    look = PictureLook(width=width, height=height, palette=())
    for subject in _subjects(session):
        shown = picture(subject, usual(subject), Wish(), intervals)
        if shown.data is not None:
            yield Code(lines=tuple(painted(shown, look)), label=subject.heading)


def _subjects(session: Session) -> Iterator[Subject]:
    for record in session.experiments:
        if (subject := of_experiment(session, _NOWHERE, record)) is not None:
            yield subject
    if (swept := of_sweep(session, _NOWHERE)) is not None:
        yield swept
    for run in pictured(session):
        yield of_runs([PlacedRun(run=run, folder=_NOWHERE)])
