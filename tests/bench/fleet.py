"""What many hosts cost here: an interval in which they measure together, and a question that all of them answer."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import resource
import subprocess
import tempfile
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from app.features.fleet.multihost.coordinator import Coordinator
from app.features.fleet.multihost.record import JointFolder
from app.features.fleet.multihost.transport import HostConnection
from backends.fio_buckets import value_of
from tests.bench.figures import Figure, ratio_of_medians
from tests.bench.place import Place

_HOSTS = 40
_TICKS = 200
_MANY = 500
_FEW = 20
_LENGTH_S = 0.001
"""Of an interval as it is told: all of them lie within what the clock allows."""

_BINS = [[value_of(bucket), 40 + bucket % 7] for bucket in range(700, 780)]
"""Of a direction: fio tells some eighty buckets of a busy drive in a second."""


class FastHost:
    """Says all intervals of its run at once."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._said: asyncio.Queue[bytes] = asyncio.Queue()
        self.ticks: list[bytes] = []

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[FastHost]:
        """As a line."""
        self._tell("hello", protocol=1, host=self._name, boot=self._name, version="0")
        self._tell("ready", host=self._name, target="sda", job={}, seconds=1, fio="3.33")
        yield self

    def _tell(self, kind: str, **more: object) -> bytes:
        line = json.dumps({"kind": kind, **more}).encode() + b"\n"
        self._said.put_nowait(line)
        return line

    async def read(self) -> bytes:
        """See `HostConnection`."""
        return await self._said.get()

    def say(self, line: str) -> None:
        """See `HostConnection`."""
        word, _, rest = line.partition(" ")
        if word == "ping":
            self._tell("pong", id=rest, mono=time.monotonic(), wall=time.time())
        elif word == "go":
            asyncio.get_running_loop().call_later(float(rest) - time.time(), self._measure)

    def _measure(self) -> None:
        now = time.monotonic()
        side = {"ios": sum(count for _, count in _BINS), "bytes": 4096 * 3400, "bins": _BINS}
        self.ticks = [
            self._tell(
                "tick", mono=now + number * _LENGTH_S, seconds=_LENGTH_S, phase="measuring", read=side, write=None
            )
            for number in range(_TICKS)
        ]
        self._tell("result", run={"id": "r1", "status": "ok", "session": "/s"})
        self._tell("end", why="done", message="")

    async def complaints(self) -> list[str]:
        """See `HostConnection`."""
        return []

    async def status(self) -> int | None:
        """See `HostConnection`."""
        return 0


class Fleet:
    """Such hosts, as a reach."""

    def __init__(self) -> None:
        self.hosts = {f"n{number}": FastHost(f"n{number}") for number in range(_HOSTS)}

    def line(self, host: str) -> AbstractAsyncContextManager[HostConnection]:
        """See `Reach`."""
        return self.hosts[host].opened()


def measure(place: Place) -> Iterator[Figure]:
    """An interval of forty hosts, by its lines read and written as JSON; then five hundred that are asked."""
    pairs = [asyncio.run(_run()) for _ in range(3 if place.quick else 7)]
    ours, theirs = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    middle = sorted(ours)[len(ours) // 2]
    yield ratio_of_medians(
        f"an interval of {_HOSTS} hosts / its lines read and written as JSON",
        *(ours, theirs),
        goal=6.0,
        note=f"{middle * 1000:.1f} ms of processor time an interval, with a histogram of {len(_BINS)} buckets each",
    )
    yield from _asking(place)


def _asking(place: Place) -> Iterator[Figure]:
    """Processor time of a question to 500 hosts, ssh and all, by that of their answers got one by one; and memory."""
    answer = place.folder / "answer.json"
    answer.write_bytes(
        subprocess.run(place.raidbench("--demo", "check", "--json"), env=place.environment(), stdout=-1).stdout
    )
    (stub := place.folder / "asked" / "ssh").parent.mkdir()
    stub.write_text(f"#!/bin/sh\nexec cat {answer}\n")
    stub.chmod(0o755)
    environment = place.environment(PATH=f"{stub.parent}:{os.environ['PATH']}")

    def asked(number: int) -> resource.struct_rusage:
        words = place.raidbench("check", "--hosts", f"n[1-{number}]", "--json")
        with subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise AssertionError(process.returncode)
        return used

    asked(1)  # code is compiled once
    ours, theirs, few, many = [], [], [], []
    for _ in range(2 if place.quick else 5):
        used = asked(_MANY)
        ours.append(used.ru_utime + used.ru_stime)
        many.append(used.ru_maxrss)
        few.append(asked(_FEW).ru_maxrss)
        before = sum(os.times()[:4])
        for _ in range(_MANY):
            json.loads(subprocess.run((str(stub),), stdout=subprocess.PIPE, check=True).stdout)
        theirs.append(sum(os.times()[:4]) - before)
    middle = sorted(ours)[len(ours) // 2]
    yield ratio_of_medians(
        f"check of {_MANY} hosts / their answers started and read one by one",
        *(ours, theirs),
        goal=6.0,
        note=f"{1000 * middle / _MANY:.1f} ms of processor time a host, {answer.stat().st_size} bytes each",
    )
    yield ratio_of_medians(
        f"memory for {_MANY} hosts / for {_FEW}", many, few, goal=2.0, note=f"{max(many) / 1024:.0f} MiB at the most"
    )


async def _run() -> tuple[float, float]:
    """Processor seconds of an interval, and of its lines alone."""
    fleet = Fleet()
    with tempfile.TemporaryDirectory() as folder:
        made = JointFolder(Path(folder), tuple(fleet.hosts))
        with contextlib.closing(made):
            coordinator = Coordinator(fleet, made, tuple(fleet.hosts))
            begun = time.process_time()
            await coordinator.run()
            whole = time.process_time() - begun
    lost = [peer.lost for peer in coordinator.peers if peer.lost or not peer.is_complete]
    if lost:
        raise AssertionError(lost[0])
    lines = [line for host in fleet.hosts.values() for line in host.ticks]
    begun = time.process_time()
    for line in lines:
        json.dumps(json.loads(line))
    return whole / _TICKS, (time.process_time() - begun) / _TICKS
