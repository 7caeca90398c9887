"""The verdict on a run."""

from __future__ import annotations

import pytest

from app.core.fio.document import FioDocument
from app.core.fio.job import Job, JobTarget, Pattern, TargetKind
from app.core.fio.summary import FioResult, summarize
from app.core.session.results import RunResult, RunStatus
from tests.case_loop import loop_over
from tests.core.fio.documents import direction, document, reads

JOB = Job(runtime=10, ramp=0, iodepth=4)
TARGET = JobTarget(path="/dev/sdb", name="/dev/sdb", kind=TargetKind.BLOCK, size=1 << 30)
GOOD = reads(10_000, {99840: 100_000})
NOTHING = FioDocument(document(10))


def verdict(
    found: FioDocument | None = GOOD, *, rc: int = 0, noise: str = "", stderr: str = "", stopped: bool = False
) -> RunResult:
    outcome = FioResult(document=found, returncode=rc, noise=noise.splitlines(), stderr=stderr, stopped=stopped)
    return summarize(outcome, JOB, [TARGET])


def test_a_good_run_is_ok() -> None:
    figures = verdict()
    assert (figures.status, figures.reason, figures.seconds) == (RunStatus.OK, None, 10.0)
    assert figures.read is not None
    assert (figures.read.iops, figures.read.total_ios, figures.read.bytes_per_second) == (10_000, 100_000, 40_960_000)
    assert figures.write is None


def test_percentiles_with_fewer_than_ten_ios_beyond_are_left_out() -> None:
    figures = verdict(reads(10_000, {99840: 9_999}))
    assert figures.read is not None
    latency = figures.read.latency_ns
    assert (latency.p50, latency.p95, latency.p99, latency.p99_9) == (99840, 99840, 99840, None)


def test_ten_ios_beyond_carry_the_highest_percentile() -> None:
    figures = verdict(reads(10_000, {99840: 100_000}))
    assert figures.read is not None
    assert figures.read.latency_ns.p99_99 == 99840


REFUSALS = [
    ("fio: /dev/sdb appears mounted, and 'allow_mounted_write' isn't set. Aborting.", "mounted"),
    ("fio: file creation disallowed by allow_file_create=0", "does not exist"),
    ("fio: refusing extend of file due to read-only", "smaller"),
    ("fio: job <raidbench> has write or trim bit set, but fio is in read-only mode", "read-only"),
    ("fio seems to be stuck grabbing stat_sem, forcibly exiting", "statistics"),
    ("fio: engine nosuch not loadable", "engine"),
    ("Bad option <zzz=1>", "option"),
]


@pytest.mark.parametrize(("stderr", "word"), REFUSALS)
def test_a_refusal_that_exits_with_0_is_a_failure_with_a_sentence(stderr: str, word: str) -> None:
    figures = verdict(NOTHING, stderr=stderr)
    assert figures.status is RunStatus.FAILED
    assert word in (figures.reason or "")
    assert stderr in figures.evidence


def test_no_io_at_all_is_never_a_result_of_zero_iops() -> None:
    figures = verdict(NOTHING)
    assert (figures.status, figures.read) == (RunStatus.FAILED, None)
    assert "no I/O" in (figures.reason or "")


@pytest.mark.parametrize(
    ("code", "word"), [(28, "ENOSPC"), (5, "EIO"), (1, "EPERM"), (13, "EACCES"), (22, "EINVAL"), (35, "statistics")]
)
def test_an_error_number_is_said_in_words(code: int, word: str) -> None:
    data = document(5_000, read=direction({99840: 9}, runtime_ms=5_000), error=code)
    figures = verdict(FioDocument(data), rc=1)
    assert figures.status is RunStatus.FAILED
    assert word in (figures.reason or "")
    assert figures.hint


def test_an_unknown_error_number_is_named() -> None:
    assert "999" in (verdict(FioDocument(document(5, error=999)), rc=1).reason or "")


