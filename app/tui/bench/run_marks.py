"""What happened in the course of a run, as marks on its time axis. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from app.core.session.events import RunStarted
from app.core.session.results import RunEvent
from app.core.session.state import Session
from app.tui.bench.curves import Curves
from widgets.chart import TimeMark
from widgets.text_utils.symbols import ATTENTION, BUSY, CHANGED, STEADY

_RAMP = ("╵", "|")
"""A line where the ramp ends, and the one without UTF-8."""


def marks_of(curves: Curves, *, ascii: bool) -> tuple[TimeMark, ...]:
    """What the samples themselves tell: the end of the ramp, when it was steady, and where I/O stood still."""
    return tuple(_marks(curves, ascii=ascii))


def _marks(curves: Curves, *, ascii: bool) -> Iterator[TimeMark]:
    if curves.ramp and curves.until > curves.ramp:
        yield TimeMark(at=curves.ramp, sign=_RAMP[ascii], bad=False)
    if curves.settled and curves.measured:
        yield TimeMark(at=curves.measured_from, sign=STEADY.shown(ascii=ascii), text="measuring", bad=False)
    for still in curves.still.found:
        text = f"stall {still.seconds:.1f} s"
        yield TimeMark(at=curves.measured_from + still.at, sign=ATTENTION.shown(ascii=ascii), text=text)


def event_marks(happened: Iterable[RunEvent], *, ascii: bool) -> tuple[TimeMark, ...]:
    """What befell the devices below: background work that began or ended, a write cache that became another."""
    return tuple(
        TimeMark(
            at=event.at,
            sign=(ATTENTION if event.moved else BUSY).shown(ascii=ascii),
            text=event.after if event.moved else f"{event.kind} {'ended' if event.before else 'began'}",
            bad=event.moved,
        )
        for event in happened
    )


def change_marks(
    session: Session, start: RunStarted, passed: float, now: float, *, ascii: bool
) -> tuple[TimeMark, ...]:
    """Settings of any device that were changed while a run went on.

    `passed`: seconds of the run by its own clock; `now`: the session's at that moment. A simulated run's clock may go
    faster.
    """
    marks = []
    for record in session.changes:
        if record.end is None or not start.at < record.end.at <= now:
            continue
        speed = passed / (now - start.at) if start.simulated else 1.0
        at = passed - (now - record.end.at) * speed
        if at >= 0.0:
            text = f"{record.change.label} {record.end.now or ''}".rstrip()
            marks.append(TimeMark(at=float(round(at)), sign=CHANGED.shown(ascii=ascii), text=text, bad=False))
    return tuple(marks)
