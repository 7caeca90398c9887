"""`raidbench devices` against lsblk, and with twenty disks; version and help."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import time
from collections.abc import Iterator, Sequence

from backends.registry import MachineBackends
from backends.system.recorded import RecordingHost
from tests.backends.fakes import FakeHost, disk, machine
from tests.bench.figures import Figure, median, ratio_of_medians
from tests.bench.place import Place


def measure(place: Place) -> Iterator[Figure]:
    """CPU and wall of the commands; CPU of twenty disks, from a recorded machine."""
    rounds = 3 if place.quick else 11
    folder = str(place.folder / "twenty")
    _twenty(place)
    lsblk = shutil.which("lsblk") or "lsblk"
    programs = {
        "lsblk": (lsblk, "-J", "-b", "-O"),
        "devices": place.raidbench("devices"),
        "devices --json": place.raidbench("devices", "--json"),
        "twenty": place.raidbench("--machine", folder, "devices", "--json"),
        "devices of twenty": place.raidbench("--machine", folder, "devices"),
        "--version": place.raidbench("--version"),
        "--help": place.raidbench("--help"),
    }
    cpu: dict[str, list[float]] = {name: [] for name in programs}
    wall: dict[str, list[float]] = {name: [] for name in programs}
    for number in range(rounds + 1):
        for name, argv in programs.items() if number % 2 else reversed(programs.items()):
            used, clock = _run(place, argv)
            if number:
                cpu[name].append(used)
                wall[name].append(clock)
    for name in ("devices", "devices --json"):
        for words, times in (("CPU", cpu), ("wall", wall)):
            note = f"{statistics.median(times[name]):.3f} s against {statistics.median(times['lsblk']):.3f} s"
            yield ratio_of_medians(f"{name} / lsblk -J -b -O, {words}", times[name], times["lsblk"], note=note)
    yield median("--version, CPU", cpu["--version"], "s", goal=0.04)
    yield median("--help, CPU", cpu["--help"], "s")
    yield median("devices, CPU", cpu["devices"], "s", goal=0.13, note="the disks of this machine")
    yield median("devices with 20 disks, CPU", cpu["devices of twenty"], "s", goal=0.15, note="a recorded machine")
    yield median("devices --json, CPU", cpu["devices --json"], "s", goal=0.15, note="the disks of this machine")
    yield median("devices --json with 20 disks, CPU", cpu["twenty"], "s", goal=0.15, note="a recorded machine")


def _run(place: Place, argv: Sequence[str]) -> tuple[float, float]:
    start = time.monotonic()
    pid = os.posix_spawn(
        argv[0],
        list(argv),
        place.environment(),
        file_actions=[(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)],
    )
    _, status, used = os.wait4(pid, 0)
    if status:
        said = subprocess.run(argv, env=place.environment(), capture_output=True, text=True, check=False)
        raise RuntimeError(f"{argv}: {said.stderr}")
    return used.ru_utime + used.ru_stime, time.monotonic() - start


def _twenty(place: Place) -> None:
    """A recorded machine with twenty hard disks."""
    import asyncio

    names = [f"sd{chr(ord('a') + number)}" for number in range(20)]
    disks = [disk(name, devno=f"8:{16 * number}", device__model="DISK") for number, name in enumerate(names)]
    host = RecordingHost(FakeHost(machine(*disks)))

    async def record() -> None:
        found = MachineBackends.of(host)
        for drive in (await found.probe()).drives:
            await found.read(drive.target)

    asyncio.run(record())
    host.save(place.folder / "twenty")
