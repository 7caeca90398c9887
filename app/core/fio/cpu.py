"""CPU time of fio and of the host while a job runs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from app.core.session.results import CpuStats

if TYPE_CHECKING:
    import psutil  # type: ignore[import-untyped]


class CpuSampler:
    """Measures the CPU use of fio and of the host. Each `tick` returns the CPU use since the previous tick."""

    def __init__(self, pid: int) -> None:
        """`pid`: process id of fio, whose threads do the I/O; 0 if fio does not run on this machine."""
        import psutil  # only when a job runs: the import is slow

        self._psutil = psutil
        self._process: psutil.Process | None = None
        if pid > 0:
            try:
                self._process = psutil.Process(pid)
            except (psutil.Error, OSError):
                self._process = None
        self._last = self._mark = self._now()

    def begin(self) -> None:
        """Start the period that `total` reports."""
        self._last = self._mark = self._now()

    def tick(self) -> CpuStats:
        """Return the CPU use of fio and of the host since the last tick."""
        before, self._last = self._last, self._now()
        return _shares(before, self._last)

    def total(self) -> CpuStats:
        """Return the CPU use of fio and of the host from `begin` to the last tick."""
        return _shares(self._mark, self._last)

    def _now(self) -> tuple[float, float | None, float, float]:
        """Return the clock, fio's CPU seconds, and the host's busy and total CPU seconds."""
        used: float | None = None
        if self._process is not None:
            try:
                times = self._process.cpu_times()
                used = times.user + times.system
            except (self._psutil.Error, OSError):
                used = None
        try:
            host = self._psutil.cpu_times()
        except (self._psutil.Error, OSError):
            return time.monotonic(), used, 0.0, 0.0
        # The kernel's user and nice times already include the time of guests.
        parts = host._asdict()
        total = sum(value for key, value in parts.items() if not key.startswith("guest"))
        idle = parts.get("idle", 0.0) + parts.get("iowait", 0.0)
        return time.monotonic(), used, total - idle, total


def _shares(
    before: tuple[float, float | None, float, float], after: tuple[float, float | None, float, float]
) -> CpuStats:
    clock = after[0] - before[0]
    total = after[3] - before[3]
    fio = None
    if clock > 0 and after[1] is not None and before[1] is not None:
        fio = max(0.0, after[1] - before[1]) / clock * 100
    host = max(0.0, after[2] - before[2]) / total * 100 if total > 0 else None
    return CpuStats(fio_percent_of_core=fio, host_percent=host)
