"""The real workbench on a machine of a hundred disks that are made up: idle, or all at work.

`python -m tests.bench.many_disks FOLDER [plain]`, in a terminal. The disks work while FOLDER has a file `busy`. With
`plain` nothing is read of what they do.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

from app.core.benchmark.device_stats.sampler import PATH
from app.core.session.paths import Paths
from app.core.workbench import Workbench
from app.tui.activity_watch import ActivityWatch
from app.tui.app import WorkbenchApp
from backends.system.local import LocalHost
from tests.backends.fakes import FakeHost, disk, machine

DISKS = 100
_SECONDS = 240
"""For how long the disks have work."""


class ManyDisks(FakeHost):
    """Their counters are written down before anything is measured; the kernel's own file is read as well."""

    def __init__(self, busy: Path) -> None:
        super().__init__(machine(*(disk(f"sd{at}", devno=f"8:{at}") for at in range(DISKS))))
        self._busy = busy
        self._local = LocalHost()
        self._at = 0
        self._texts = ["\n".join(_line(number, float(at)) for number in range(DISKS)) for at in range(_SECONDS)]

    async def read(self, path: str) -> str | None:
        """What the kernel would say of them."""
        if path != PATH:
            return await super().read(path)
        await self._local.read(path)
        self._at += self._busy.exists()  # one reading a second
        return self._texts[self._at]


def _line(number: int, at: float) -> str:
    """A disk's counters after so many seconds, in none of which it does as much as in the one before."""
    wave = at + 0.6 * math.sin(2.3 * at + number)
    done = int(wave * (900 + 37 * number))
    took = int(wave * (300 + 7 * number + 90 * math.sin(at)))
    moved = f"{done} 0 {done * 8} {took} {done // 3} 0 {done * 3} {took // 4}"
    return f" 8 {number} sd{number} {moved} 4 {int(wave * 500)} {done * 2}"


async def _nothing(_watch: object) -> None:
    """Reads nothing."""


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    if "plain" in sys.argv:
        ActivityWatch.read = _nothing  # type: ignore[assignment, method-assign]
    paths = Paths(sessions=folder / "s", journal=folder / "j", locks=folder / "l", config=folder / "c")
    bench = Workbench(ManyDisks(folder / "busy"), paths=paths)
    WorkbenchApp(bench).run()
    bench.close()
