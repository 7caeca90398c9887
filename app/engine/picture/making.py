"""The picture of a subject: its data, or in a sentence why there is nothing to show."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app.engine.picture.asked import AskedPicture, Intervals, Made, NothingError, Wish, missing
from app.engine.picture.histories import history
from app.engine.picture.latencies import histogram, percentiles
from app.engine.picture.setups import boxes, scatter
from app.engine.picture.subject import PlacedRun, Subject
from app.engine.picture.sweeps import curve
from app.engine.picture.timelines import timeline
from app.engine.session.figures import Sample
from widgets.plain.picture.values import Picture, PictureKind

_MAKERS: dict[PictureKind, Callable[[AskedPicture], Made]] = {
    PictureKind.PERCENTILES: percentiles,
    PictureKind.HISTOGRAM: histogram,
    PictureKind.BOX: boxes,
    PictureKind.SCATTER: scatter,
    PictureKind.TIMELINE: timeline,
    PictureKind.CURVE: curve,
    PictureKind.HISTORY: history,
}


def _unread(_: PlacedRun) -> Sequence[Sample]:
    return ()


_PLAIN = Wish()


def picture(
    subject: Subject, kind: PictureKind | None = None, wish: Wish = _PLAIN, intervals: Intervals = _unread
) -> Picture:
    """Return the picture of that kind, else of the usual one; without data, and with the reason, where there is none.

    Without `intervals` none are read from disk.
    """
    asked = AskedPicture(subject=subject, wish=wish, intervals=intervals)
    try:
        title, data, note = _MAKERS[kind or usual(subject)](asked)
    except NothingError as nothing:
        return Picture(title=subject.about, why=str(nothing), keys=nothing.keys, simulated=subject.simulated)
    why = " ".join(filter(None, (note, missing(subject))))
    return Picture(title=title, data=data, why=why, simulated=subject.simulated)


def without_data(subject: Subject) -> dict[PictureKind, Picture]:
    """The kinds that have nothing to show, as far as that is known without reading intervals."""
    found = {kind: picture(subject, kind) for kind in PictureKind if kind is not PictureKind.TIMELINE}
    return {kind: made for kind, made in found.items() if made.data is None}


def usual(subject: Subject) -> PictureKind:
    """The picture that tells most: curve of a sweep, percentiles of an A/B, timeline of one run."""
    if subject.found is not None:
        return PictureKind.CURVE
    if subject.looked:
        return PictureKind.HISTORY
    return (
        PictureKind.PERCENTILES
        if len(subject.parts) > 1
        else PictureKind.BOX
        if len(subject.runs) > 1
        else PictureKind.TIMELINE
    )
