"""What is kept of a run on many hosts comes back as it was."""

from __future__ import annotations

from pathlib import Path

from app.core.session.multihost_names import joint_hosts
from app.features.fleet.multihost.common_interval import CommonInterval
from app.features.fleet.multihost.figures import IoCounts, sum_hosts
from app.features.fleet.multihost.messages import IntervalMessage
from app.features.fleet.multihost.record import (
    DOCUMENT,
    IN_WINDOW,
    LOST,
    HostRecord,
    JointFolder,
    JointRecord,
    joint_records,
)
from tests.core.fio.documents import histogram_of

HOSTS = ("pear", "plum")
WINDOW = CommonInterval(begin=100.0, end=101.0, hosts=HOSTS, outside={})


def ticks(folder: JointFolder, host: str, latency: int, ios: int) -> None:
    """Eight intervals of a quarter of a second from 99.5 on."""
    moved = IoCounts(ios=ios, bytes=ios * 4096, histogram=histogram_of([latency] * ios))
    for number in range(8):
        begin = 99.5 + number / 4
        tick = IntervalMessage(monotonic=5.0, seconds=0.25, measuring=True, sides={"read": moved})
        folder.add(host, (begin, begin + 0.25), tick)


def made(session: Path) -> JointRecord:
    folder = JointFolder(session, HOSTS)
    ticks(folder, "pear", 100, 20)
    ticks(folder, "plum", 110, 30)
    figures = sum_hosts({host: folder.sum_within(host, WINDOW).figures() for host in HOSTS})
    hosts = (
        HostRecord(host="pear", state=IN_WINDOW, late_s=1.5),
        HostRecord(host="plum", state=LOST, reason="the connection closed"),
    )
    record = JointRecord(
        id=folder.id, at=1.7e9, target="sda", job={"rw": "read"}, hosts=hosts, begin=0.5, seconds=1.0, figures=figures
    )
    folder.add_name("other")
    folder.keep(record)
    folder.close()
    return record


def test_only_intervals_within_the_window_are_pooled(tmp_path: Path) -> None:
    figures = made(tmp_path).figures
    assert {host: known.seconds for host, known in figures.hosts.items()} == {"pear": 1.0, "plum": 1.0}
    assert dict(figures.sides["read"].bins) == {100: 80, 110: 120}
    assert figures.sides["read"].iops == 200


def test_it_comes_back_as_it_was(tmp_path: Path) -> None:
    record = made(tmp_path)
    assert joint_records(tmp_path) == ((record,), ())
    assert not record.is_complete


def test_each_has_a_place_of_its_own(tmp_path: Path) -> None:
    assert [made(tmp_path).id for _ in range(3)] == ["j1", "j2", "j3"]
    assert [record.id for record in joint_records(tmp_path)[0]] == ["j1", "j2", "j3"]


def test_all_names_of_hosts_are_known_to_whoever_hides_them(tmp_path: Path) -> None:
    made(tmp_path)
    assert tuple(joint_hosts(tmp_path)) == (*HOSTS, "other")


def test_one_that_was_cut_short_is_named(tmp_path: Path) -> None:
    made(tmp_path)
    (tmp_path / "runs" / "j1" / DOCUMENT).unlink()
    records, problems = joint_records(tmp_path)
    assert (records, len(problems)) == ((), 1)
    assert problems[0].startswith("The multi-host run j1 was interrupted. The results of each host are in ")


def test_one_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    made(tmp_path)
    released = '{"format": 1, "program": "0.2.0"'
    for text in ("{", "[]", f"{released}}}", f'{released}, "id": [], "hosts": 3}}'):
        (tmp_path / "runs" / "j1" / DOCUMENT).write_text(text)
        assert joint_records(tmp_path) == ((), ("Cannot read the multi-host run j1.",))


def test_one_of_a_build_before_the_first_release_is_named(tmp_path: Path) -> None:
    made(tmp_path)
    (tmp_path / "runs" / "j1" / DOCUMENT).write_text('{"format": 1}')
    (problem,) = joint_records(tmp_path)[1]
    assert "The multi-host run j1 was written by a build before 0.2.0" in problem
