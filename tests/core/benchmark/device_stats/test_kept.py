"""Members in the session, in its log and in the JSON of the command line."""

from __future__ import annotations

from dataclasses import replace

from app.core.presentation import json_schema
from app.core.session import event_codec
from app.core.session.event_types import MembersSampled
from app.core.session.events import AnyEvent, LiveEvent, RunEnded, RunStarted
from app.core.session.results import DirectionSample, MemberStats, Phase, Sample
from app.core.session.state import RunRecord, Session, fold
from tests.core import sessions

MEMBER = MemberStats(device="sda", role="spare", depth=1, read_iops=5.5, utilisation=0.25, share_of_reads=0.125)


def folded(*events: AnyEvent) -> Session:
    session = Session()
    for event in events:
        session = fold(session, event)
    return session


def ended() -> RunEnded:
    *_, end = sessions.run()
    assert isinstance(end, RunEnded)
    return replace(end, figures=replace(end.figures, members=(MEMBER,)))


def sampled(run: str = "r1") -> LiveEvent:
    return LiveEvent(at=1.0, id=run, progress=MembersSampled(members=(MEMBER,)))


def test_what_they_do_now_is_with_the_running_job() -> None:
    active = folded(sessions.run(ended=False)[0], sampled()).active
    assert active is not None
    assert active.members == (MEMBER,)


def test_another_run_is_not_told_of_them() -> None:
    active = folded(sessions.run(ended=False)[0], sampled("r9")).active
    assert active is not None
    assert active.members == ()


def test_what_is_live_is_not_kept() -> None:
    start = sessions.run(ended=False)[0]
    assert folded(start, sampled()).events == (start,)


def test_a_log_gives_them_back() -> None:
    assert event_codec.decode(event_codec.encode(ended())) == ended()


def test_a_log_of_an_earlier_version_has_none() -> None:
    *_, end = sessions.run()
    assert isinstance(end, RunEnded)
    assert '"members"' not in event_codec.encode(end)
    assert event_codec.decode(event_codec.encode(end)) == end


def test_the_json_of_a_run_has_every_figure() -> None:
    start = sessions.run()[0]
    assert isinstance(start, RunStarted)
    assert json_schema.run(RunRecord(start=start, end=ended()), session="s")["members"] == [
        {
            "device": "sda",
            "label": None,
            "role": "spare",
            "depth": 1,
            "read_iops": 5.5,
            "write_iops": None,
            "read_bytes_per_second": None,
            "write_bytes_per_second": None,
            "utilisation": 0.25,
            "queue": None,
            "share_of_reads": 0.125,
            "share_of_writes": None,
        }
    ]


def sample() -> Sample:
    reads = DirectionSample(iops=1.0, bytes_per_second=1.0, ios=1)
    return Sample(at=0.25, seconds=0.25, phase=Phase.MEASURING, read=reads)


def test_a_streamed_interval_has_its_members() -> None:
    assert json_schema.sample(sample(), (MEMBER,))["members"][0]["device"] == "sda"


def test_a_streamed_interval_without_members_is_as_ever() -> None:
    assert sorted(json_schema.sample(sample())) == ["at", "read", "sync", "trim", "write"]