def test_where_an_io_failed_is_told() -> None:
    figures = verdict(
        GOOD,
        rc=1,
        noise="fio: pid=1, err=5/file:io_u.c:1876, func=io_u error, error=Input/output error",
        stderr="fio: io_u error on file /dev/sdb: Input/output error: read offset=16187392, buflen=4096",
    )
    assert "read at byte 16187392" in (figures.reason or "")


@pytest.mark.parametrize(
    ("line", "engine"),
    [
        ("fio: pid=2, err=1/file:engines/io_uring.c:998, func=io_queue_init, error=Operation not permitted", "libaio"),
        ("fio: pid=2, err=38/file:engines/libaio.c:485, func=io_queue_init, error=Function not implemented", "psync"),
    ],
)
def test_an_engine_the_kernel_refuses_names_another(line: str, engine: str) -> None:
    figures = verdict(FioDocument(document(1, error=1)), rc=1, noise=line)
    assert engine in figures.hint


def test_without_a_document_fios_own_words_are_the_reason() -> None:
    figures = verdict(None, rc=1, stderr="fio: something new\n")
    assert figures.status is RunStatus.FAILED
    assert "something new" in (figures.reason or "")


@pytest.mark.parametrize(("rc", "word"), [(-9, "SIGKILL"), (-11, "memory fault"), (-64, "signal 64")])
def test_a_death_by_signal_is_said(rc: int, word: str) -> None:
    assert word in (verdict(None, rc=rc).reason or "")
    assert word in (verdict(GOOD, rc=rc).reason or "")


def test_a_stopped_run_keeps_its_figures() -> None:
    figures = verdict(reads(4_000, {99840: 40_000}), rc=128, noise="fio: terminating on signal 2", stopped=True)
    assert (figures.status, figures.reason) == (RunStatus.STOPPED, "Stopped after 4.0 of 10 s")
    assert figures.read is not None
    assert figures.read.iops == 10_000


def test_a_run_stopped_from_outside_says_so() -> None:
    figures = verdict(reads(4_000, {99840: 40_000}), rc=128, noise="fio: terminating on signal 15")
    assert figures.status is RunStatus.STOPPED
    assert "from outside by signal 15" in (figures.reason or "")


def test_a_run_stopped_in_the_ramp_has_no_figures() -> None:
    outcome = FioResult(document=reads(4_000, {}, issued=900), returncode=128, stopped=True)
    figures = summarize(outcome, Job(runtime=10, ramp=5), [TARGET])
    assert (figures.status, figures.reason, figures.read) == (RunStatus.STOPPED, "Stopped during the ramp", None)


def test_a_run_stopped_at_its_very_end_is_whole() -> None:
    assert verdict(GOOD, rc=128, stopped=True).status is RunStatus.OK


def test_a_run_that_ended_early_without_a_word_is_a_failure() -> None:
    assert "after 4.0 of 10 s" in (verdict(reads(4_000, {99840: 40_000})).reason or "")


@loop_over(
    ("job", "status"),
    [
        (Job(number_ios=1000, ramp=0, iodepth=4), RunStatus.OK),
        (Job(number_ios=1001, ramp=0, iodepth=4), RunStatus.FAILED),
        (Job(number_ios=500, ramp=0, numjobs=2), RunStatus.OK),
        (Job(io_size=1000 * 4096, ramp=0), RunStatus.OK),
        (Job(io_size=1001 * 4096, ramp=0), RunStatus.FAILED),
        (Job(io_size=500 * 4096, passes=2, ramp=0), RunStatus.OK),
        (Job(passes=1, size=1000 * 4096, ramp=0), RunStatus.OK),
        (Job(passes=1, size=1002 * 4096, ramp=0), RunStatus.FAILED),
        (Job(passes=2, size=500 * 4096, ramp=0, runtime=0), RunStatus.OK),
        (Job(passes=2, size=600 * 4096, ramp=0, runtime=0), RunStatus.FAILED),
        (Job(passes=1, size=1000 * 4096, numjobs=2, ramp=0, runtime=0), RunStatus.FAILED),
        (Job(passes=1, size=2000 * 4096, ramp=3), RunStatus.OK),
        (Job(passes=1, size=2000 * 4096, percentage_random=50, ramp=0), RunStatus.OK),
        (Job(passes=1, size=2000 * 4096, bssplit=((4096, 99), (8192, 1)), ramp=0), RunStatus.OK),
        (Job(number_ios=5000, passes=1, size=1000 * 4096, ramp=0), RunStatus.OK),
    ],
)
def test_a_run_that_ends_by_amount_is_whole_when_all_of_it_was_done(job: Job, status: RunStatus) -> None:
    outcome = FioResult(document=reads(300, {99840: 1000}), returncode=0)
    assert summarize(outcome, job, [TARGET]).status is status


