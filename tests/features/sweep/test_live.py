"""What a process that looks on sees of the running step."""

from __future__ import annotations

from pathlib import Path

from app.core.session.event_types import PhaseChanged, SampleTaken
from app.core.session.events import LiveEvent, RunStarted
from app.core.session.results import DirectionSample, Phase, Sample
from app.core.session.state import Session
from app.features.sweep.engine.live_log import FILE, LiveReader, LiveWriter

STARTED = RunStarted(at=0.0, id="r1", target="t", device=None, profile=None, job={}, title="", planned_seconds=1.0)
PHASE = LiveEvent(at=1.0, id="r1", progress=PhaseChanged(phase=Phase.MEASURING, seconds=5.0))
READ = DirectionSample(iops=5.0, bytes_per_second=9.0, ios=5)
SAMPLE = LiveEvent(
    at=2.0,
    id="r1",
    progress=SampleTaken(sample=Sample(at=1.0, seconds=1.0, phase=Phase.MEASURING, read=READ)),
)


def test_live_events_come_across_whole(tmp_path: Path) -> None:
    writer, reader = LiveWriter(tmp_path), LiveReader(tmp_path)
    for event in (STARTED, PHASE, SAMPLE):
        writer.handle_event(Session(), event)
    assert list(reader.read()) == [PHASE, SAMPLE]
    assert list(reader.read()) == []


def test_a_new_run_begins_anew(tmp_path: Path) -> None:
    writer, reader = LiveWriter(tmp_path), LiveReader(tmp_path)
    for event in (STARTED, PHASE):
        writer.handle_event(Session(), event)
    assert list(reader.read()) == [PHASE]
    for later in (STARTED, SAMPLE):
        writer.handle_event(Session(), later)
    assert list(reader.read()) == [SAMPLE]


def test_half_a_line_waits_for_its_other_half(tmp_path: Path) -> None:
    writer, reader = LiveWriter(tmp_path), LiveReader(tmp_path)
    writer.handle_event(Session(), STARTED)
    writer.handle_event(Session(), PHASE)
    whole = (tmp_path / FILE).read_bytes()
    with (tmp_path / FILE).open("r+b") as file:
        file.truncate(10)
        assert list(reader.read()) == []
        file.seek(10)
        file.write(whole[10:])
    assert list(reader.read()) == [PHASE]


def test_a_line_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('{"kind":"PhaseChanged","at":1.0,"id":"r1","phase":"measuring","seconds":5.0}\n')
    assert list(LiveReader(tmp_path).read()) == [PHASE]


def test_where_nothing_was_written_nothing_is_read(tmp_path: Path) -> None:
    assert list(LiveReader(tmp_path).read()) == []
