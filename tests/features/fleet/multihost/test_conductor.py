"""Many hosts at once, by lines in memory: who is late, lost, silent or lies is named, and the others are measured."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from app.features.fleet.multihost.clock_sync import LEAST_LEAD_S
from app.features.fleet.multihost.coordinator import Coordinator, MultiHostTimeouts
from app.features.fleet.multihost.record import IN_WINDOW, LOST, NEVER, OUTSIDE, JointFolder, JointRecord
from app.features.fleet.multihost.result import joint_record
from app.features.fleet.multihost.transport import HostConnection
from tests.backends.passing import counted

PATIENCE = MultiHostTimeouts(hello=1.0, silence=0.6, ping=0.05, burst=0.02, beyond=1.6, farewell=0.5)
TICK = 0.05
MIDDLE = LEAST_LEAD_S + 1.51
"""When something is done in the middle of a run, by the time since it was asked for."""
MONOTONIC, WALL = 5000.0, 9.0
"""By so much a host's clocks are ahead of ours."""


def now() -> float:
    """Seconds of the loop, which pass only while all wait: a busy machine makes nobody late."""
    return asyncio.get_running_loop().time()


class HostDouble:
    """A host that measures at once, and does what it is told to do wrong."""

    def __init__(self, name: str, *, ticks: int = 20, ios: int = 100, **wrong: Any) -> None:
        self.name, self.ticks, self.ios, self.wrong = name, ticks, ios, wrong
        self.words: list[str] = []
        self.closed = False
        self._said: asyncio.Queue[bytes] = asyncio.Queue()
        self._run: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[HostDouble]:
        self.tell(**self.wrong.get("noise", {}))
        if "before" in self.wrong:
            self._said.put_nowait(self.wrong["before"])
        if not self.wrong.get("mute"):
            seconds = self.ticks * TICK
            self.tell("hello", protocol=self.wrong.get("protocol", 1), host=self.name, boot=self.name, version="0.1")
            more = {"job": {}, "seconds": seconds, "fio": "3.33", "shared": self.wrong.get("shared", [])}
            self.tell("ready", host=self.wrong.get("claims", self.name), target="sda", **more)
        try:
            yield self
        finally:
            self.closed = True
            if self._run is not None:
                self._run.cancel()

    def tell(self, kind: str = "", **more: Any) -> None:
        if kind:
            self._said.put_nowait(json.dumps({"kind": kind, **more}).encode() + b"\n")

    async def read(self) -> bytes:
        return await self._said.get()

    def say(self, line: str) -> None:
        self.words.append(line)
        word, _, rest = line.partition(" ")
        if word == "ping" and not self.wrong.get("deaf"):
            self.tell("pong", id=rest, mono=now() + MONOTONIC, wall=now() + WALL)
        elif word == "go":
            self._run = asyncio.create_task(self._measure(float(rest) - WALL))
        elif word == "bye":
            if self._run is not None:
                self._run.cancel()
            self._end("stopped")

    async def complaints(self) -> list[str]:
        return ["Connection to host closed."]

    async def status(self) -> int | None:
        return 255

    async def _measure(self, at: float) -> None:
        at += self.wrong.get("late", 0.0)
        for number in range(1, self.ticks + 1):
            await asyncio.sleep(max(0.0, at + number * TICK - now()))
            if number == self.wrong.get("dies"):
                self._said.put_nowait(b"")
                return
            if number == self.wrong.get("freezes"):
                self.wrong["deaf"] = True
                return
            if number == self.wrong.get("says_at"):
                self._said.put_nowait(self.wrong["says"])
            if number == self.wrong.get("deaf_at"):
                self.wrong["deaf"] = True
            side = {"ios": self.ios, "bytes": self.ios * 4096, "bins": [[100, self.ios]]}
            if number == self.wrong.get("lies_at"):
                side |= self.wrong["lie"]
            end = at + number * TICK + MONOTONIC + self.wrong.get("clock", 0.0)
            start = {} if "go" not in self.wrong else {"go": self.wrong["go"]}
            for _ in range(2 if number == self.wrong.get("doubles") else 1):
                self.tell("tick", mono=end, seconds=TICK, phase="measuring", read=side, **start)
        if not self.wrong.get("endless"):
            self._end("ok")

    def _end(self, status: str) -> None:
        run = {"id": "r1", "status": status, "session": "/s", **self.wrong.get("totals", {})}
        for _ in range(self.wrong.get("results", 1)):
            self.tell("result", run=run)
        self.tell("end", why=self.wrong.get("why", "done"), message="")


