"""Machines as files whose counters move: disks, pressure and groups, ten readings a second of a clock of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from app.features.observe.observer import Observation, Observer
from tests.backends.fakes import FakeHost, disk, machine

DISKSTATS, PRESSURE = "/proc/diskstats", "/proc/pressure/io"
MOUNT = "/sys/fs/cgroup"
HYBRID = "/sys/fs/cgroup/unified"


def mountinfo(point: str) -> str:
    """The mounts of a machine with cgroup v2 at `point`."""
    return f"22 1 8:1 / / rw - ext4 /dev/sda1 rw\n30 22 0:26 / {point} rw,nosuid - cgroup2 cgroup2 rw"


def pressure(microseconds: float) -> str:
    """The text of a pressure file."""
    rest = "avg10=0.00 avg60=0.00 avg300=0.00"
    return f"some {rest} total={microseconds:.0f}\nfull {rest} total=0"


class Moving:
    """A machine whose counters `run` moves."""

    FIELDS = (
        *("reads", "merged", "sectors_read", "read_ms", "writes", "write_merged", "sectors_written", "write_ms"),
        *("now", "busy", "waited", "discards", "d_merged", "d_sectors", "d_ms", "flushes", "flush_ms"),
    )

    def __init__(self, *disks: str, mount: str = MOUNT, files: Mapping[str, str] | None = None) -> None:
        self.now = 0.0
        self.counters: dict[str, dict[str, float]] = {name: dict.fromkeys(self.FIELDS, 1000.0) for name in disks}
        self.waits: dict[str, float] = {}
        self.mount = mount
        self.fields = len(self.FIELDS)
        plain = [disk(name) for name in disks if not name.startswith("md")]
        self.host = FakeHost(machine(*plain, {"/proc/self/mountinfo": mountinfo(mount)}, dict(files or {})))
        self.host.reached = replace(self.host.reached, live=False, counted=lambda: self.now)
        self.show()

    def show(self) -> None:
        """Write the counters into the files."""
        rows = [
            f"8 0 {name} {' '.join(str(int(counts[field] + 1e-6)) for field in self.FIELDS[: self.fields])}"
            for name, counts in self.counters.items()
        ]
        self.host.files[DISKSTATS] = "\n".join(rows)
        for group, waited in self.waits.items():
            path = PRESSURE if group == "" else f"{self.mount}/{group}/io.pressure"
            self.host.files[path] = pressure(waited)

    def step(self, disks: Mapping[str, Mapping[str, float]], waits: Mapping[str, float], seconds: float = 0.1) -> None:
        """Let time pass. `disks`: counts to add; `waits`: share of the time that a group waits, "" for the system."""
        self.now += seconds
        for name, counts in disks.items():
            for field, count in counts.items():
                self.counters[name][field] += count
        for group, share in waits.items():
            self.waits[group] = self.waits.get(group, 5e6) + share * seconds * 1e6
        self.show()

    def observer(self, device: str | None) -> Observer:
        """An observer on the clock of this machine."""
        return Observer(self.host, device, clock=lambda: self.now)

    async def observe(
        self,
        device: str | None,
        disks: Mapping[str, Mapping[str, float]] | None = None,
        waits: Mapping[str, float] | None = None,
        *,
        readings: int = 100,
    ) -> Observation:
        """What is seen if the same counts are added before each of the readings."""
        self.step({}, dict.fromkeys(waits or {}, 0.0))
        observer = self.observer(device)
        await observer.open()
        for _ in range(readings):
            self.step(disks or {}, waits or {})
            await observer.take()
        return await closed(observer)


async def closed(observer: Observer) -> Observation:
    """The observation up to now, with a last reading of the pressure."""
    return await observer.run(0, lambda: True)


READER = {"reads": 82, "sectors_read": 82 * 23, "read_ms": 130, "busy": 73, "waited": 360}
"""820 reads a second of 11.5 KiB in 1.6 ms."""

FLUSHER = {
    "writes": 28.4,
    "sectors_written": 14.2 * 16,
    "write_ms": 40,
    "flushes": 14.2,
    "flush_ms": 37,
    "busy": 40,
    "waited": 50,
}
"""142 writes a second of 8 KiB, a flush of 2.6 ms after each, which diskstats counts as a write, too."""
