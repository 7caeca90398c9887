"""What an observation costs: a program that observes all disks and a hundred groups, against one that only sleeps.

`python -m tests.bench.observe FOLDER SECONDS observes|sleeps` prints its processor time in percent of a core and its
memory in KiB.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from app.features.observe.observer import Observer
from app.features.observe.presentation import observation_lines
from app.features.observe.rates import READING_S
from backends.system.local import LocalHost
from backends.system.wrapped import HostWrapper
from tests.bench.figures import Figure, median
from tests.bench.place import Place

_GROUPS = 100


def measure(place: Place) -> Iterator[Figure]:
    """Run both programs at the same time, so that the load of the machine is the same for both."""
    pairs, seconds = (2, 8) if place.quick else (5, 30)
    folder = place.folder / "groups"
    for number in range(_GROUPS):
        group = folder / "system.slice" / f"unit{number}.service"
        group.mkdir(parents=True)
        for path in (group, group.parent):
            (path / "io.pressure").write_text("some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n")
    shares, sizes = [], []
    for _ in range(pairs):
        words = ("-m", "tests.bench.observe", str(folder), str(seconds))
        both = [
            subprocess.Popen(place.python(*words, what), env=place.environment(), stdout=subprocess.PIPE, text=True)
            for what in ("observes", "sleeps")
        ]
        (cpu, size), (idle_cpu, idle_size) = (map(float, program.communicate()[0].split()) for program in both)
        shares.append(cpu - idle_cpu)
        sizes.append((size - idle_size) / 1024)
    yield median(f"CPU of an observation, {_GROUPS} groups", shares, "% of a core", goal=0.5)
    yield median("memory of an observation", sizes, "MiB", goal=5.0)


class GroupsElsewhere(HostWrapper):
    """This machine, with its cgroup v2 mounted at a folder."""

    folder = ""

    async def read(self, path: str) -> str | None:
        """Return the file, and a mount table with the folder."""
        if path == "/proc/self/mountinfo":
            return f"30 22 0:26 / {self.folder} rw - cgroup2 cgroup2 rw"
        return await super().read(path)


async def _observe(folder: Path, seconds: float, *, only_sleeps: bool) -> None:
    host = GroupsElsewhere(LocalHost())
    host.folder = str(folder)
    observer = Observer(host, None)
    if not only_sleeps:
        await observer.open()
    begin, used = time.monotonic(), time.process_time()
    if only_sleeps:
        while time.monotonic() < begin + seconds:
            await asyncio.sleep(READING_S)
    else:
        observation_lines(await observer.run(seconds, lambda: False))
    share = (time.process_time() - used) / (time.monotonic() - begin) * 100
    status = Path("/proc/self/status").read_text()  # ru_maxrss would be that of the program that started this one
    print(share, re.findall(r"VmHWM:\s+(\d+)", status)[0])


if __name__ == "__main__":
    asyncio.run(_observe(Path(sys.argv[1]), float(sys.argv[2]), only_sleeps=sys.argv[3] == "sleeps"))
