"""What this project recorded of fio (see record.py), read to the last byte."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.core.fio.document import FioDocument
from app.core.fio.sampler import Sampler
from app.core.fio.stream import Event, FioJsonDocument, MalformedDocument, NonJsonLine, StreamParser
from app.core.fio.summary import FioResult, summarize
from app.core.session.results import Phase, RunResult, RunStatus
from backends.fio_buckets import bucket_of, value_of
from tests.case_loop import loop_over
from tests.core.fio.record import CASES, STREAMS

SHORT = 60_000

every_stream = pytest.mark.parametrize(
    "stream", [STREAMS / f"{name}.stdout" for name in CASES], ids=lambda path: path.stem
)


def parse(data: bytes, size: int) -> list[Event]:
    parser = StreamParser()
    pieces = (data[at : at + size] for at in range(0, len(data), size))
    return [event for piece in pieces for event in parser.feed(piece)] + parser.close()


def whole(stream: Path) -> list[Event]:
    data = stream.read_bytes()
    return parse(data, max(len(data), 1))


def documents(events: list[Event]) -> list[FioDocument]:
    return [FioDocument(event.data) for event in events if isinstance(event, FioJsonDocument)]


def verdict(stream: Path) -> RunResult:
    events = whole(stream)
    found = documents(events)
    return summarize(
        FioResult(
            document=found[-1] if found else None,
            returncode=int(stream.with_suffix(".rc").read_text()),
            noise=[event.line for event in events if isinstance(event, NonJsonLine)],
            stderr=stream.with_suffix(".stderr").read_text(errors="replace"),
            broken=sum(isinstance(event, MalformedDocument) for event in events),
        )
    )


@every_stream
def test_every_document_is_found_however_the_bytes_were_cut(stream: Path) -> None:
    data = stream.read_bytes()
    expected = whole(stream)
    for size in (997, 4096, *((1,) if len(data) < SHORT else ())):
        assert parse(data, size) == expected


@every_stream
def test_no_complete_document_is_lost(stream: Path) -> None:
    if "mixed_formats" in stream.stem:
        return  # glued to a status line, as fio is never asked for here
    ends = len(re.findall(rb"^\}$", stream.read_bytes(), re.MULTILINE))
    assert len(documents(whole(stream))) == ends


@every_stream
def test_every_bucket_maps_to_itself(stream: Path) -> None:
    for found in documents(whole(stream)):
        if found.version.startswith("fio-2"):
            continue
        for name in ("read", "write", "mixed"):
            if (part := found.counters(name)) is not None:
                assert all(value_of(bucket_of(value)) == value for value in part.histogram.counts)


@every_stream
def test_percentiles_from_the_buckets_are_fios_own(stream: Path) -> None:
    for found in documents(whole(stream)):
        for name in ("read", "write", "mixed"):
            part = found.counters(name)
            # Before 3.18 nothing tells whether fio's own race bit while it counted.
            if part is None or found.jobs != 1 or part.histogram.total != part.completed or not _tells(found.version):
                continue
            for percent, value in part.percentiles.items():
                assert part.histogram.percentile(percent) == value


def _tells(version: str) -> bool:
    major, minor = (int(number) for number in re.findall(r"\d+", version)[:2])
    return (major, minor) >= (3, 18)


@every_stream
def test_samples_are_sane(stream: Path) -> None:
    machine = Sampler(ramp="ramp" in stream.stem, planned_s=None)
    last: dict[Phase, float] = {}
    for found in documents(whole(stream)):
        sample = machine.add_document(found)
        if sample is None:
            continue
        assert sample.seconds > 0
        assert sample.at > last.get(sample.phase, 0.0)
        last[sample.phase] = sample.at
        for part in (sample.read, sample.write):
            assert part is None or (part.iops >= 0 and part.bytes_per_second >= 0 and part.ios >= 0)


@loop_over(
    ("name", "status", "word"),
    [
        ("reads", RunStatus.OK, ""),
        ("mixed", RunStatus.OK, ""),
        ("jobs_in_a_group", RunStatus.OK, ""),
        ("jobs_apart", RunStatus.OK, ""),
        ("ramp", RunStatus.OK, ""),
        ("by_amount", RunStatus.OK, ""),
        ("without_latencies", RunStatus.OK, ""),
        ("worker_held", RunStatus.OK, ""),
        ("interrupted", RunStatus.STOPPED, "Stopped"),
        ("interrupted_in_ramp", RunStatus.STOPPED, "Stopped"),
        ("interrupted_at_once", RunStatus.FAILED, "interrupt"),
        ("killed", RunStatus.FAILED, "fio was ended by SIGKILL"),
        ("permission_denied", RunStatus.FAILED, "EACCES"),
        ("no_space", RunStatus.FAILED, "ENOSPC"),
        ("unaligned", RunStatus.FAILED, "direct I/O"),
        ("no_engine", RunStatus.FAILED, "engine"),
        ("no_jobs", RunStatus.FAILED, "no job"),
        ("no_size", RunStatus.FAILED, "does not know the size of the target"),
        ("no_such_option", RunStatus.FAILED, "option"),
        ("terse", RunStatus.FAILED, "without a result"),
    ],
)
def test_a_known_end_has_its_verdict(name: str, status: RunStatus, word: str) -> None:
    figures = verdict(STREAMS / f"{name}.stdout")
    assert figures.status is status
    assert word in (figures.reason or "")


def test_the_interval_in_which_the_worker_was_held_is_marked() -> None:
    machine = Sampler(ramp=False, planned_s=4)
    found = [
        sample for each in documents(whole(STREAMS / "worker_held.stdout")) if (sample := machine.add_document(each))
    ]
    assert [sample.stalled for sample in found].count(True) == 1
