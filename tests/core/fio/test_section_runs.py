"""Sections of one job in one fio: what it is asked, the samples, the figures of each and the verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from app.core.fio.document import FioDocument
from app.core.fio.job import Job, JobTarget, Pattern, TargetKind
from app.core.fio.render import render
from app.core.fio.section_sampler import SectionSampler
from app.core.fio.sections import JobSection, join_sections
from app.core.fio.summary import FioResult, summarize
from app.core.session.event_types import SteadyPlan
from app.core.session.results import Phase, RunResult, RunStatus, Sample
from backends.errors import InvalidValueError
from tests.core.fio.documents import direction, document

TARGET = JobTarget(path="/dev/sdb", name="/dev/sdb", kind=TargetKind.BLOCK, size=1 << 30)
READER = Job(rw=Pattern.RANDREAD, runtime=10, ramp=0, iodepth=4)
WRITER = Job(rw=Pattern.WRITE, bs=65536, runtime=10, ramp=0, size=1 << 24)
FAST, SLOW = 99840, 399360


def job_of(*jobs: Job, waits: tuple[int, ...] = (), new_groups: tuple[int, ...] = ()) -> Job:
    """The sections are called a, b, c."""
    return join_sections(
        [
            JobSection(name="abc"[at], job=job, waits=at in waits, new_group=at in new_groups)
            for at, job in enumerate(jobs)
        ]
    )


def told(at_ms: int, *entries: dict[str, Any]) -> FioDocument:
    """A document with an entry for each section: its `read`, `write` and `error`."""
    whole = document(at_ms)
    idle = whole["jobs"][0]
    return FioDocument(
        whole | {"jobs": [idle | {"jobname": f"raidbench-{number}"} | one for number, one in enumerate(entries, 1)]}
    )


def reading(ios: int, seconds: float, latency: int = FAST) -> dict[str, Any]:
    return {"read": direction({latency: ios} if ios else {}, runtime_ms=round(seconds * 1000))}


def writing(ios: int, seconds: float) -> dict[str, Any]:
    return {"write": direction({SLOW: ios} if ios else {}, runtime_ms=round(seconds * 1000), bs=65536)}


def summed(job: Job, *entries: dict[str, Any], stopped: bool = False, rc: int = 0) -> RunResult:
    return summarize(FioResult(document=told(99_000, *entries), returncode=rc, stopped=stopped), job, [TARGET])


# -- what fio is asked ------------------------------------------------------------------------------------------------


def entries_of(job: Job) -> list[str]:
    return render(job, [TARGET], jobfile="j").text.split("[")[1:]


def test_every_section_has_its_own_options_on_the_same_target() -> None:
    reader, writer = entries_of(job_of(READER, WRITER))
    assert (reader.startswith("raidbench-1]"), writer.startswith("raidbench-2]")) == (True, True)
    assert "filename=/dev/sdb\n" in reader
    assert "filename=/dev/sdb\n" in writer
    assert ("rw=randread\n" in reader, "rw=write\n" in writer, "bs=64k\n" in writer) == (True, True, True)
    assert ("size=" in reader, f"size={1 << 24}\n" in writer) == (False, True)


def test_no_name_of_a_section_gets_into_the_file() -> None:
    job = join_sections([JobSection(name="x]\nexec_prerun=rm", job=READER), JobSection(name="$HOME", job=WRITER)])
    text = render(job, [TARGET], jobfile="j").text
    assert ("exec_prerun" in text, "$" in text) == (False, False)


def test_a_section_that_waits_is_walled_off() -> None:
    assert ["stonewall=1" in one for one in entries_of(job_of(READER, WRITER, READER, waits=(2,)))] == [
        False,
        False,
        True,
    ]


def test_every_section_has_a_group_of_its_own_in_the_file() -> None:
    assert all("new_group=1" in one and "group_reporting=1" in one for one in entries_of(job_of(READER, WRITER)))


def test_fio_may_write_if_one_section_writes() -> None:
    both = render(job_of(READER, WRITER), [TARGET], jobfile="j")
    reads = render(job_of(READER, READER), [TARGET], jobfile="j")
    assert ("--readonly" in both.argv, "--readonly" in reads.argv) == (False, True)


def test_several_sections_run_on_one_target() -> None:
    other = replace(TARGET, path="/dev/sdc", name="/dev/sdc")
    with pytest.raises(InvalidValueError, match="one target") as caught:
        render(job_of(READER, WRITER), [TARGET, other], jobfile="j")
    assert "--section" in caught.value.hint


@pytest.mark.parametrize("plan", [SteadyPlan(until=True), SteadyPlan(end_early=True)])
def test_several_sections_do_not_wait_for_the_steady_state(plan: SteadyPlan) -> None:
    with pytest.raises(InvalidValueError, match="steady state"):
        render(job_of(READER, WRITER), [TARGET], jobfile="j", steady=plan)


# -- figures ----------------------------------------------------------------------------------------------------------


def test_each_section_has_the_figures_of_its_own_time() -> None:
    figures = summed(job_of(READER, replace(READER, runtime=20)), reading(1000, 10), reading(4000, 20, SLOW))
    assert [(one.name, one.seconds, one.read.iops if one.read else None) for one in figures.sections] == [
        ("a", 10.0, 100.0),
        ("b", 20.0, 200.0),
    ]
    assert [one.read.latency_ns.p50 for one in figures.sections if one.read] == [FAST, SLOW]


def test_sections_at_the_same_time_add_up_over_the_longest() -> None:
    figures = summed(job_of(READER, replace(READER, runtime=20)), reading(1000, 10), reading(4000, 20))
    assert figures.read is not None
    assert (figures.read.total_ios, figures.read.runtime_s, figures.read.iops) == (5000, 20.0, 250.0)
    assert (figures.seconds, figures.groups) == (20.0, ())


def test_the_times_of_phases_add_up_for_each_direction() -> None:
    job = job_of(READER, WRITER, READER, waits=(1, 2))
    figures = summed(job, reading(1000, 10), writing(500, 10), reading(3000, 10))
    assert figures.read is not None
    assert figures.write is not None
    assert (figures.read.iops, figures.read.runtime_s) == (200.0, 20.0)
    assert (figures.write.iops, figures.write.runtime_s) == (50.0, 10.0)
    assert figures.seconds == 30.0


def test_groups_add_up_where_there_are_several() -> None:
    job = job_of(READER, READER, WRITER, waits=(2,))
    figures = summed(job, reading(1000, 10), reading(3000, 10), writing(500, 10))
    assert [(one.sections, one.read.iops if one.read else None) for one in figures.groups] == [
        (("a", "b"), 400.0),
        (("c",), None),
    ]


def test_a_new_group_does_not_wait() -> None:
    figures = summed(job_of(READER, READER, new_groups=(1,)), reading(1000, 10), reading(3000, 10))
    assert [one.sections for one in figures.groups] == [("a",), ("b",)]
    assert figures.seconds == 10.0


def test_targets_have_no_rows() -> None:
    assert summed(job_of(READER, WRITER), reading(1000, 10), writing(500, 10)).targets == ()


# -- the verdict ------------------------------------------------------------------------------------------------------


def test_a_run_whose_sections_all_ran_is_whole() -> None:
    figures = summed(job_of(READER, replace(WRITER, runtime=3)), reading(1000, 10), writing(500, 3))
    assert (figures.status, figures.reason) == (RunStatus.OK, None)


def test_a_section_that_did_nothing_is_named() -> None:
    figures = summed(job_of(READER, WRITER), reading(1000, 10), writing(0, 0))
    assert figures.status is RunStatus.FAILED
    assert (figures.reason or "").startswith("b: fio did no I/O at all")


def test_a_section_that_ended_too_soon_is_named() -> None:
    figures = summed(job_of(READER, WRITER), reading(1000, 10), writing(500, 4))
    assert (figures.status, figures.reason) == (
        RunStatus.FAILED,
        "b: fio ended after 4.0 of 10 s without reporting a reason",
    )


def test_a_section_that_ends_by_amount_may_be_short() -> None:
    job = job_of(READER, replace(WRITER, io_size=500 * 65536))
    assert summed(job, reading(1000, 10), writing(500, 4)).status is RunStatus.OK
    assert summed(job, reading(1000, 10), writing(400, 4)).status is RunStatus.FAILED


def test_a_failed_section_is_named() -> None:
    figures = summed(job_of(READER, WRITER), reading(1000, 4), writing(500, 4) | {"error": 5}, rc=1)
    assert (figures.status, (figures.reason or "").split(":")[0]) == (RunStatus.FAILED, "b")


def test_a_run_that_is_stopped_in_its_first_phase_keeps_its_figures() -> None:
    figures = summed(job_of(READER, WRITER, waits=(1,)), reading(400, 4), writing(0, 0), stopped=True)
    assert (figures.status, figures.reason) == (RunStatus.STOPPED, "Stopped after 4.0 of 20 s")
    assert [one.seconds for one in figures.sections] == [4.0, 0.0]


def test_a_section_that_was_stopped_in_its_ramp_has_no_figures() -> None:
    untimed = {"read": direction({}, runtime_ms=1000, issued=500)}
    figures = summed(job_of(replace(READER, ramp=3), WRITER), untimed, writing(100, 1), stopped=True)
    first = figures.sections[0]
    assert (first.read, first.seconds) == (None, 0.0)


# -- samples ----------------------------------------------------------------------------------------------------------


def sampled(job: Job, *documents: FioDocument) -> list[Sample]:
    sampler = SectionSampler(job.sections, period_s=1.0)
    return [sample for one in documents if (sample := sampler.add_document(one)) is not None]


def test_an_interval_has_a_row_for_each_section_that_runs() -> None:
    found = sampled(
        job_of(READER, WRITER),
        told(1000, reading(100, 1), writing(10, 1)),
        told(2000, reading(300, 2), writing(40, 2)),
    )
    assert [[(row.name, row.phase) for row in one.sections] for one in found] == [
        [("a", Phase.MEASURING), ("b", Phase.MEASURING)]
    ] * 2
    last = found[-1]
    assert last.read is not None
    assert last.write is not None
    assert (last.read.iops, last.write.iops, last.at) == (200.0, 30.0, 2.0)
    assert [(row.read is None, row.write is None) for row in last.sections] == [(False, True), (True, False)]


def test_readers_add_up_with_the_percentiles_of_all() -> None:
    job = job_of(READER, READER)
    found = sampled(
        job,
        told(1000, reading(100, 1), reading(100, 1, SLOW)),
        told(2000, reading(200, 2), reading(500, 2, SLOW)),
    )[-1]
    assert found.read is not None
    assert (found.read.ios, found.read.p50_ns) == (500, SLOW)
    assert [row.read.p50_ns for row in found.sections if row.read] == [FAST, SLOW]


def test_a_section_that_has_ended_does_no_more() -> None:
    found = sampled(
        job_of(replace(READER, runtime=2), replace(READER, runtime=4)),
        *(told(1000 * at, reading(100 * min(at, 2), min(at, 2)), reading(100 * at, at)) for at in range(1, 5)),
    )
    assert [one.read.iops if one.read else None for one in found] == [200.0, 200.0, 100.0, 100.0]
    assert [one.sections[0].read is None for one in found] == [False, False, True, True]
    assert not any(one.stalled for one in found)


def test_a_section_that_ends_by_amount_does_no_more() -> None:
    job = job_of(replace(READER, number_ios=200), replace(READER, runtime=4))
    found = sampled(
        job, *(told(1000 * at, reading(100 * min(at, 2), min(at, 2)), reading(100 * at, at)) for at in range(1, 5))
    )
    assert [one.sections[0].read is None for one in found] == [False, False, True, True]


def test_a_section_that_stands_still_is_shown_as_running() -> None:
    found = sampled(
        job_of(READER, READER),
        *(told(1000 * at, reading(100, 1), reading(100 * at, at)) for at in range(1, 4)),
    )
    assert [one.sections[0].read.ios if one.sections[0].read else None for one in found] == [100, 0, 0]
    assert not any(one.stalled for one in found)


def test_phases_follow_each_other_in_one_time() -> None:
    job = job_of(replace(READER, runtime=2), replace(WRITER, runtime=2), waits=(1,))
    found = sampled(
        job,
        told(1000, reading(100, 1), writing(0, 0)),
        told(2000, reading(200, 2), writing(0, 0)),
        told(3000, reading(200, 2), writing(50, 1)),
        told(4000, reading(200, 2), writing(100, 2)),
    )
    assert [one.at for one in found] == [1.0, 2.0, 3.0, 4.0]
    assert [(one.read is None, one.write is None) for one in found] == [(False, True)] * 2 + [(True, False)] * 2


def test_it_is_measured_as_soon_as_one_section_is() -> None:
    ramping = {"read": direction({}, runtime_ms=1000, issued=100)}
    job = job_of(replace(READER, ramp=1), replace(READER, ramp=2))
    sampler = SectionSampler(job.sections, period_s=1.0)
    assert sampler.phase is Phase.RAMP
    first = sampler.add_document(told(1000, ramping, ramping))
    second = sampler.add_document(told(2000, reading(100, 1), {"read": direction({}, runtime_ms=2000, issued=200)}))
    assert first is not None
    assert second is not None
    assert (first.phase, second.phase, second.at) == (Phase.RAMP, Phase.MEASURING, 1.0)
    assert [row.phase for row in second.sections] == [Phase.MEASURING, Phase.RAMP]


def test_a_section_without_a_ramp_beside_one_with_is_measured_at_once() -> None:
    assert SectionSampler(job_of(READER, replace(READER, ramp=2)).sections).phase is Phase.MEASURING


def test_the_processor_share_is_that_of_the_whole_time() -> None:
    busy = {"usr_cpu": 50.0, "sys_cpu": 30.0}
    job = job_of(READER, replace(READER, runtime=30), waits=(1,))
    entries = [
        reading(1000, 10) | busy | {"job_runtime": 10_000},
        reading(1000, 30) | {"usr_cpu": 10.0, "sys_cpu": 10.0, "job_runtime": 30_000},
    ]
    assert summed(job, *entries).cpu.fio_percent_of_core == pytest.approx((80 * 10 + 20 * 30) / 40)


def test_a_size_beyond_the_target_is_told_although_another_section_names_none() -> None:
    job = job_of(READER, replace(READER, size=1 << 40))
    assert any("1 TiB" in one for one in summed(job, reading(1000, 10), reading(1000, 10)).warnings)


def test_a_section_whose_last_count_is_a_little_early_has_ended_too() -> None:
    found = sampled(
        job_of(replace(READER, runtime=2), replace(READER, runtime=5)),
        *(told(1000 * at, reading(100 * min(at, 2), min(at, 1.99)), reading(100 * at, at)) for at in range(1, 6)),
    )
    assert [one.sections[0].phase for one in found] == [Phase.MEASURING] * 2 + [None] * 3
