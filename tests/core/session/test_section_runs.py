"""Sections of a run in the log, and a run of several sections as one of each."""

from __future__ import annotations

from dataclasses import replace

from app.core.presentation.events import describe_event
from app.core.session import event_codec
from app.core.session.events import RunEnded, RunSection, RunStarted
from app.core.session.results import DirectionStats, GroupFigures, LatencyStats, RunResult, RunStatus, SectionFigures
from app.core.session.section_runs import runs_of_section, section_runs, shared_sections
from app.core.session.state import RunRecord

READ = DirectionStats(
    iops=100.0,
    bytes_per_second=409600.0,
    total_ios=1000,
    total_bytes=4096000,
    runtime_s=10.0,
    latency_ns=LatencyStats(),
)
SECTIONS = (
    RunSection(name="reader", job={"rw": "randread", "bs": "4k"}, title="4k random read", planned_seconds=10.0),
    RunSection(name="scan", job={"rw": "read", "bs": "1M"}, title="1M read", phase=2, group=2, starts_s=10.0),
)
START = RunStarted(
    at=1.0, id="r1", target="/dev/sdb", device="/dev/sdb", profile=None, job={"rw": "randread"}, title="2 sections",
    planned_seconds=20.0, sections=SECTIONS,
)  # fmt: skip
FIGURES = RunResult(
    status=RunStatus.OK,
    seconds=20.0,
    read=READ,
    sections=(
        SectionFigures(name="reader", seconds=10.0, read=READ),
        SectionFigures(name="scan", seconds=10.0, write=replace(READ, iops=7.0), trim=replace(READ, iops=3.0)),
    ),
    groups=(GroupFigures(sections=("reader",), read=READ), GroupFigures(sections=("scan",))),
)
RUN = RunRecord(start=START, end=RunEnded(at=2.0, id="r1", figures=FIGURES, folder="runs/r1"))


def test_sections_are_read_back_from_the_log() -> None:
    assert RUN.end is not None
    assert [event_codec.decode(event_codec.encode(event)) for event in (START, RUN.end)] == [START, RUN.end]


def test_a_log_of_an_earlier_version_has_no_sections() -> None:
    line = event_codec.encode(replace(START, sections=()))
    assert '"sections"' not in line
    event = event_codec.decode(line)
    assert isinstance(event, RunStarted)
    assert (event.sections, event.job_texts) == ((), event.job)


def test_each_section_is_a_run_with_its_own_job_and_figures() -> None:
    (first, reader), (second, scan) = section_runs(RUN)
    assert (first, second) == ("reader", "scan")
    assert (reader.start.job, reader.figures.read, reader.figures.seconds) == (SECTIONS[0].job, READ, 10.0)
    assert (scan.start.title, scan.figures.read, scan.figures.write) == ("1M read", None, replace(READ, iops=7.0))
    assert scan.figures.trim == replace(READ, iops=3.0)
    assert section_runs(reader) == ()


def test_the_other_sections_tell_a_section_from_one_beside_others() -> None:
    other = replace(RUN, start=replace(START, sections=(SECTIONS[0], replace(SECTIONS[1], job={"rw": "read"}))))
    ((_, one), _), ((_, two), _) = section_runs(RUN), section_runs(other)
    assert one.start.job == two.start.job
    assert one.start.job_texts != two.start.job_texts


def test_sections_that_every_run_has_are_paired() -> None:
    other = replace(RUN, start=replace(START, sections=SECTIONS[:1]))
    assert [name for name, _ in shared_sections([RUN, other])] == ["reader"]
    assert [len(runs_of_section([RUN, other], name)) for name in ("reader", "scan")] == [2, 1]
    assert shared_sections([]) == ()


def test_a_run_that_has_not_ended_has_none() -> None:
    assert section_runs(replace(RUN, end=None)) == ()


def test_the_log_tells_what_each_section_is_to_do_and_did() -> None:
    assert RUN.end is not None
    assert "section scan: 1M read, phase 2" in describe_event(START).body
    lines = describe_event(RUN.end).body
    assert [line.split(" IOPS")[0] for line in lines[:2]] == ["reader: read 100", "scan: write 7.00"]
