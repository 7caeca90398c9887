"""What one interval of many hosts that measure together costs here, by a reading of the same lines and nothing else."""

from __future__ import annotations

import asyncio
import contextlib
import json
import tempfile
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from app.engine.fio.histogram import value_of
from app.engine.joint.conductor import Conductor
from app.engine.joint.reach import HostLine
from app.engine.joint.record import JointFolder
from tests.bench.figures import Figure, ratio_of_medians
from tests.bench.place import Place

_HOSTS = 40
_TICKS = 200
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
        """See `HostLine`."""
        return await self._said.get()

    def say(self, line: str) -> None:
        """See `HostLine`."""
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
        """See `HostLine`."""
        return []

    async def status(self) -> int | None:
        """See `HostLine`."""
        return 0


class Fleet:
    """Such hosts, as a reach."""

    def __init__(self) -> None:
        self.hosts = {f"n{number}": FastHost(f"n{number}") for number in range(_HOSTS)}

    def line(self, host: str) -> AbstractAsyncContextManager[HostLine]:
        """See `Reach`."""
        return self.hosts[host].opened()


def measure(place: Place) -> Iterator[Figure]:
    """Processor time of an interval of forty hosts, by that of its lines read and written as JSON."""
    pairs = [asyncio.run(_run()) for _ in range(3 if place.quick else 7)]
    ours, theirs = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    middle = sorted(ours)[len(ours) // 2]
    yield ratio_of_medians(
        f"an interval of {_HOSTS} hosts / its lines read and written as JSON",
        *(ours, theirs),
        goal=6.0,
        note=f"{middle * 1000:.1f} ms of processor time an interval, with a histogram of {len(_BINS)} buckets each",
    )


async def _run() -> tuple[float, float]:
    """Processor seconds of an interval, and of its lines alone."""
    fleet = Fleet()
    with tempfile.TemporaryDirectory() as folder:
        made = JointFolder(Path(folder), tuple(fleet.hosts))
        with contextlib.closing(made):
            conductor = Conductor(fleet, made, tuple(fleet.hosts))
            begun = time.process_time()
            await conductor.conduct()
            whole = time.process_time() - begun
    lost = [seat.lost for seat in conductor.seats if seat.lost or not seat.whole]
    if lost:
        raise AssertionError(lost[0])
    lines = [line for host in fleet.hosts.values() for line in host.ticks]
    begun = time.process_time()
    for line in lines:
        json.dumps(json.loads(line))
    return whole / _TICKS, (time.process_time() - begun) / _TICKS
