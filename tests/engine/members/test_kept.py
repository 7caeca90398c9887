"""Members in the session, in its log and in the JSON of the command line."""

from __future__ import annotations

from dataclasses import replace

from app.engine.session import wire
from app.engine.session.event_values import MembersSampled
from app.engine.session.events import AnyEvent, LiveEvent, RunEnded, RunStarted
from app.engine.session.figures import DirectionSample, MemberFigures, Phase, Sample
from app.engine.session.state import RunRecord, Session, fold
from app.engine.view import schema
from tests.engine import sessions

MEMBER = MemberFigures(device="sda", role="spare", depth=1, read_iops=5.5, utilisation=0.25, share_of_reads=0.125)


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
    assert wire.decode(wire.encode(ended())) == ended()


def test_a_log_of_an_earlier_version_has_none() -> None:
    *_, end = sessions.run()
    assert isinstance(end, RunEnded)
    assert '"members"' not in wire.encode(end)
    assert wire.decode(wire.encode(end)) == end


def test_the_json_of_a_run_has_every_figure() -> None:
    start = sessions.run()[0]
    assert isinstance(start, RunStarted)
    assert schema.run(RunRecord(start=start, end=ended()), session="s")["members"] == [
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
    assert schema.sample(sample(), (MEMBER,))["members"][0]["device"] == "sda"


def test_a_streamed_interval_without_members_is_as_ever() -> None:
    assert sorted(schema.sample(sample())) == ["at", "read", "trim", "write"]