@pytest.mark.parametrize(
    "job",
    [
        Job(passes=1, size=2000 * 4096, ramp=3),
        Job(passes=1, size=2000 * 4096, percentage_random=50, ramp=0),
        Job(passes=1, ramp=0, runtime=0),
    ],
)
@pytest.mark.parametrize("returncode", [0, 128])
def test_a_run_that_ends_by_amount_and_was_stopped_is_not_whole(job: Job, returncode: int) -> None:
    outcome = FioResult(document=reads(300, {99840: 1000}), returncode=returncode, stopped=True)
    assert summarize(outcome, job, [TARGET]).status is RunStatus.STOPPED


def test_a_job_that_is_done_in_its_ramp_says_so() -> None:
    outcome = FioResult(document=reads(0, {}, issued=1000), returncode=0)
    figures = summarize(outcome, Job(passes=1, size=1000 * 4096, ramp=3), [TARGET])
    assert figures.status is RunStatus.FAILED
    assert "during the ramp" in (figures.reason or "")


def test_blocks_of_reads_and_writes_are_counted_by_themselves() -> None:
    data = document(
        10_000, read=direction({540: 1000}, runtime_ms=10_000), write=direction({540: 10}, runtime_ms=10_000)
    )
    job = Job(rw=Pattern.RANDRW, bs=4096, bs_write=1 << 20, rwmixread=10, runtime=10, ramp=0)
    data["jobs"][0]["write"]["io_bytes"] = 10 << 20
    assert summarize(FioResult(document=FioDocument(data), returncode=0), job, [TARGET]).status is RunStatus.OK


def test_errors_passed_over_are_counted() -> None:
    figures = verdict(reads(10_000, {99840: 50_000}, issued=400_000))
    assert figures.reason == "350000 of 400000 I/Os failed and were ignored"


def test_reads_beyond_the_end_that_move_nothing_are_no_iops() -> None:
    data = document(10_000, read=direction({540: 100_000}, runtime_ms=10_000, bs=1))
    assert "beyond the end" in (verdict(FioDocument(data)).reason or "")


def test_latency_switched_off_is_no_error() -> None:
    figures = verdict(reads(10_000, {}, issued=400_000))
    assert figures.status is RunStatus.OK
    assert figures.read is not None
    assert (figures.read.iops, figures.read.latency_ns.p50) == (40_000, None)


def test_a_region_larger_than_the_target_is_a_warning() -> None:
    job = Job(runtime=10, ramp=0, size=4 << 30)
    figures = summarize(FioResult(document=GOOD, returncode=0), job, [TARGET])
    assert figures.status is RunStatus.OK
    assert figures.warnings == ("The job asked for 4 GiB, but /dev/sdb has 1 GiB: all of it was used",)


def test_an_overdue_run_is_a_failure() -> None:
    outcome = FioResult(document=reads(4_000, {99840: 40_000}), returncode=128, overdue=True)
    assert summarize(outcome, JOB, [TARGET]).status is RunStatus.FAILED


def test_what_fio_said_is_cleaned() -> None:
    assert "\x1b" not in verdict(None, rc=1, stderr="\x1b]0;x\x07").evidence
