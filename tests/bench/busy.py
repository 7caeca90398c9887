"""Members that are made up: disks that are always at work, in the kernel's own file of counters."""

from __future__ import annotations

import time
from collections.abc import Sequence

from app.core.benchmark.device_stats import Member, MemberSampler
from app.core.benchmark.device_stats.sampler import PATH
from app.core.benchmark.runner import BenchmarkRunner
from app.core.workbench import Workbench
from backends.host import Host
from backends.system.wrapped import HostWrapper


def name(number: int) -> str:
    """Of a disk that no machine has."""
    return f"xyz{number}"


def lines(count: int, at: float) -> str:
    """Counters of disks that differ a little, after `at` seconds."""
    made = []
    for number in range(count):
        done = int(at * (9000 + 37 * number))
        moved = f"{done} 0 {done * 8} 7 {done // 3} 0 {done * 3} 7"
        made.append(f" 259 {number} {name(number)} {moved} 4 {int(at * 930)} {done * 2}")
    return "\n".join(made)


class Busy(HostWrapper):
    """Reads what is there, and adds so many disks to it."""

    def __init__(self, inner: Host, count: int) -> None:
        super().__init__(inner)
        self._count = count

    async def read(self, path: str) -> str | None:
        """As the wrapped host, with more disks."""
        text = await super().read(path)
        return f"{text}\n{lines(self._count, time.monotonic())}" if path == PATH else text


def make_up_members(bench: Workbench, count: int) -> None:
    """From now on every target is an array of so many disks."""
    members = [Member(device=name(number), label="MADE UP 7.68TB") for number in range(count)]
    plain = bench.jobs._measurer

    async def meter(_disks: Sequence[str], _files: Sequence[str]) -> MemberSampler:
        return MemberSampler(Busy(bench.host, count), members)

    def measurer(*words: object, **named: object) -> BenchmarkRunner:
        made = plain(*words, **named)  # type: ignore[arg-type]
        made._sampler = meter  # type: ignore[assignment, method-assign]
        return made

    bench.jobs._measurer = measurer  # type: ignore[method-assign]
