"""The start of a run: its folder, and the event that records the start."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from app.core.benchmark.run_plan import ResolvedTarget, RunPlan
from app.core.fio.job import Job
from app.core.fio.sections import JobSection, groups, phases, planned_starts
from app.core.session.events import RunSection, RunStarted, RunTarget
from app.core.session.paths import private_folder
from backends.errors import storage_errors


def make_folder(workdir: Path) -> None:
    """Create the folder of a run and its parent. Raises StorageError if that fails."""
    with storage_errors("The folder of the run cannot be created", hint=f"Check {workdir}."):
        private_folder(workdir.parent)
        private_folder(workdir)


def run_started(
    run_id: str, ready: RunPlan, settings: Mapping[str, str], *, keeps_scratch: bool, simulated: bool
) -> RunStarted:
    """Return the event that records the start of a run. `keeps_scratch`: whether the run keeps its scratch files."""
    targets = tuple(_run_target(site, keeps_scratch) for site in ready.sites)
    first = targets[0] if len(targets) == 1 else RunTarget(target=ready.name)
    return RunStarted(
        at=time.time(),
        id=run_id,
        target=first.target,
        device=first.device,
        profile=ready.request.profile,
        job={key: text for key, text in ready.job.texts().items() if text},
        title=ready.title,
        planned_seconds=ready.job.longest_s or 0.0,
        settings=dict(settings),
        destructive=ready.destructive,
        found=ready.content,
        fio_version=ready.fio_version,
        simulated=simulated,
        scratch=first.scratch,
        mark=ready.mark,
        steady=ready.request.steady,
        fills=ready.request.fills,
        provenance=dict(ready.provenance),
        targets=targets if len(targets) > 1 else (),
        sections=run_sections(ready.job),
    )


def run_sections(job: Job) -> tuple[RunSection, ...]:
    """Return the sections of a job in the form that the session stores; () for a job without sections."""
    starts = zip(job.sections, planned_starts(job.sections), strict=True)
    phase_of = _numbers(phases(job.sections)) if job.sections else {}
    group_of = _numbers(groups(job.sections)) if job.sections else {}
    return tuple(
        RunSection(
            name=section.name,
            job={key: text for key, text in section.job.texts().items() if text},
            title=section.job.describe(),
            phase=phase_of[section.name],
            group=group_of[section.name],
            starts_s=None if start is None else float(start),
            planned_seconds=section.job.longest_s or 0.0,
        )
        for section, start in starts
    )


def _numbers(parts: Sequence[Sequence[JobSection]]) -> dict[str, int]:
    """Return, by section name, the number of the section's phase or group, counted from 1.

    `parts`: the phases or groups.
    """
    return {section.name: number for number, part in enumerate(parts, 1) for section in part}


def _run_target(site: ResolvedTarget, keeps_scratch: bool) -> RunTarget:
    """Return a target in the form that the session stores."""
    temporary = site.scratch is not None and site.scratch.own and not keeps_scratch
    return RunTarget(target=site.name, device=site.device, scratch=site.name if temporary else None)
