"""The intervals of a run that is over, from fio's raw output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from app.core.fio.document import FioDocument
from app.core.fio.run_phases import RunPhases
from app.core.fio.stream import FioJsonDocument, StreamParser
from app.core.session.results import Phase, Sample
from backends.input_file import open_input

_CHUNK = 1 << 20


def read_samples(raw: Path, course: RunPhases) -> tuple[Sample, ...]:
    """Every interval in the file `fio.out` of a run folder, as they were shown live; none if it cannot be read.

    `course`: as it was when the run began.
    """
    taken = (course.take(FioDocument(data))[0] for data in read_documents(raw))
    return tuple(sample for sample in taken if sample is not None)


def read_documents(raw: Path) -> Iterator[Mapping[str, Any]]:
    """Every document in the file, one at a time: those of an hour take gigabytes together. None if it is not there."""
    parser = StreamParser()
    try:
        with open_input(raw) as file:
            for chunk in iter(lambda: file.read(_CHUNK), b""):
                yield from (event.data for event in parser.feed(chunk) if isinstance(event, FioJsonDocument))
    except OSError:
        return
    yield from (event.data for event in parser.close() if isinstance(event, FioJsonDocument))


def with_seconds(samples: Sequence[Sample]) -> list[tuple[float, Sample]]:
    """With the seconds since what is measured began, at the end of each interval; those before are negative."""
    placed: list[tuple[float, Sample]] = []
    after = 0.0
    for phase in (Phase.MEASURING, Phase.SETTLING, Phase.RAMP):  # backwards, as each ends where the next begins
        part = [sample for sample in samples if sample.phase is phase]
        after -= part[-1].at if part and phase is not Phase.MEASURING else 0.0
        placed = [*((sample.at + after, sample) for sample in part), *placed]
    return placed
