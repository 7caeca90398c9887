"""Starts a simulated fio: turns a job file and the host's state into a process or a refusal."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence
from dataclasses import replace

from backends.host import Completed
from backends.simulator.caches import CacheCounts, fullness
from backends.simulator.diskstats import DiskCounts, shares
from backends.simulator.fio.job import FioJob, parse_jobs, size
from backends.simulator.fio.process import SimulatedFio
from backends.simulator.fio.target import SimulatedTarget
from backends.simulator.hung_disk import answer_delay
from backends.simulator.kernel.tree import SimulatedSysfs
from backends.simulator.queueing_model import IoPattern, PredictedPerformance, WorkloadTarget, predict
from backends.simulator.rack import Rack
from backends.simulator.zfs_model import pool_threads


class LoadedDisk:
    """Predicted speed of a disk under load, which depends on the current contents of its cache."""

    def __init__(self, rack: Rack, disk: str, layout: WorkloadTarget, work: IoPattern) -> None:
        self._rack, self._disk, self._work = rack, disk, work
        self._predict(layout)

    def _predict(self, layout: WorkloadTarget) -> None:
        self.layout = layout
        self.expected = predict(layout, self._work)
        self.disks = shares(self._disk, self._rack.members, layout, self._work, self.expected)
        self._fullness = fullness(layout, self._work)

    def update(self, layout: WorkloadTarget) -> bool:
        """Predict the speed again if the contents of the cache have changed enough to affect it. Return True if so."""
        self.layout = layout
        if fullness(layout, self._work) == self._fullness:
            return False
        self._predict(layout)
        return True


STILL = (24.0, 26.1)
"""Start and end of a pause of a rebuilding array, in seconds since fio started. During the pause, a disk retries a bad
block."""

_NO_LIMIT = 1 << 20
"""Queue size of a device that has no request queue of its own."""

_MOUNTED = "fio: {path} appears mounted, and 'allow_mounted_write' isn't set. Aborting.\n"
_NO_FILE = "fio: pid=0, err=2/file:filesetup.c:790, func=open({path}), error=No such file or directory\n"
_NO_CREATE = "fio: file creation disallowed by allow_file_create=0\n"
_NO_TRIM = "fio: pid=0, err=25/file:ioengines.c:399, func=td_io_queue, error=Inappropriate ioctl for device\n"
_READ_ONLY = "fio: job has write or trim bit set, but fio is in read-only mode\n"


def start_fio(
    rack: Rack,
    linux: SimulatedSysfs,
    text: str | None,
    args: Sequence[str],
    *,
    speed: float,
    counts: DiskCounts,
    ended: Callable[[], None] = lambda: None,
    worn: Callable[[int], None] = lambda number: None,
) -> SimulatedFio:
    """Start fio and return its process. `text`: content of the job file, or None if the file cannot be read.

    At once, contents of devices that the jobs will write are removed from `rack`, and scratch files are added.

    `counts` collects the I/O to the disks. `ended` is called at the end of fio. `worn` is called with the number of a
    controller when its battery fails.
    """
    targets: list[SimulatedTarget] = []
    for number, job in enumerate(parse_jobs(text, args) if text is not None else ()):
        target = _target(rack, linux, job, number, counts, worn)
        if isinstance(target, Completed):
            return _failing_fio(target)
        targets.append(target)
    if not targets:
        return _failing_fio(Completed(returncode=1, stdout="No job(s) defined\n", stderr=""))
    _share_devices(rack, linux, targets)
    return SimulatedFio(targets, speed=speed, ended=ended, clock=rack.clock)


def _share_devices(rack: Rack, linux: SimulatedSysfs, targets: Sequence[SimulatedTarget]) -> None:
    """Divide the speed of a device among the sections that use it at the same time.

    A section's speed is what the device would reach if all requests in flight were of the section's kind, times the
    section's share of these requests.
    """
    phase = 0
    concurrent: dict[tuple[int, str], list[tuple[SimulatedTarget, IoPattern, WorkloadTarget]]] = {}
    for number, target in enumerate(targets):
        phase += bool(number and target.job.waits)
        layout = rack.layout(target.device, target.job.filename)
        if layout is not None:
            work = target.job.workload(*_queue(linux, target.device, target.job, layout))
            concurrent.setdefault((phase, target.device), []).append((target, replace(work, rate_iops=None), layout))
    for group in concurrent.values():
        in_flight = sum(work.depth * work.jobs for _, work, _ in group)
        for target, work, layout in group if len(group) > 1 else ():
            requests = work.depth * work.jobs
            together = _rate(predict(layout, replace(work, depth=max(1, in_flight // work.jobs))))
            target.share = min(1.0, together * requests / in_flight / max(_rate(target.expected), 1e-9))


def _rate(expected: PredictedPerformance) -> float:
    """Return the predicted IOPS of reads and writes together."""
    return sum(direction.iops for direction in (expected.read, expected.write) if direction is not None)


def _target(
    rack: Rack, linux: SimulatedSysfs, job: FioJob, number: int, counts: DiskCounts, worn: Callable[[int], None]
) -> SimulatedTarget | Completed:
    """Return a section of the job file with its device, or the output with which fio refuses the section."""
    path = job.filename
    disk = linux.names.get(path) or _disk_under(rack, path)
    failure = _refusal(rack, linux, job, path)
    layout = rack.layout(disk, path)
    if failure is not None or layout is None:
        return failure or Completed(returncode=1, stdout="", stderr=_NO_FILE.format(path=path))
    work = job.workload(*_queue(linux, disk, job, layout))
    cache_counts = _cache_counts(rack, disk, layout, counts)
    load = LoadedDisk(rack, disk, layout if cache_counts is None else cache_counts.apply_to(layout), work)
    pair = rack.volume_at(disk)
    if job.writes and path in linux.nodes:
        rack.overwrite(disk)
    file_bytes = _pass_bytes(linux, job, disk) if job.runtime is None else None
    if file_bytes is not None and path not in linux.nodes:
        rack.scratch[path] = max(file_bytes, rack.scratch.get(path, 0))
        if (pool_and_dataset := rack.dataset(disk)) is not None:
            rack.records[path] = pool_and_dataset[0].record_bytes(disk)

    def done(moved: tuple[int, int, int, int], seconds: float) -> None:
        counts.add(load.disks, moved, seconds)
        if cache_counts is not None:
            cache_counts.add_job(load.layout, work, moved, seconds)
            cache_counts.at = rack.now()
            if load.update(cache_counts.apply_to(layout)):
                target.expected = load.expected
        card = None if pair is None else pair[0]
        if card is None or card.fails_after is None:
            return
        card.fails_after -= seconds
        if card.fails_after <= 0:
            worn(card.number)
            target.expected = predict(rack.layout(disk) or layout, work)

    target = SimulatedTarget(
        job,
        load.expected,
        device=disk,
        amount=job.amount(_pass_bytes(linux, job, disk)),
        seed=f"{rack.seed}/{rack.runs}" + (f"/{number}" if number else ""),
        done=done,
        still=STILL if layout.rebuild_share and layout.degraded else None,
        held=answer_delay(rack, disk),
    )
    return target


def _cache_counts(rack: Rack, disk: str, layout: WorkloadTarget, counts: DiskCounts) -> CacheCounts | None:
    """Return the cache counters that all jobs on a device share, or None if it has no cache."""
    if layout.cache is None and layout.pool is None:
        return None
    return counts.caches.setdefault(disk, replace(rack.cache_counts(disk), at=rack.now()))


def _pass_bytes(linux: SimulatedSysfs, job: FioJob, disk: str) -> int:
    """Return the bytes that one pass of the job covers: its `size`, or the size of the disk for `100%`."""
    size_option = job.text("size", "100%")
    return int(linux.files.get(f"/sys/block/{disk}/size", "0")) * 512 if size_option == "100%" else size(size_option)


def _queue(linux: SimulatedSysfs, disk: str, job: FioJob, layout: WorkloadTarget) -> tuple[str, int, int]:
    """Return the scheduler, queue size and read-ahead in KiB of a disk."""
    base = f"/sys/block/{disk}/queue"
    if layout.pool is not None:
        return "none", pool_threads(layout.pool, job.text("ioengine"), job.numjobs), 128
    if linux.files.get(f"{base}/scheduler") == "none":  # the device has no request queue of its own
        return "none", _NO_LIMIT, int(linux.files.get(f"{base}/read_ahead_kb", "128"))
    tokens = linux.files.get(f"{base}/scheduler", "[none]").split()
    scheduler = next((word.strip("[]") for word in tokens if word.startswith("[")), "none")
    tags = int(linux.files.get(f"{base}/nr_requests", "1024"))
    return scheduler, tags, int(linux.files.get(f"{base}/read_ahead_kb", "128"))


def _disk_under(rack: Rack, path: str) -> str:
    """Return the disk that a file is on: the one with the longest matching mount point, or the system disk."""
    best, disk = "", "sda"
    for name, content in rack.contents():
        mount = content.mount
        if mount is not None and len(mount) > len(best) and posixpath.join(mount, "") in posixpath.join(path, ""):
            best, disk = mount, name
    return disk


def _refusal(rack: Rack, linux: SimulatedSysfs, job: FioJob, path: str) -> Completed | None:
    """Return fio's refusal of a job, or None."""
    if job.readonly and job.writes:
        return Completed(returncode=1, stdout="", stderr=_READ_ONLY)
    if path in linux.nodes:
        used = any(
            f" /dev/{path.removeprefix('/dev/')} " in row for row in linux.files["/proc/self/mountinfo"].split("\n")
        )
        failure = Completed(returncode=0, stdout="", stderr=_MOUNTED.format(path=path))
        return failure if job.writes and used else None
    if path.startswith("/dev/"):
        return Completed(returncode=1, stdout=_NO_FILE.format(path=path), stderr="")
    if job.trims:
        return Completed(returncode=1, stdout="", stderr=_NO_TRIM)
    if path not in rack.scratch and not job.may_create:
        return Completed(returncode=1, stdout="", stderr=_NO_CREATE)
    return None


def _failing_fio(failure: Completed) -> SimulatedFio:
    return SimulatedFio((), speed=1.0, failure=failure)
