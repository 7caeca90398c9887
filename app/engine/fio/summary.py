"""The verdict on a whole run: figures of the last document, and whether they may be believed.

fio's exit status says little: refusals (a mounted device, a missing file, an offset beyond the end) exit with 0,
without an error, after no I/O at all; errors that are passed over count as I/Os.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from app.engine.fio.diagnosis import Diagnosis, diagnose, died_of, first_words, signal_from_outside
from app.engine.fio.document import Counters, FioDocument
from app.engine.fio.job import Job, JobTarget
from app.engine.fio.render import amount_of, section_names, start_of, usable_size
from app.engine.fio.sampler import counters_since
from app.engine.session.figures import (
    SIDES,
    CpuFigures,
    DirectionFigures,
    LatencyFigures,
    RunFigures,
    RunStatus,
    TargetFigures,
)
from backends.sizes import size_words
from backends.text import clean_lines
from backends.values import dataclass

_ENOUGH_BEYOND = 10
_SHARE_OF_PLAN = 0.98
_INTERRUPTED = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The part of a run that counts, where it is not all that follows the ramp."""

    since: FioDocument | None = None
    """It begins with this document; None: with the end of the ramp."""
    until: FioDocument | None = None
    """It ends with this document; None: with the last."""
    settling: bool = False
    """It never began: the run was over while it was waited for the steady state."""
    ended_early: bool = False
    """It is shorter than planned because the run became steady, as was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Everything a finished fio left behind."""

    document: FioDocument | None
    """The last complete document."""
    returncode: int
    """Exit status; -N when killed by signal N."""
    noise: Sequence[str] = ()
    """Lines of standard output outside documents."""
    stderr: str = ""
    """Standard error."""
    broken: int = 0
    """Documents that could not be read."""
    stopped: bool = False
    """Whether we asked it to stop."""
    overdue: bool = False
    """Whether it did not end when it should have and was ended."""
    window: Window = Window()
    """The part that counts."""

    def measured(self, direction: str) -> Counters | None:
        """Counters of what was measured; None if nothing was."""
        last = self.window.until or self.document
        now = None if last is None or self.window.settling else last.counters(direction, split=True)
        if now is None or self.window.since is None:
            return now
        return counters_since(now, self.window.since.counters(direction, split=True))

    def section(self, name: str) -> Outcome:
        """The same of one section of the job file alone."""
        window, document = self.window, self.document
        since, until = (None if one is None else one.section(name) for one in (window.since, window.until))
        return replace(
            self,
            document=None if document is None else document.section(name),
            window=replace(window, since=since, until=until),
        )


def summarize(
    outcome: Outcome,
    job: Job | None = None,
    targets: Sequence[JobTarget] = (),
    cpu: CpuFigures | None = None,
) -> RunFigures:
    """Figures and verdict. Without `job` (a layout, a result file) nothing is compared with a plan."""
    parts = _by_target(outcome, targets)
    lines = [*outcome.noise, *outcome.stderr.splitlines()]
    evidence = clean_lines("\n".join(lines))
    document = outcome.document
    if document is None:
        status, diagnosis = _without_document(outcome, lines)
        return RunFigures(status=status, reason=diagnosis.reason, hint=diagnosis.hint, evidence=evidence)
    counted = _measured(outcome, job)
    seconds = _seconds(counted)
    amount = _least_amount(job, targets)
    status, diagnosis = _verdict(outcome, document, lines, seconds, job, amount)
    if parts and status is not RunStatus.STOPPED:
        status, diagnosis = _verdict_on_each(parts, status, diagnosis, lines, job)
    read, write, sync = (counted.get(name) for name in SIDES)
    return RunFigures(
        status=status,
        reason=diagnosis.reason or None,
        hint=diagnosis.hint,
        evidence=evidence,
        seconds=seconds,
        read=direction_figures(read) if read else None,
        write=direction_figures(write) if write else None,
        sync=direction_figures(sync) if sync and write else None,
        cpu=cpu or CpuFigures(fio_percent_of_core=document.cpu_percent_of_core),
        fio_version=document.version or None,
        warnings=tuple(_warnings(outcome, document, job, targets)),
        targets=tuple(_row(target.name, counted, _measured(part, job)) for target, part in parts),
    )