class Table:
    """Doubles as a reach."""

    def __init__(self, *hosts: HostDouble) -> None:
        self.hosts = {host.name: host for host in hosts}
        self.took = 0.0
        """Seconds of the run."""

    def line(self, host: str) -> AbstractAsyncContextManager[HostConnection]:
        return self.hosts[host].opened()

    def run(
        self,
        folder: Path,
        *,
        stagger: float = 0.0,
        then: Callable[[Coordinator], object] | None = None,
        lease: float | None = None,
    ) -> tuple[JointRecord, list[str]]:
        """Return the record of one run, and what was said meanwhile. `then`: called in the middle of it."""
        said: list[str] = []
        made = JointFolder(folder, tuple(self.hosts))

        async def conduct() -> Coordinator:
            coordinator = Coordinator(
                self,
                made,
                tuple(self.hosts),
                stagger_s=stagger,
                timeouts=PATIENCE,
                say=said.append,
                clock=now,
                lease_s=lease,
            )
            if then is not None:
                asyncio.get_running_loop().call_later(MIDDLE, then, coordinator)
            async with asyncio.timeout(30):
                await coordinator.run()
            return coordinator

        coordinator, self.took = counted(conduct)
        record = joint_record(coordinator, made, target="sda", at=1.0, stagger_s=stagger, simulated=False)
        made.close()
        assert all(host.closed for host in self.hosts.values())
        return record, said


def states(record: JointRecord) -> dict[str, str]:
    return {host.host: host.state for host in record.hosts}


def test_all_hosts_are_measured_together(tmp_path: Path) -> None:
    record, said = Table(HostDouble("a"), HostDouble("b", ios=300)).run(tmp_path)
    assert states(record) == {"a": IN_WINDOW, "b": IN_WINDOW}
    assert record.is_complete
    assert said == []
    assert record.figures.sides["read"].iops == pytest.approx(400 / TICK)
    assert record.seconds == pytest.approx(20 * TICK, abs=0.1)
    assert record.begin == pytest.approx(0.0, abs=0.1)
    assert [host.late_s for host in record.hosts] == [None, None]


def test_the_clocks_of_hosts_are_seen_through(tmp_path: Path) -> None:
    record, _ = Table(HostDouble("a")).run(tmp_path)
    assert record.hosts[0].clock_error_s is not None
    assert record.hosts[0].clock_error_s < 0.05


def test_a_late_host_is_named_and_stays_where_there_is_a_window(tmp_path: Path) -> None:
    record, _ = Table(HostDouble("a", ticks=60), HostDouble("b", ticks=60, late=1.2)).run(tmp_path)
    assert states(record) == {"a": IN_WINDOW, "b": IN_WINDOW}
    assert record.hosts[1].late_s == pytest.approx(1.2, abs=0.1)
    assert record.seconds == pytest.approx(60 * TICK - 1.2, abs=0.15)


def test_a_host_that_is_too_late_is_left_outside_and_named(tmp_path: Path) -> None:
    hosts = (HostDouble("a"), HostDouble("b"), HostDouble("c", late=0.8))
    record, _ = Table(*hosts).run(tmp_path)
    assert states(record) == {"a": IN_WINDOW, "b": IN_WINDOW, "c": OUTSIDE}
    assert record.hosts[2].reason.startswith("it began 0.8 s after")
    assert set(record.figures.hosts) == {"a", "b"}


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        pytest.param({"dies": 8}, "host unreachable: Connection to host closed", id="killed"),
        pytest.param({"freezes": 8}, "no message for 0.6 s", id="frozen"),
        pytest.param({"says_at": 8, "says": b"{}\n" * 1_000_000}, "unexpected message: {}", id="a million lines"),
        pytest.param({"says_at": 8, "says": b"x" * (2 << 20)}, "protocol error: line too long", id="endless line"),
        pytest.param({"says_at": 8, "says": b"\x1b]0;x\x07\n"}, "unexpected message", id="escapes"),
        pytest.param(
            {"says_at": 8, "says": b'{"kind":"pong","id":"x9","mono":1,"wall":1}\n'},
            "a ping that was not sent",
            id="made-up pong",
        ),
        pytest.param(
            {"says_at": 8, "says": b'{"kind":"phase","phase":"ramp","host":"a"}\n'}, "another host, a", id="as another"
        ),
        pytest.param(
            {"says_at": 8, "says": b'{"kind":"hello","protocol":1,"host":"b","boot":"","version":""}\n'},
            "two hello messages",
            id="hello twice",
        ),
        pytest.param({"clock": 30.0}, "timestamp out of range", id="ticks of the future"),
        pytest.param({"clock": -30.0}, "timestamp out of range", id="ticks of the past"),
        pytest.param({"endless": True}, "did not end in time", id="without end"),
    ],
)
def test_a_lost_host_is_named_and_the_sum_is_that_of_the_others(
    tmp_path: Path, wrong: dict[str, Any], reason: str
) -> None:
    record, said = Table(HostDouble("a"), HostDouble("b", **wrong)).run(tmp_path)
    assert states(record) == {"a": IN_WINDOW, "b": LOST}
    assert reason in record.hosts[1].reason
    assert record.hosts[1].reason.isprintable()
    assert not record.is_complete
    assert record.figures.sides["read"].iops == pytest.approx(100 / TICK)
    assert set(record.figures.hosts) == {"a"}
    assert [sentence.startswith("b: ") for sentence in said] == [True]


