"""Several targets in one fio: what it is asked, and that the rows are the sum."""

from __future__ import annotations

from typing import Any

import pytest

from app.core.fio.document import FioDocument
from app.core.fio.job import Job, JobTarget, TargetKind
from app.core.fio.render import render
from app.core.fio.run_phases import RunPhases
from app.core.fio.sampler import Sampler
from app.core.fio.summary import FioResult, summarize
from app.core.session.event_types import SteadyPlan
from app.core.session.results import RunResult, RunStatus
from tests.core.fio.documents import direction, document

NAMES = ("/dev/sdb", "/dev/sdc")
TARGETS = [JobTarget(path=name, name=name, kind=TargetKind.BLOCK, size=1 << 30) for name in NAMES]
JOB = Job(runtime=10, ramp=0, iodepth=4)
FAST, SLOW = 99840, 399360
LAST = [direction({FAST: 100_000}, runtime_ms=10_000), direction({SLOW: 20_001}, runtime_ms=9_990)]


def both(at_ms: int, reads: list[dict[str, Any]], *, errors: tuple[int, int] = (0, 0)) -> FioDocument:
    """A document of two sections."""
    whole = document(at_ms)
    job = whole["jobs"][0]
    rows = enumerate(zip(reads, errors, strict=True), 1)
    jobs = [job | {"jobname": f"raidbench-{number}", "read": read, "error": error} for number, (read, error) in rows]
    return FioDocument(whole | {"jobs": jobs})


def verdict(found: FioDocument, *, stopped: bool = False, rc: int = 0) -> RunResult:
    return summarize(FioResult(document=found, returncode=rc, stopped=stopped), JOB, TARGETS)


def sections(targets: list[JobTarget]) -> list[str]:
    return render(JOB, targets, jobfile="j").text.split("[")[1:]


def test_each_target_has_a_section_of_its_own() -> None:
    assert [f"filename={name}\n" in text for name, text in zip(NAMES, sections(TARGETS), strict=True)] == [True, True]


def test_each_section_has_figures_of_its_own() -> None:
    assert all("new_group=1" in text for text in sections(TARGETS))


def test_one_target_is_asked_for_as_ever() -> None:
    assert (sections(TARGETS[:1])[0].startswith("raidbench]"), "new_group" in sections(TARGETS[:1])[0]) == (True, False)


@pytest.mark.parametrize("figure", ["total_ios", "total_bytes", "iops", "bytes_per_second"])
def test_the_rows_add_up_to_the_whole(figure: str) -> None:
    figures = verdict(both(10_000, LAST))
    assert figures.read is not None
    rows = [getattr(row.read, figure) for row in figures.targets]
    assert sum(rows) == pytest.approx(getattr(figures.read, figure), rel=1e-12)


def test_a_row_has_the_latencies_of_its_own_target() -> None:
    rows = verdict(both(10_000, LAST)).targets
    assert [row.read.latency_ns.p50 for row in rows if row.read] == [FAST, SLOW]


def test_a_row_has_the_name_of_its_target() -> None:
    assert tuple(row.target for row in verdict(both(10_000, LAST)).targets) == NAMES


def test_a_run_on_one_target_has_no_rows() -> None:
    found = FioDocument(document(10_000, read=LAST[0]))
    assert summarize(FioResult(document=found, returncode=0), JOB, TARGETS[:1]).targets == ()


def test_a_failure_names_its_target() -> None:
    figures = verdict(both(10_000, LAST, errors=(0, 5)), rc=1)
    assert (figures.status, (figures.reason or "").split(":")[0]) == (RunStatus.FAILED, "/dev/sdc")


def test_a_run_is_not_whole_where_one_target_did_nothing() -> None:
    figures = verdict(both(10_000, [LAST[0], direction({}, runtime_ms=0)]))
    assert (figures.status, (figures.reason or "")[:24]) == (RunStatus.FAILED, "/dev/sdc: fio did no I/O")


def test_a_run_is_not_whole_where_one_target_ended_early() -> None:
    figures = verdict(both(10_000, [LAST[0], direction({SLOW: 9_000}, runtime_ms=4_000)]))
    assert (figures.status, (figures.reason or "")[:24]) == (RunStatus.FAILED, "/dev/sdc: fio ended afte")


def test_a_stopped_run_has_its_rows() -> None:
    figures = verdict(both(4_000, [direction({FAST: 400}, runtime_ms=4_000)] * 2), stopped=True)
    assert (figures.status, [row.read.total_ios for row in figures.targets if row.read]) == (
        RunStatus.STOPPED,
        [400, 400],
    )


def grown(at_ms: int, first: int, second: int) -> FioDocument:
    return both(at_ms, [direction({FAST: first}, runtime_ms=at_ms), direction({SLOW: second}, runtime_ms=at_ms)])


def test_an_interval_has_a_row_for_each_target() -> None:
    sampler = Sampler(ramp=False, planned_s=None, targets=NAMES)
    sampler.add_document(grown(500, 500, 50))
    sample = sampler.add_document(grown(1000, 1500, 250))
    assert sample is not None
    assert [(row.target, row.read.ios if row.read else 0) for row in sample.targets] == [
        ("/dev/sdb", 1000),
        ("/dev/sdc", 200),
    ]


def test_the_rows_of_an_interval_add_up_to_it() -> None:
    sampler = Sampler(ramp=False, planned_s=None, targets=NAMES)
    sampler.add_document(grown(500, 500, 50))
    sample = sampler.add_document(grown(1000, 1500, 250))
    assert sample is not None
    assert sample.read is not None
    assert sum(row.read.iops for row in sample.targets if row.read) == pytest.approx(sample.read.iops)


def test_a_row_has_the_percentiles_of_its_own_target() -> None:
    sample = Sampler(ramp=False, planned_s=None, targets=NAMES).add_document(grown(500, 500, 50))
    assert sample is not None
    assert [row.read.p50_ns for row in sample.targets if row.read] == [FAST, SLOW]


def test_after_settling_only_what_was_measured_is_in_the_rows() -> None:
    plan = SteadyPlan(until=True, cap_s=3, round_s=1, window=3)
    course = RunPhases(ramp=False, planned_s=2, plan=plan, period_s=1.0, targets=NAMES)
    documents = [grown(1000 * second, 1000 * second, 100 * second) for second in range(1, 8)]
    for each in documents:
        course.add_document(each)
    job = Job(runtime=2, ramp=0, iodepth=4)
    outcome = FioResult(document=documents[-1], returncode=0, since=course.since, until=course.until)
    rows = summarize(outcome, job, TARGETS).targets
    assert [row.read.total_ios for row in rows if row.read] == [2000, 200]