def _by_target(outcome: Outcome, targets: Sequence[JobTarget]) -> list[tuple[JobTarget, Outcome]]:
    """What each of several left behind."""
    if len(targets) < 2:
        return []
    return [(one, outcome.section(name)) for one, name in zip(targets, section_names(len(targets)), strict=True)]


def _verdict_on_each(
    parts: Sequence[tuple[JobTarget, Outcome]],
    status: RunStatus,
    diagnosis: Diagnosis,
    lines: Sequence[str],
    job: Job | None,
) -> tuple[RunStatus, Diagnosis]:
    """The verdict with the name of the target it is about; a run is whole if that on each of them is."""
    for target, part in parts:
        assert part.document is not None  # that of all is known
        if status is RunStatus.OK:
            own, why = _verdict(part, part.document, lines, _seconds(_measured(part, job)), job)
            if own is not RunStatus.OK:
                return own, replace(why, reason=f"{target.name}: {why.reason}")
        elif part.document.errors:
            return status, replace(diagnosis, reason=f"{target.name}: {diagnosis.reason}")
    return status, diagnosis


def _measured(outcome: Outcome, job: Job | None) -> dict[str, Counters]:
    """What counts, by direction."""
    read, write, mixed, sync = (outcome.measured(name) for name in ("read", "write", "mixed", "sync"))
    if read is None and write is None:
        read = mixed
    if job and job.ramp and not any(part.completed for part in (read, write) if part):
        read = write = None  # it ended in the ramp: what was counted until then is not what was asked for
    return {name: part for name, part in (("read", read), ("write", write), ("sync", sync)) if part is not None}


def _seconds(counted: Mapping[str, Counters]) -> float:
    return max((counted[name].runtime_ms for name in ("read", "write") if name in counted), default=0) / 1000


def _row(target: str, whole: Mapping[str, Counters], own: Mapping[str, Counters]) -> TargetFigures:
    """One target's figures; by the time of the whole run, so that the rows add up to it."""
    both = {name: replace(own[name], runtime_ms=whole[name].runtime_ms) for name in own if name in whole}
    read, write, sync = (direction_figures(both[name]) if name in both else None for name in SIDES)
    return TargetFigures(target=target, read=read, write=write, sync=sync)


