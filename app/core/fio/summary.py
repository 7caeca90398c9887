"""The result of a run: metrics of fio's last document, and whether they are valid.

fio's exit status is not reliable. Refusals (a mounted device, a missing file, an offset beyond the end) exit with 0,
without an error, after no I/O at all. Ignored errors count as I/Os.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from app.core.fio.document import Counters, FioDocument, merge_counters
from app.core.fio.error_messages import Diagnosis, diagnose, quoted_first_line, signal_diagnosis, signal_from_outside
from app.core.fio.job import Job, JobTarget
from app.core.fio.render import amount_of, section_names, start_of, usable_size
from app.core.fio.sampler import counters_since
from app.core.fio.sections import JobSection, groups, phases
from app.core.session.results import (
    DIRECTIONS,
    SIDES,
    CpuStats,
    DirectionStats,
    GroupFigures,
    LatencyStats,
    RunResult,
    RunStatus,
    SectionFigures,
    TargetStats,
)
from backends.sizes import size_words
from backends.text import clean_lines
from backends.values import dataclass

_ENOUGH_BEYOND = 10
_SHARE_OF_PLAN = 0.98
_INTERRUPTED = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class FioResult:
    """The output of a finished fio, and how it ended."""

    document: FioDocument | None
    """fio's last complete document; None if fio printed none."""
    returncode: int
    """Exit status of fio; -N if signal N killed fio."""
    noise: Sequence[str] = ()
    """Lines of standard output that are not part of a JSON document."""
    stderr: str = ""
    """Standard error."""
    broken: int = 0
    """Number of unreadable documents."""
    stopped: bool = False
    """Whether raidbench asked fio to stop."""
    overdue: bool = False
    """Whether raidbench stopped fio because fio did not end in time."""
    since: FioDocument | None = None
    """The first document of the measured window; None if the window begins at the end of the ramp."""
    until: FioDocument | None = None
    """The last document of the measured window; None if the window ends with the last document."""
    settling: bool = False
    """Whether the run ended while it was still waiting for the steady state, so nothing was measured."""
    ended_early: bool = False
    """Whether the run was ended before its planned time because it became steady, as requested."""

    def measured(self, direction: str) -> Counters | None:
        """Return the counters of the measured window, or None if nothing was measured."""
        last = self.until or self.document
        now = None if last is None or self.settling else last.counters(direction, split=True)
        if now is None or self.since is None:
            return now
        return counters_since(now, self.since.counters(direction, split=True))

    def section(self, name: str) -> FioResult:
        """Return the result of one section of the job file."""
        document, since, until = (
            None if document is None else document.section(name) for document in (self.document, self.since, self.until)
        )
        return replace(self, document=document, since=since, until=until)


def summarize(
    outcome: FioResult,
    job: Job | None = None,
    targets: Sequence[JobTarget] = (),
    cpu: CpuStats | None = None,
) -> RunResult:
    """Return metrics and status of a run.

    Without `job` (for a layout or a result file), nothing is compared with a plan.
    """
    parts = _parts(outcome, job, targets)
    sections = () if job is None else job.sections
    lines = [*outcome.noise, *outcome.stderr.splitlines()]
    evidence = clean_lines("\n".join(lines))
    document = outcome.document
    if document is None:
        status, diagnosis = _without_document(outcome, lines)
        return RunResult(status=status, reason=diagnosis.reason, hint=diagnosis.hint, evidence=evidence)
    counters = {part.name: _measured_counters(part.outcome, part.job) for part in parts}
    counted = _sum_phases(sections, counters) if sections else _measured_counters(outcome, job)
    seconds = _seconds(counted)
    if sections:
        seconds = sum(_seconds(_sum_sections(phase, counters)) for phase in phases(sections))
    status, diagnosis = _verdict(outcome, document, lines, seconds, job, targets)
    if parts and status is not RunStatus.STOPPED:
        status, diagnosis = _verdict_on_each(parts, status, diagnosis, lines)
    sides = _sides(counted)
    return RunResult(
        status=status,
        reason=diagnosis.reason or None,
        hint=diagnosis.hint,
        evidence=evidence,
        seconds=seconds,
        read=sides.get("read"),
        write=sides.get("write"),
        trim=sides.get("trim"),
        sync=sides.get("sync"),
        cpu=_cpu(
            cpu or CpuStats(),
            document,
            [(part, _seconds(counters[part.name])) for part in parts if sections],
            seconds,
        ),
        fio_version=document.version or None,
        warnings=tuple(_warnings(outcome, document, job, targets)),
        targets=() if sections else tuple(_target_stats(name, counted, part) for name, part in counters.items()),
        sections=tuple(
            SectionFigures(
                name=section.name, seconds=_seconds(counters[section.name]), **_sides(counters[section.name])
            )
            for section in sections
        ),
        groups=tuple(
            GroupFigures(sections=tuple(section.name for section in group), **_sides(_sum_sections(group, counters)))
            for group in (groups(sections) if sections else ())
            if len(group) < len(sections)
        ),
    )


