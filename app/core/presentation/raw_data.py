"""Raw data in the folder of a session, and the report of a session as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from app.core.analysis.stored_verdicts import stored_comparison
from app.core.fio.job import Job
from app.core.fio.run_phases import RunPhases, read_samples
from app.core.fio.sections import JobSection
from app.core.presentation import json_schema, json_schema_compare
from app.core.session.events import NoteAdded, RulePersisted, RunStarted, last_check
from app.core.session.json_codec import unstructure
from app.core.session.results import Sample
from app.core.session.state import RunRecord, Session
from app.doors import action, require_action
from backends.errors import InvalidValueError
from backends.input_file import open_input
from backends.text import clean
from backends.values import dataclass

# -- a report as JSON: the objects of the commands in one document ----------------------------------------------------


def to_json(session: Session, *, folder: str, joint: Iterable[Any] = ()) -> json_schema.Json:
    """Return the complete session as JSON: machine, devices, changes, runs, findings, notes, and changes in force.

    `folder`: name of the session's folder. `joint`: records of runs on many hosts.
    """
    machine = session.machine
    host = "" if machine is None else machine.host
    checked = last_check(session.events)
    return json_schema.document(
        session={
            "id": session.id,
            "folder": folder,
            "started": session.started,
            "version": session.version,
            "simulated": session.simulated,
            "baseline": session.baseline,
        },
        machine=None if machine is None else unstructure(machine),
        devices=json_schema.devices(session.inventory, {}, host=host, simulated=session.simulated),
        changes=[json_schema.change_record(record) for record in session.changes],
        in_force=[record.id for record in session.in_force],
        runs=[json_schema.run(record, session=folder) for record in session.runs],
        experiments=[
            json_schema_compare.experiment(record, session, stored_comparison(session, record.id), session=folder)
            for record in session.experiments
        ],
        findings=[] if checked is None else [unstructure(finding) for finding in checked.findings],
        joint=[require_action("fleet.document")(record) for record in joint],
        notes=[{"at": event.at, "text": event.text} for event in session.events if isinstance(event, NoteAdded)],
        kept=[
            {"at": event.at, "target": str(event.target), "path": event.path, "values": dict(event.values)}
            for event in session.events
            if isinstance(event, RulePersisted)
        ],
    )


# -- files next to a session's log: job files and samples of its runs -------------------------------------------------

_LARGEST_JOB = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """Contents of the run files that could be read."""

    jobs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Lines of the job file, by the id of the run."""
    samples: Mapping[str, tuple[Sample, ...]] = field(default_factory=dict)
    """Samples, by the id of the run."""
    joint: tuple[Any, ...] = ()
    """Records of runs on many hosts."""
    joint_problems: tuple[str, ...] = ()
    """Sentences about those records of runs on many hosts that cannot be read."""


def joint_records(folder: Path) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    """Return the records of the session's runs on many hosts, and sentences about records that cannot be read."""
    read = action("fleet.records")
    return ((), ()) if read is None else read(folder)


def read_raw(session: Session, folder: Path, curves: Iterable[str] = ()) -> Raw:
    """Return the job files of all runs, and the samples of the runs whose id is in `curves`.

    Samples are read only for these runs, because reading takes one second for each 10 MB.
    """
    wanted = set(curves)
    folders = {run.id: path for run in session.runs if (path := run_folder(run, folder)) is not None}
    jobs = {run: lines for run, path in folders.items() if (lines := _job_lines(path))}
    samples = {run.id: intervals(run, folder) for run in session.runs if run.id in wanted}
    joint, problems = joint_records(folder)
    return Raw(
        jobs=jobs,
        samples={run: samples_of_run for run, samples_of_run in samples.items() if samples_of_run},
        joint=joint,
        joint_problems=problems,
    )


def intervals(run: RunRecord, folder: Path) -> tuple[Sample, ...]:
    """Return all samples of a run; () if they cannot be read."""
    path = run_folder(run, folder)
    if path is None:
        return ()
    return read_samples(path / "fio.out", course_of(run))


def course_of(run: RunRecord) -> RunPhases:
    """Return the phases of a run, so that fio's output can be parsed in the same way as during the run."""
    start = run.start
    return RunPhases(
        ramp=has_ramp(run),
        planned_s=seconds_of(start.job),
        plan=start.steady,
        targets=[target.target for target in start.targets],
        sections=_sections_of(start),
    )


def _sections_of(start: RunStarted) -> tuple[JobSection, ...]:
    """Return the sections of a run; () if this version does not support the job of one of them."""
    try:
        return tuple(JobSection(name=section.name, job=Job.from_fields(section.job)) for section in start.sections)
    except InvalidValueError:
        return ()


def has_ramp(run: RunRecord) -> bool:
    """Return whether the run has a ramp."""
    return bool(seconds_of({"runtime": run.start.job.get("ramp", "")}))


def seconds_of(job: Mapping[str, str]) -> float | None:
    """Return the job's run time in seconds; None without one."""
    try:
        return float(job.get("runtime", "").removesuffix("s")) or None
    except ValueError:
        return None


def run_folder(run: RunRecord, folder: Path) -> Path | None:
    """Return the folder of a run; None if the run has not ended, or if the path is outside of the session's folder."""
    if run.end is None:
        return None
    path = folder / run.end.folder
    try:
        inside = path.resolve().is_relative_to(folder.resolve())
    except OSError:
        return None
    return path if inside else None


def _job_lines(path: Path) -> tuple[str, ...]:
    try:
        with open_input(path / "job.fio") as file:
            text = file.read(_LARGEST_JOB).decode("utf-8", "replace")
    except OSError:
        return ()
    return tuple(clean(line, 1000) for line in text.splitlines())