def direction_figures(part: Counters) -> DirectionFigures:
    """One direction of the last document."""
    seconds = part.runtime_ms / 1000
    done = part.completed or part.total_ios
    return DirectionFigures(
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


def _latency(part: Counters) -> LatencyFigures:
    histogram = part.histogram
    counted = histogram.total or part.completed

    def percentile(percent: float) -> int | None:
        # A percentile with fewer than ten I/Os beyond it is a matter of luck.
        if counted * (100 - percent) / 100 < _ENOUGH_BEYOND - 1e-6:
            return None
        return histogram.percentile(percent) if histogram.total else part.percentiles.get(percent)

    return LatencyFigures(
        mean=part.mean_ns,
        stddev=part.stddev_ns,
        min=part.min_ns,
        p50=percentile(50.0),
        p95=percentile(95.0),
        p99=percentile(99.0),
        p99_9=percentile(99.9),
        p99_99=percentile(99.99),
        max=part.max_ns,
    )


def _without_document(outcome: Outcome, lines: Sequence[str]) -> tuple[RunStatus, Diagnosis]:
    if outcome.stopped:
        return RunStatus.STOPPED, Diagnosis("Stopped before anything was measured")
    if outcome.overdue:
        return RunStatus.FAILED, _OVERDUE
    if known := diagnose(lines):
        return RunStatus.FAILED, known
    if outcome.returncode < 0:
        return RunStatus.FAILED, died_of(-outcome.returncode)
    words = first_words(lines)
    said = f": {words}" if words else " and without a word"
    return RunStatus.FAILED, Diagnosis(f"fio ended without a result (exit status {outcome.returncode}){said}")


_OVERDUE = Diagnosis(
    "fio did not end long after its time and was ended",
    "Some I/O does not come back: look into the kernel log for time-outs and resets of the device.",
)


_Verdict = tuple[RunStatus, Diagnosis]


def _verdict(
    outcome: Outcome,
    document: FioDocument,
    lines: Sequence[str],
    seconds: float,
    job: Job | None,
    amount: float | None = None,
) -> _Verdict:
    """The rules, hardest first. `amount`: see `_least_amount`."""
    # fio catches SIGINT and SIGTERM and ends in good order, with figures and an exit status of its own: only its words
    # tell that somebody stopped it.
    signal = signal_from_outside(lines)
    interrupted = outcome.stopped or signal is not None or outcome.returncode == _INTERRUPTED
    failure = (
        _broken_off(outcome, document, lines)
        or _nothing_done(document, interrupted, lines)
        or _not_all_done(document, job)
        or _too_little(document, job)
    )
    if failure is not None:
        return failure
    if job is not None and (
        _long_enough(outcome, document, seconds, job, amount)
        or _ended_by_itself(outcome, seconds, job, interrupted=interrupted)
    ):
        return RunStatus.OK, Diagnosis("")
    if job is None and not interrupted:
        return RunStatus.OK, Diagnosis("")
    if job is not None and job.ramp and job.ends_by_amount and not seconds and not interrupted:
        return RunStatus.FAILED, _DONE_IN_THE_RAMP
    how = _when(outcome, seconds, job)
    if interrupted:
        by = "Stopped" if outcome.stopped else "Stopped from outside" + (f" by signal {signal}" if signal else "")
        hint = "The figures are those of the time until then." if seconds else ""
        return RunStatus.STOPPED, Diagnosis(by + how, hint)
    return RunStatus.FAILED, Diagnosis(
        f"fio ended{how} without saying why", "What it did until then is not what was asked for: measure again."
    )


def _broken_off(outcome: Outcome, document: FioDocument, lines: Sequence[str]) -> _Verdict | None:
    """What fio says of itself, or how it ended; None where it ended in good order or was asked to."""
    if (known := diagnose(lines, document.errors)) is not None:
        return RunStatus.FAILED, known
    if outcome.overdue:
        return RunStatus.FAILED, _OVERDUE
    if outcome.stopped or outcome.returncode in (0, _INTERRUPTED):
        return None
    if outcome.returncode < 0:
        return RunStatus.FAILED, died_of(-outcome.returncode)
    words = first_words(lines)
    said = f": {words}" if words else ""
    return RunStatus.FAILED, Diagnosis(f"fio ended with exit status {outcome.returncode}{said}")


_DONE_IN_THE_RAMP = Diagnosis(
    "All of the job was done during the ramp: nothing was measured", "Use a shorter ramp, or a larger amount."
)


def _long_enough(
    outcome: Outcome, document: FioDocument, seconds: float, job: Job, amount: float | None = None
) -> bool:
    by_time = job.runtime > 0 and seconds >= _SHARE_OF_PLAN * job.runtime
    by_amount = _amount_done(document, job, amount) and not (job.ramp and not seconds)
    return by_time or by_amount or outcome.window.ended_early


def _ended_by_itself(outcome: Outcome, seconds: float, job: Job, *, interrupted: bool) -> bool:
    """Whether fio ended a job in good order by an amount that no document shows: one of which a ramp hides a part."""
    unseen = job.ramp > 0 or (job.passes is not None and _is_uneven(job))
    return job.ends_by_amount and unseen and seconds > 0 and not interrupted and outcome.returncode == 0


def _when(outcome: Outcome, seconds: float, job: Job | None) -> str:
    """When it ended, as a sentence goes on: ` after 3.0 of 60 s`; "" where no job says what was planned."""
    if job is None:
        return ""
    if seconds:
        return f" after {seconds:.1f} of {job.runtime} s" if job.runtime else f" after {seconds:.1f} s"
    return " while it was waited for the steady state" if outcome.window.settling else " during the ramp"


def _least_amount(job: Job | None, targets: Sequence[JobTarget]) -> float | None:
    """Return the bytes after which a job ends at the earliest; None where no number of bytes ends it."""
    if job is None or len(targets) > 1:
        return None
    amount = amount_of(job, targets[0] if targets else None)
    # fio leaves out a last piece of a block in each pass.
    return None if amount is None else amount - max(job.block_sizes) * (job.passes or 1) * job.numjobs


def _is_uneven(job: Job) -> bool:
    """Whether fio ends a pass of the job where it finds no free place, which may be long before its end."""
    return job.io_size is None and (len(job.block_sizes) > 1 or job.percentage_random is not None)


def _amount_done(document: FioDocument, job: Job, amount: float | None) -> bool:
    """Whether all was done of a job that ends by amount; each of its threads leaves out a last piece of a block."""
    parts = [part for name in ("read", "write") if (part := document.counters(name))]
    if job.number_ios is not None and sum(part.completed for part in parts) >= job.number_ios * job.numjobs:
        return True
    return amount is not None and sum(part.io_bytes for part in parts) > amount


def _nothing_done(document: FioDocument, interrupted: bool, lines: Sequence[str]) -> _Verdict | None:
    if document.total_ios:
        return None
    if interrupted:
        return RunStatus.STOPPED, Diagnosis("Stopped before the first I/O")
    words = first_words(lines)
    said = f": {words}" if words else ""
    return RunStatus.FAILED, Diagnosis(
        f"fio did no I/O at all{said}",
        "It refuses this way when the target is in use, too small, or the offset lies beyond its end.",
    )


def _not_all_done(document: FioDocument, job: Job | None) -> _Verdict | None:
    """Errors that were passed over: fio counts failed I/Os as if they had been done."""
    parts = [part for name in ("read", "write") if (part := document.counters(name))]
    # With latency switched off nothing is timed, and nothing can be missing.
    issued = sum(part.total_ios for part in parts if part.completed)
    missing = issued - sum(part.completed for part in parts)
    # Mid-run the I/Os in flight are issued and not yet timed; at an interrupted end, too.
    allowed = job.queue * max(1, document.jobs) if job else issued // 1000
    failed = max(document.errors_passed_over, missing if missing > allowed else 0)
    if not failed:
        return None
    return RunStatus.FAILED, Diagnosis(
        f"{failed} of {issued} I/Os failed and were passed over",
        "Figures with failed I/Os mean nothing: look into the kernel log and the drives' health.",
    )


def _too_little(document: FioDocument, job: Job | None) -> _Verdict | None:
    """I/Os that moved nothing: reads beyond the end of a file come back at once, and count."""
    parts = {name: part for name in ("read", "write") if (part := document.counters(name))}
    done = sum(part.completed for part in parts.values())
    moved = sum(part.io_bytes for part in parts.values())
    if job is None or done < 100:
        return None
    # Half, because a mix of block sizes is a draw; reads beyond the end move nothing at all.
    if moved >= sum(part.completed * job.mean_size_of(name) for name, part in parts.items()) / 2:
        return None
    return RunStatus.FAILED, Diagnosis(
        f"{done} I/Os moved only {moved} bytes: most of them lay beyond the end of the target",
        "Lay out the scratch file again, or ask for a smaller region.",
    )


def _warnings(outcome: Outcome, document: FioDocument, job: Job | None, targets: Sequence[JobTarget]) -> list[str]:
    found: list[str] = []
    if outcome.broken:
        found.append(f"{outcome.broken} of fio's reports could not be read; its last one could")
    found += [
        f"{size_words(job.size)} were asked for, but {target.name} has {size_words(usable_size(job, target))}"
        f"{' from its start' if start_of(job, target) else ''}: all of it was used"
        for target in targets
        if job is not None and job.size is not None and job.size > usable_size(job, target)
    ]
    for name in ("read", "write"):
        part = document.counters(name)
        if part and (part.short_ios or part.drop_ios):
            found.append(f"{part.short_ios + part.drop_ios} {name}s moved less than asked or were dropped")
    return found
