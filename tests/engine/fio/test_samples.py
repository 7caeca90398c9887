"""Every captured stream, where the captures are at hand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.engine.fio.document import FioDocument
from app.engine.fio.histogram import bucket_of, value_of
from app.engine.fio.sampler import Sampler
from app.engine.fio.stream import Broken, Document, Event, Noise, StreamParser
from app.engine.fio.summary import Outcome, summarize
from app.engine.session.figures import RunFigures, RunStatus

FOLDER = Path(__file__).parents[3].parent / "shared" / "samples" / "fio"
STREAMS = sorted(FOLDER.glob("*.stdout"))
SHORT = 60_000

pytestmark = [pytest.mark.exhaustive, pytest.mark.skipif(not STREAMS, reason=f"no captures in {FOLDER}")]
every_stream = pytest.mark.parametrize("stream", STREAMS or [Path()], ids=lambda path: path.stem)


def parse(data: bytes, size: int) -> list[Event]:
    parser = StreamParser()
    pieces = (data[at : at + size] for at in range(0, len(data), size))
    return [event for piece in pieces for event in parser.feed(piece)] + parser.close()


def whole(stream: Path) -> list[Event]:
    data = stream.read_bytes()
    return parse(data, max(len(data), 1))


def documents(events: list[Event]) -> list[FioDocument]:
    return [FioDocument(event.data) for event in events if isinstance(event, Document)]


def verdict(stream: Path) -> RunFigures:
    events = whole(stream)
    found = documents(events)
    return summarize(
        Outcome(
            document=found[-1] if found else None,
            returncode=int(stream.with_suffix(".rc").read_text()),
            noise=[event.line for event in events if isinstance(event, Noise)],
            stderr=stream.with_suffix(".stderr").read_text(errors="replace"),
            broken=sum(isinstance(event, Broken) for event in events),
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
        pytest.skip("glued to a status line, as STREAMS are never asked for")
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
    last = -1.0
    for found in documents(whole(stream)):
        sample = machine.take(found)
        if sample is None:
            continue
        assert sample.seconds > 0
        assert sample.at > last
        last = sample.at
        for part in (sample.read, sample.write):
            assert part is None or (part.iops >= 0 and part.bytes_per_second >= 0 and part.ios >= 0)


@pytest.mark.parametrize(
    ("name", "status", "word"),
    [
        ("01_normal_file_randread", RunStatus.OK, ""),
        ("02_mixed_randrw", RunStatus.OK, ""),
        ("04_multijob_group", RunStatus.OK, ""),
        ("10_sigint", RunStatus.STOPPED, "Stopped"),
        ("12_sigkill", RunStatus.FAILED, "kill"),
        ("17_sigint_in_rampt", RunStatus.STOPPED, "Stopped"),
        ("18_sigint_before_start", RunStatus.FAILED, "interrupt"),
        ("30_ro_device_write", RunStatus.FAILED, "EPERM"),
        ("34_permission_denied", RunStatus.FAILED, "EACCES"),
        ("37_bad_ioengine", RunStatus.FAILED, "engine"),
        ("38_no_jobs", RunStatus.FAILED, "no job"),
        ("39_no_size", RunStatus.FAILED, "how large"),
        ("40_enospc_file", RunStatus.FAILED, "ENOSPC"),
        ("42b_eio_continue_flood", RunStatus.FAILED, "EIO"),
        ("43_eio_read_truncated_backing", RunStatus.FAILED, "EIO"),
        ("44_eio_multijob_one_fails", RunStatus.FAILED, "EIO"),
        ("46_eio_midrun", RunStatus.FAILED, "EIO"),
        ("49b_bad_option_jobfile", RunStatus.FAILED, "option"),
        ("50_aio_limit", RunStatus.FAILED, "limit"),
        ("51_iouring_eperm", RunStatus.FAILED, "not permitted"),
        ("52_iouring_enosys", RunStatus.FAILED, "no io_uring"),
        ("52e_bs_not_aligned", RunStatus.FAILED, "direct I/O"),
        ("53_stall_fsfreeze", RunStatus.OK, ""),
        ("54_stall_sigint", RunStatus.STOPPED, "Stopped"),
        ("60_ver_2.1.10", RunStatus.OK, ""),
        ("60_ver_2.16", RunStatus.OK, ""),
        ("60_ver_3.1", RunStatus.OK, ""),
        ("60_ver_3.42", RunStatus.OK, ""),
        ("73_idleprof", RunStatus.FAILED, "memory fault"),
        ("76b_gtod_reduce", RunStatus.OK, ""),
        ("81b_minimal", RunStatus.FAILED, "without a result"),
        ("93_group_one_fails", RunStatus.FAILED, "EIO"),
    ],
)
def test_a_known_end_has_its_verdict(name: str, status: RunStatus, word: str) -> None:
    stream = FOLDER / f"{name}.stdout"
    if not stream.exists():
        pytest.skip(f"{name} is not among the captures")
    figures = verdict(stream)
    assert figures.status is status
    assert word in (figures.reason or "")


@pytest.mark.parametrize("name", ["53_stall_fsfreeze", "55_worker_sigstop"])
def test_one_interval_of_a_stalled_run_is_marked(name: str) -> None:
    stream = FOLDER / f"{name}.stdout"
    if not stream.exists():
        pytest.skip(f"{name} is not among the captures")
    machine = Sampler(ramp=False, planned_s=6 if "fsfreeze" in name else 5)
    found = [sample for document in documents(whole(stream)) if (sample := machine.take(document))]
    assert [sample.stalled for sample in found].count(True) == 1
