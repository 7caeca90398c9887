"""What lies beside a session's log: the jobs as fio got them, and the intervals of its runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import Path

from app.engine.fio.curves import samples_of
from app.engine.session.figures import Sample
from app.engine.session.state import RunRecord, Session
from backends.text import clean
from backends.values import dataclass

_LARGEST_JOB = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """Files of runs, as far as they can be read."""

    jobs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Lines of the job file, by run."""
    samples: Mapping[str, tuple[Sample, ...]] = field(default_factory=dict)
    """Intervals, by run."""


def read_raw(session: Session, folder: Path, curves: Iterable[str] = ()) -> Raw:
    """All job files, and the intervals of the runs in `curves`: reading those takes a second for each 10 MB."""
    wanted = set(curves)
    places = {run.id: place for run in session.runs if (place := run_folder(run, folder)) is not None}
    jobs = {run: lines for run, place in places.items() if (lines := _job_lines(place))}
    samples = {run.id: intervals(run, folder) for run in session.runs if run.id in wanted}
    return Raw(jobs=jobs, samples={run: found for run, found in samples.items() if found})


def intervals(run: RunRecord, folder: Path) -> tuple[Sample, ...]:
    """Every interval of a run; none if they cannot be read."""
    place = run_folder(run, folder)
    if place is None:
        return ()
    return samples_of(
        place / "fio.out", ramp=has_ramp(run), planned_s=seconds_of(run.start.job), steady=run.start.steady
    )


def has_ramp(run: RunRecord) -> bool:
    """Whether a ramp came before what was measured."""
    return bool(seconds_of({"runtime": run.start.job.get("ramp", "")}))


def seconds_of(job: Mapping[str, str]) -> float | None:
    """The job's run time in seconds; None without one."""
    try:
        return float(job.get("runtime", "").removesuffix("s")) or None
    except ValueError:
        return None


def run_folder(run: RunRecord, folder: Path) -> Path | None:
    """Where a run's files lie; None before its end, or for a place outside of the session."""
    if run.end is None:
        return None
    place = folder / run.end.folder
    try:
        inside = place.resolve().is_relative_to(folder.resolve())
    except OSError:
        return None
    return place if inside else None


def _job_lines(place: Path) -> tuple[str, ...]:
    try:
        with (place / "job.fio").open(encoding="utf-8", errors="replace") as file:
            text = file.read(_LARGEST_JOB)
    except OSError:
        return ()
    return tuple(clean(line, 1000) for line in text.splitlines())
