"""The intervals of a run that is over, from fio's raw output."""

from __future__ import annotations

from pathlib import Path

from app.engine.figures import Sample
from app.engine.fio.course import Course
from app.engine.fio.document import FioDocument
from app.engine.fio.stream import Document, StreamParser
from app.engine.steady import SteadyPlan

_CHUNK = 1 << 20


def samples_of(
    raw: Path, *, ramp: bool, planned_s: float | None = None, steady: SteadyPlan | None = None
) -> tuple[Sample, ...]:
    """Every interval in the file `fio.out` of a run folder, as they were shown live; none if it cannot be read.

    `steady`: what was asked for about the steady state; of a run that waited for it `planned_s` has to be known.
    """
    parser = StreamParser()
    course = Course(ramp=ramp, planned_s=planned_s, plan=steady)
    found: list[Sample] = []
    try:
        with raw.open("rb") as file:
            chunks = iter(lambda: file.read(_CHUNK), b"")
            events = [event for chunk in chunks for event in parser.feed(chunk)]
    except OSError:
        return ()
    for event in (*events, *parser.close()):
        if isinstance(event, Document):
            sample, _ = course.take(FioDocument(event.data))
            if sample is not None:
                found.append(sample)
    return tuple(found)