def _cpu(cpu: CpuStats, document: FioDocument, sections: Sequence[tuple[_Part, float]], seconds: float) -> CpuStats:
    """Return the CPU use. If raidbench could not see fio's process, fio's own CPU use is the value that fio reports.

    `sections`: each section with its measured seconds, because not every section runs for all of `seconds`.
    """
    if cpu.fio_percent_of_core is not None:
        return cpu
    if not sections:
        return replace(cpu, fio_percent_of_core=document.cpu_percent_of_core)
    documents = [(part.outcome.document, part_seconds) for part, part_seconds in sections]
    shares = [(document.cpu_percent_of_core, weight) for document, weight in documents if document is not None]
    weighted = [share * weight for share, weight in shares if share is not None]
    return replace(cpu, fio_percent_of_core=sum(weighted) / seconds if weighted and seconds else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """The part of a run that belongs to one section of fio's job file: one target, or one section of the job."""

    name: str
    outcome: FioResult
    job: Job | None
    targets: tuple[JobTarget, ...]
    """The target that this part used; empty if unknown."""


def _parts(outcome: FioResult, job: Job | None, targets: Sequence[JobTarget]) -> list[_Part]:
    """Return the targets or sections if there are several; empty for a job of one section on one target."""
    named: list[tuple[str, Job | None, tuple[JobTarget, ...]]] = [(target.name, job, (target,)) for target in targets]
    if job is not None and job.sections:
        named = [(section.name, section.job, tuple(targets)) for section in job.sections]
    if len(named) < 2:
        return []
    both = zip(named, section_names(len(named)), strict=True)
    return [
        _Part(name=name, outcome=outcome.section(entry), job=part_job, targets=used)
        for (name, part_job, used), entry in both
    ]


def _verdict_on_each(
    parts: Sequence[_Part], status: RunStatus, diagnosis: Diagnosis, lines: Sequence[str]
) -> tuple[RunStatus, Diagnosis]:
    """Return the verdict of the first target or section that failed, with its name in front.

    If none failed, return the given verdict on the whole run.
    """
    for part in parts:
        document = part.outcome.document
        assert document is not None  # `summarize` returns earlier if fio printed no document
        if status is RunStatus.OK:
            seconds = _seconds(_measured_counters(part.outcome, part.job))
            part_status, why = _verdict(part.outcome, document, lines, seconds, part.job, part.targets)
            if part_status is not RunStatus.OK:
                return part_status, replace(why, reason=f"{part.name}: {why.reason}")
        elif document.errors:
            return status, replace(diagnosis, reason=f"{part.name}: {diagnosis.reason}")
    return status, diagnosis


_Counted = Mapping[str, Counters]
"""Counters of the measured window, by direction."""


def _sum_sections(sections: Iterable[JobSection], counters: Mapping[str, _Counted]) -> dict[str, Counters]:
    """Return the sum of parallel sections. As in a fio group, the run time of a direction is its longest one."""
    records = [counters[section.name] for section in sections]
    return {
        name: merge_counters(record[name] for record in records if name in record)
        for name in SIDES
        if any(name in record for record in records)
    }


def _sum_phases(sections: Sequence[JobSection], counters: Mapping[str, _Counted]) -> dict[str, Counters]:
    """Return the sum of all sections. The run time of a direction is the sum over all phases that used it."""
    phase_counters = [_sum_sections(phase, counters) for phase in phases(sections)]
    totals: dict[str, Counters] = {}
    for name in SIDES:
        rows = [record[name] for record in phase_counters if name in record]
        if rows:
            totals[name] = replace(merge_counters(rows), runtime_ms=sum(row.runtime_ms for row in rows))
    return totals


def _sides(counted: _Counted) -> dict[str, DirectionStats | None]:
    """Return the metrics of each direction."""
    return {name: direction_figures(counted[name]) if name in counted else None for name in SIDES}


def _measured_counters(outcome: FioResult, job: Job | None) -> dict[str, Counters]:
    """Return the counters of the measured window, by direction."""
    counters = {name: part for name in DIRECTIONS if (part := outcome.measured(name)) is not None}
    if not counters and (mixed := outcome.measured("mixed")) is not None:
        counters = {"read": mixed}
    if job and job.ramp and not any(part.completed for part in counters.values()):
        return {}  # the run ended in the ramp, whose counters are no result
    sync = outcome.measured("sync") if "write" in counters else None
    return counters if sync is None else {**counters, "sync": sync}


def _seconds(counted: Mapping[str, Counters]) -> float:
    return max((counted[name].runtime_ms for name in DIRECTIONS if name in counted), default=0) / 1000


def _target_stats(target: str, run: Mapping[str, Counters], part: Mapping[str, Counters]) -> TargetStats:
    """Return the metrics of one target over the time of the whole run, so that the targets add up to the run."""
    common = {name: replace(part[name], runtime_ms=run[name].runtime_ms) for name in part if name in run}
    return TargetStats(target=target, **_sides(common))


def direction_figures(part: Counters) -> DirectionStats:
    """Return the metrics of one direction, computed from its counters."""
    seconds = part.runtime_ms / 1000
    done = part.completed or part.total_ios
    return DirectionStats(
        iops=done / seconds if seconds else part.iops,
        bytes_per_second=part.io_bytes / seconds if seconds else part.bytes_per_second,
        total_ios=done,
        total_bytes=part.io_bytes,
        runtime_s=seconds,
        latency_ns=_latency(part),
        completion_ns=None if part.completion is None else _latency(part.completion),
        submission_ns=None if part.submission is None else _latency(part.submission),
        bins=part.histogram.bins,
    )


def _latency(part: Counters) -> LatencyStats:
    histogram = part.histogram
    counted = histogram.total or part.completed

    def percentile(percent: float) -> int | None:
        # With fewer than ten I/Os above a percentile, its value is too uncertain.
        if counted * (100 - percent) / 100 < _ENOUGH_BEYOND - 1e-6:
            return None
        return histogram.percentile(percent) if histogram.total else part.percentiles.get(percent)

    return LatencyStats(
        mean=part.mean_ns,
        stddev=part.stddev_ns,
        min=part.min_ns,
        p50=percentile(50.0),
        p95=percentile(95.0),
        p99=percentile(99.0),
        p99_9=percentile(99.9),
        p99_99=percentile(99.99),
        p99_999=percentile(99.999),
        p99_9999=percentile(99.9999),
        max=part.max_ns,
    )


def _without_document(outcome: FioResult, lines: Sequence[str]) -> tuple[RunStatus, Diagnosis]:
    if outcome.stopped:
        return RunStatus.STOPPED, Diagnosis("Stopped before anything was measured")
    if outcome.overdue:
        return RunStatus.FAILED, _OVERDUE
    if diagnosis := diagnose(lines):
        return RunStatus.FAILED, diagnosis
    if outcome.returncode < 0:
        return RunStatus.FAILED, signal_diagnosis(-outcome.returncode)
    ending = quoted_first_line(lines) or " and without a message"
    return RunStatus.FAILED, Diagnosis(f"fio ended without a result (exit status {outcome.returncode}){ending}")


_OVERDUE = Diagnosis(
    "fio did not exit after its run time and was killed",
    "An I/O has not completed. Check the kernel log for timeouts and resets of the device.",
)


_Verdict = tuple[RunStatus, Diagnosis]


def _verdict(
    outcome: FioResult,
    document: FioDocument,
    lines: Sequence[str],
    seconds: float,
    job: Job | None,
    targets: Sequence[JobTarget] = (),
) -> _Verdict:
    """Return the verdict of the first rule that applies. The most serious rules come first."""
    # fio catches SIGINT and SIGTERM and ends normally, with results and its own exit status: only its message shows
    # that it was stopped.
    signal = signal_from_outside(lines)
    interrupted = outcome.stopped or signal is not None or outcome.returncode == _INTERRUPTED
    failure = (
        _failure_of_fio(outcome, document, lines)
        or _no_io_failure(document, interrupted, lines)
        or _failed_io_failure(document, job)
        or _short_io_failure(document, job)
    )
    if failure is not None:
        return failure
    if job is not None and (
        _is_complete(outcome, document, seconds, job, targets)
        or _ended_by_itself(outcome, seconds, job, interrupted=interrupted)
    ):
        return RunStatus.OK, Diagnosis("")
    if not interrupted and (job is None or job.sections):
        return RunStatus.OK, Diagnosis("")  # the caller judges each of several sections separately
    if job is not None and job.ramp and job.ends_by_amount and not seconds and not interrupted:
        return RunStatus.FAILED, _DONE_IN_THE_RAMP
    how = _ending_text(outcome, seconds, job)
    if interrupted:
        by = "Stopped" if outcome.stopped else ("Stopped from outside") + (f" by signal {signal}" if signal else "")
        hint = "The results cover the time until then." if seconds else ""
        return RunStatus.STOPPED, Diagnosis(by + how, hint)
    return RunStatus.FAILED, Diagnosis(
        f"fio ended{how} without reporting a reason", "The run is incomplete. Measure again."
    )


def _failure_of_fio(outcome: FioResult, document: FioDocument, lines: Sequence[str]) -> _Verdict | None:
    """Return the failure that fio reports, or its abnormal end; None if it ended normally or was asked to end."""
    if (diagnosis := diagnose(lines, document.errors)) is not None:
        return RunStatus.FAILED, diagnosis
    if outcome.overdue:
        return RunStatus.FAILED, _OVERDUE
    if outcome.stopped or outcome.returncode in (0, _INTERRUPTED):
        return None
    if outcome.returncode < 0:
        return RunStatus.FAILED, signal_diagnosis(-outcome.returncode)
    return RunStatus.FAILED, Diagnosis(f"fio ended with exit status {outcome.returncode}{quoted_first_line(lines)}")


_DONE_IN_THE_RAMP = Diagnosis(
    "The job ended during the ramp, so nothing was measured", "Use a shorter ramp or a larger amount."
)


def _is_complete(
    outcome: FioResult, document: FioDocument, seconds: float, job: Job, targets: Sequence[JobTarget]
) -> bool:
    if job.sections:
        documents = ((part, part.outcome.document) for part in _parts(outcome, job, targets))
        return all(
            document is not None
            and part.job is not None
            and _is_complete(
                part.outcome, document, _seconds(_measured_counters(part.outcome, part.job)), part.job, part.targets
            )
            for part, document in documents
        )
    by_time = job.runtime > 0 and seconds >= _SHARE_OF_PLAN * job.runtime
    by_amount = _amount_done(document, job, targets) and not (job.ramp and not seconds)
    return by_time or by_amount or outcome.ended_early


def _ended_by_itself(outcome: FioResult, seconds: float, job: Job, *, interrupted: bool) -> bool:
    """Return whether fio ended normally after its amount of I/O, in cases where no document can prove that.

    The amount cannot be checked if it includes a ramp or uneven passes.
    """
    unseen = job.ramp > 0 or (job.passes is not None and _is_uneven(job))
    return job.ends_by_amount and unseen and seconds > 0 and not interrupted and outcome.returncode == 0


def _ending_text(outcome: FioResult, seconds: float, job: Job | None) -> str:
    """Return when the run ended, as the end of a sentence: ` after 3.0 of 60 s`; "" without a job."""
    if job is None:
        return ""
    if seconds:
        return f" after {seconds:.1f} of {job.runtime} s" if job.runtime else f" after {seconds:.1f} s"
    return " while waiting for the steady state" if outcome.settling else " during the ramp"


def _is_uneven(job: Job) -> bool:
    """Return whether a pass may end long before the end of the region, because fio finds no unused block."""
    return job.io_size is None and (len(job.block_sizes) > 1 or job.percentage_random is not None)


def _amount_done(document: FioDocument, job: Job, targets: Sequence[JobTarget]) -> bool:
    """Return whether the job has completed its amount of I/O. A thread may omit a last partial block."""
    parts = [part for name in DIRECTIONS if (part := document.counters(name))]
    if job.number_ios is not None and sum(part.completed for part in parts) >= job.number_ios * job.numjobs:
        return True
    amount = None if len(targets) > 1 else amount_of(job, targets[0] if targets else None)
    if amount is None:
        return False
    # fio omits a last partial block in each pass.
    return sum(part.io_bytes for part in parts) > amount - max(job.block_sizes) * (job.passes or 1) * job.numjobs


def _no_io_failure(document: FioDocument, interrupted: bool, lines: Sequence[str]) -> _Verdict | None:
    if document.total_ios:
        return None
    if interrupted:
        return RunStatus.STOPPED, Diagnosis("Stopped before the first I/O")
    return RunStatus.FAILED, Diagnosis(
        f"fio did no I/O at all{quoted_first_line(lines)}",
        "fio does this if the target is in use, is too small, or ends before the offset.",
    )


def _failed_io_failure(document: FioDocument, job: Job | None) -> _Verdict | None:
    """Return a failure if I/Os failed and fio ignored the errors, else None; fio counts failed I/Os as completed."""
    parts = [part for name in DIRECTIONS if (part := document.counters(name))]
    # With latency switched off no I/O is timed, so none can be missing.
    issued = sum(part.total_ios for part in parts if part.completed)
    missing = issued - sum(part.completed for part in parts)
    # In mid-run, and at an interrupted end, I/Os in flight are issued but not timed.
    allowed = job.queue * max(1, document.jobs) if job else issued // 1000
    failed = max(document.errors_passed_over, missing if missing > allowed else 0)
    if not failed:
        return None
    return RunStatus.FAILED, Diagnosis(
        f"{failed} of {issued} I/Os failed and were ignored",
        "Results with failed I/Os are not valid. Check the kernel log and the health of the drives.",
    )


def _short_io_failure(document: FioDocument, job: Job | None) -> _Verdict | None:
    """Return a failure if I/Os moved no data, else None. fio counts reads beyond the end of a file as completed."""
    parts = {name: part for name in DIRECTIONS if (part := document.counters(name))}
    done = sum(part.completed for part in parts.values())
    moved = sum(part.io_bytes for part in parts.values())
    if job is None or done < 100:
        return None
    # The limit is half, because block sizes of a mix are random, but reads beyond the end move nothing at all.
    if moved >= sum(part.completed * job.mean_size_of(name) for name, part in parts.items()) / 2:
        return None
    return RunStatus.FAILED, Diagnosis(
        f"{done} I/Os moved only {moved} bytes: most of them were beyond the end of the target",
        "Lay out the scratch file again, or use a smaller region.",
    )


def _warnings(outcome: FioResult, document: FioDocument, job: Job | None, targets: Sequence[JobTarget]) -> list[str]:
    warnings: list[str] = []
    if outcome.broken:
        warnings.append(f"{outcome.broken} of fio's reports could not be read, but the last one could")
    warnings += dict.fromkeys(
        (
            f"The job asked for {size_words(part.size)}, but {target.name} has "
            f"{size_words(usable_size(part, target))}{' from its start' if start_of(part, target) else ''}: all of "
            "it was used"
        )
        for target in targets
        for part in (() if job is None else job.parts)
        if part.size is not None and part.size > usable_size(part, target)
    )
    for name in DIRECTIONS:
        part = document.counters(name)
        if part and (part.short_ios or part.drop_ios):
            warnings.append(f"{part.short_ios + part.drop_ios} {name}s moved less data than requested, or were dropped")
    return warnings