def test_a_flood_is_cut(tmp_path: Path) -> None:
    flood = b'{"kind":"phase","phase":"ramp"}\n' * 2000
    record, _ = Table(HostDouble("a"), HostDouble("b", says_at=5, says=flood)).run(tmp_path)
    assert "protocol error: too much output" in record.hosts[1].reason


@pytest.mark.parametrize(
    ("wrong", "state", "reason"),
    [
        pytest.param({"mute": True}, NEVER, "no message for 1 s", id="mute"),
        pytest.param({"mute": True, "before": b""}, NEVER, "host unreachable", id="unreachable"),
        pytest.param({"protocol": 2}, NEVER, "uses another protocol version", id="another protocol"),
        pytest.param({"mute": True, "before": b"x" * 70_000}, NEVER, "not a raidbench run", id="noise"),
        pytest.param({"claims": "a"}, LOST, "another host, a", id="as another"),
    ],
)
def test_who_never_is_ready_keeps_nobody_waiting(
    tmp_path: Path, wrong: dict[str, Any], state: str, reason: str
) -> None:
    record, said = Table(HostDouble("a"), HostDouble("b", **wrong)).run(tmp_path)
    assert states(record) == {"a": IN_WINDOW, "b": state}
    assert reason in record.hosts[1].reason
    assert len(said) == 1


def test_what_a_login_prints_is_passed_over(tmp_path: Path) -> None:
    noise = b"Welcome!\n\x1b[1m{\n" * 50
    record, _ = Table(HostDouble("a", before=noise)).run(tmp_path)
    assert states(record) == {"a": IN_WINDOW}


def test_hosts_start_one_after_another(tmp_path: Path) -> None:
    hosts = (HostDouble("a", ticks=30), HostDouble("b", ticks=30))
    record, _ = Table(*hosts).run(tmp_path, stagger=0.3)
    moments = [float(word.split()[1]) for host in hosts for word in host.words if word.startswith("go")]
    assert moments[1] - moments[0] == pytest.approx(0.3, abs=0.02)
    assert record.seconds == pytest.approx(30 * TICK - 0.3, abs=0.15)
    assert [host.late_s for host in record.hosts] == [None, None]


def test_all_stop_at_once_and_what_they_did_is_kept(tmp_path: Path) -> None:
    hosts = (HostDouble("a", ticks=4000), HostDouble("b", ticks=4000))
    table = Table(*hosts)
    record, _ = table.run(tmp_path, then=lambda coordinator: coordinator.stop())
    assert table.took < MIDDLE + 0.1
    assert [host.words[-1] for host in hosts] == ["bye", "bye"]
    assert record.stopped
    assert states(record) == {"a": IN_WINDOW, "b": IN_WINDOW}


def test_who_does_not_stop_is_not_waited_for(tmp_path: Path) -> None:
    deaf = HostDouble("b", ticks=4000)
    deaf.say = lambda line: None if line == "bye" else HostDouble.say(deaf, line)  # type: ignore[method-assign]
    table = Table(HostDouble("a", ticks=4000), deaf)
    record, _ = table.run(tmp_path, then=lambda coordinator: coordinator.stop())
    assert table.took < MIDDLE + PATIENCE.farewell + 0.1
    assert states(record) == {"a": IN_WINDOW, "b": LOST}


def test_two_names_of_one_machine_are_told(tmp_path: Path) -> None:
    first, second = HostDouble("a"), HostDouble("b")
    table = Table(first, second)
    table.hosts = {"a": first, "b": second}
    second.name = first.name
    _, said = table.run(tmp_path)
    assert said == ["b and a run on the same kernel. Shared disks and CPUs count twice."]


def test_pings_keep_every_lease(tmp_path: Path) -> None:
    host = HostDouble("a", ticks=20)
    Table(host).run(tmp_path)
    assert len([word for word in host.words if word.startswith("ping")]) >= 8 + 10


def test_hosts_with_one_scratch_file_measure_none_and_the_others_are_measured(tmp_path: Path) -> None:
    same = ["nfs4 server:/export/scratch"]
    record, said = Table(
        HostDouble("a", shared=same), HostDouble("b", shared=["nfs4 other:/x/scratch"]), HostDouble("c", shared=same)
    ).run(tmp_path)
    assert states(record) == {"a": LOST, "b": IN_WINDOW, "c": LOST}
    assert said == [
        "a: it uses the same scratch file as c on a shared filesystem (nfs4 server:/export/scratch).",
        "c: it uses the same scratch file as a on a shared filesystem (nfs4 server:/export/scratch).",
    ]
    assert record.figures.sides["read"].iops == pytest.approx(100 / TICK)


def test_more_than_are_reached_at_a_time_are_measured_together(tmp_path: Path) -> None:
    hosts = [HostDouble(f"n{number}", ios=10 * number, ticks=40) for number in range(1, 41)]
    record, said = Table(*hosts).run(tmp_path)
    assert (set(states(record).values()), said) == ({IN_WINDOW}, [])
    assert record.figures.sides["read"].iops == pytest.approx(10 * 820 / TICK)
