"""Collector of the facts of a run from the inventory, the session and small files of the kernel.

This module runs no vendor tool. While a job is measured, it reads only the temperatures of the drives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from app.core.benchmark.conditions.facts import ARC, Condition, Geometry, JobLocation, RunFacts, UpstreamCache
from app.core.benchmark.device_stats.caches import ARCSTATS
from app.core.fio.job import Job
from app.core.fio.sizes import parse_size
from app.core.session.events import ChangeEnded, PreconditionEnded, RunEnded
from app.core.session.results import RunStatus
from app.core.session.state import Session
from backends.errors import InvalidValueError
from backends.host import Host
from backends.model import Array, Controller, Drive, Inventory, Media, Task
from backends.raid import PARITY_IN_SPANS
from backends.settings import Risk
from backends.text import clean
from backends.topology import kernel_name
from backends.topology.stacking import read_cache

GOVERNORS = "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"
"""Files with the frequency governor of each CPU (Documentation/admin-guide/pm/cpufreq.rst)."""

THROTTLES = "/sys/devices/system/cpu/cpu*/thermal_throttle/core_throttle_count"
"""Files that count how often each core was throttled because of its temperature since boot (Intel only)."""

_TEMPERATURES = ("device/hwmon*/temp1_input", "device/hwmon/hwmon*/temp1_input")
"""Temperature files of NVMe drives (drivers/nvme/host/hwmon.c) and SATA drives (drivers/hwmon/drivetemp.c).

In thousandths of a degree Celsius.
"""

_BIO_BASED = ("md", "dm-", "bcache")
"""Prefixes of devices without a request queue: they pass each request on at once, so their queue files mean nothing."""

_DEEPEST = 4
"""Maximum number of stacked md, dm and bcache devices to follow."""

_ZFS_VERSION = "/sys/module/zfs/version"
_DIRECT_SINCE = (2, 3)
"""First version of OpenZFS whose direct I/O bypasses the ARC (zfsprops(7), `direct`)."""

_SEQUENTIAL_WRITE = "write"
_TRIMS = ("trim", "randtrim")
"""fio patterns that leave blocks unwritten. `trimwrite` is not among them, because it writes each trimmed block."""


async def gather(host: Host, location: JobLocation, session: Session) -> RunFacts:
    """Return the facts that are known before a run. The device's condition is from the last scan of the devices."""
    inventory = session.inventory
    devices = inventory.at(location.device) if location.device is not None else ()
    arrays = [device for device in devices if isinstance(device, Array)]
    drives = [device for device in devices if isinstance(device, Drive)]
    array = arrays[0] if arrays else None
    members = _members(inventory, array)
    controller = _controller(inventory, devices)
    queue_limit, source = await _queue_limit(host, location.device, location.job)
    disk = None if location.device is None else kernel_name(location.device)
    on_zfs = location.scratch and disk is None and inventory.holding(location.name) is not None
    upstream = await upstream_cache_of(host, disk, on_zfs=on_zfs)
    cache_controller = None if upstream is not None else controller
    return RunFacts(
        job=location.job,
        name=location.name,
        scratch=location.scratch,
        area_bytes=location.area_bytes,
        written=_written(session, location, devices),
        content=not location.whole_disk or not devices or any(_has_content(device) for device in devices),
        media=_media(drives, members),
        physical_block=max((drive.physical_block or 0 for drive in (*drives, *members)), default=0) or None,
        array=None if array is None else geometry(array),
        cache_bytes=None if cache_controller is None else cache_controller.cache_bytes,
        protection=None if cache_controller is None else cache_controller.protection,
        upstream_cache=upstream,
        memory_bytes=None if session.machine is None else session.machine.memory_bytes,
        cores=0 if session.machine is None else session.machine.cores,
        governors=await governors(host),
        queue_limit=queue_limit,
        queue_limit_source=source,
        before=Condition(tasks=tasks_of(array, controller)),
    )


def tasks_of(array: Array | None, controller: Controller | None) -> tuple[Task, ...]:
    """Return the background tasks of an array and of its controller, one of each kind."""
    both = (*(array.tasks if array is not None else ()), *(controller.tasks if controller is not None else ()))
    return tuple({task.kind: task for task in reversed(both)}.values())[::-1]


def geometry(array: Array) -> Geometry:
    """Return the layout of an array.

    If the array has several spans, return the layout of one span, because a stripe is within one span.
    """
    data = array.data_drives
    if array.level in PARITY_IN_SPANS and data:
        data = data // array.spans if array.spans and data % array.spans == 0 else None
    return Geometry(level=array.level, state=array.state, strip_bytes=array.strip_bytes, data_drives=data)


def _members(inventory: Inventory, array: Array | None) -> list[Drive]:
    targets = set(array.members) if array is not None else set()
    return [drive for drive in inventory.drives if drive.target in targets]


def _controller(inventory: Inventory, devices: Sequence[Array | Drive]) -> Controller | None:
    owners = [device.controller for device in devices if device.controller is not None]
    return next((controller for controller in inventory.controllers if controller.target in owners), None)


def _has_content(device: Array | Drive) -> bool:
    return bool(device.uses) or (isinstance(device, Drive) and bool(device.signatures or device.partitions))


def _media(drives: Sequence[Drive], members: Sequence[Drive]) -> Media:
    """Return the media of the device if known, else that of its members if they are all of one kind."""
    known_media = [drive.media for drive in drives if drive.media is not Media.UNKNOWN]
    kinds = {drive.media for drive in members}
    return known_media[0] if known_media else kinds.pop() if len(kinds) == 1 else Media.UNKNOWN


async def governors(host: Host) -> dict[str, int]:
    """Return the number of CPUs by frequency governor; an empty dict if the host has no governors."""
    texts = await host.read_many(await host.list(GOVERNORS))
    return dict(Counter(clean(text, 40) for text in texts.values() if text))


async def throttles(host: Host) -> int:
    """Return how often the cores were throttled since boot, in total; 0 if the kernel does not count it."""
    texts = await host.read_many(await host.list(THROTTLES))
    return sum(int(text) for text in texts.values() if text.isdigit())


async def too_warm(host: Host, device: str | None) -> tuple[str, ...]:
    """Return a clause for each drive below `device` whose temperature has reached the drive's warning threshold."""
    names = await disks_below(host, kernel_name(device)) if device is not None else ()
    clauses = []
    for name in names:
        for pattern in _TEMPERATURES:
            for path in await host.list(f"/sys/block/{name}/{pattern}"):
                now = _number(await host.read(path))
                limit = _number(await host.read(path.replace("_input", "_max")))
                if now is not None and limit and now >= limit:
                    clauses.append(f"{name} has {now // 1000} °C (warns at {limit // 1000} °C)")
    return tuple(dict.fromkeys(clauses))


async def _queue_limit(host: Host, device: str | None, job: Job) -> tuple[int | None, str]:
    """Return how many requests a disk, or its lower disks together, accept at a time, and the source of that limit."""
    if device is None:
        return None, ""
    name = kernel_name(device)
    disks = await disks_below(host, name)
    counts = [await _queue(host, disk, job.numjobs) for disk in disks]
    known_counts = [count for count, _ in counts if count is not None]
    if not known_counts or len(known_counts) < len(counts):
        return None, ""
    if disks == (name,):
        return counts[0]
    return sum(known_counts), f"its {len(disks)} disks together"


async def disks_below(host: Host, name: str, deep: int = 0) -> tuple[str, ...]:
    """Return the lower disks of a device that have request queues: the device itself unless it is md, dm or bcache."""
    if not name.startswith(_BIO_BASED) or deep > _DEEPEST:
        return (name,)
    disks: list[str] = []
    for path in await host.list(f"/sys/block/{name}/slaves/*"):
        folder = await host.link(path) or path
        if await host.read(f"{folder}/partition") is not None:
            folder = folder.rpartition("/")[0]
        disks += await disks_below(host, folder.rpartition("/")[2], deep + 1)
    return tuple(dict.fromkeys(disks))


async def _queue(host: Host, name: str, jobs: int) -> tuple[int | None, str]:
    """Return how many requests a disk accepts from `jobs` jobs at a time, and the name of the file with that limit.

    `nr_requests` is the limit of each hardware queue, and each job uses one queue at a time. SCSI also has a limit for
    the device (`queue_depth`).
    """
    base = f"/sys/block/{name}"
    texts = await host.read_many((f"{base}/queue/nr_requests", f"{base}/device/queue_depth"))
    requests = _number(texts.get(f"{base}/queue/nr_requests"))
    depth = _number(texts.get(f"{base}/device/queue_depth"))
    queues = len({path.split("/")[5] for path in await host.list(f"{base}/mq/*") if len(path.split("/")) > 5}) or 1
    limits = [(requests * min(queues, jobs), "nr_requests")] if requests else []
    limits += [(depth, "queue_depth")] if depth else []
    return min(limits) if limits else (None, "")


def _number(text: str | None) -> int | None:
    text = (text or "").strip()
    return int(text) if text.lstrip("-").isdigit() and text.isascii() else None


async def upstream_cache_of(host: Host, disk: str | None, *, on_zfs: bool) -> UpstreamCache | None:
    """Return the cache of the kernel in front of a disk, or None.

    `disk`: its kernel name. `on_zfs`: whether the target is a file on a ZFS dataset.
    """
    if on_zfs or (disk or "").startswith("zd"):
        return await _arc(host)
    cache = None if disk is None else await read_cache(host, disk)
    return None if cache is None else UpstreamCache(kind=cache.kind, size_bytes=cache.size_bytes)


async def _arc(host: Host) -> UpstreamCache:
    texts = await host.read_many((ARCSTATS, _ZFS_VERSION))
    rows = [line.split() for line in texts.get(ARCSTATS, "").splitlines()]
    most = next((int(row[2]) for row in rows if len(row) == 3 and row[0] == "c_max" and row[2].isdigit()), None)
    version = clean(texts.get(_ZFS_VERSION, ""), 40).split("-")[0].split(".")
    version_numbers = tuple(int(part) for part in version[:2] if part.isdigit())
    return UpstreamCache(kind=ARC, size_bytes=most, is_bypassed=version_numbers >= _DIRECT_SINCE)


def _written(session: Session, location: JobLocation, devices: Sequence[Array | Drive]) -> bool | None:
    """Return whether all blocks of the job's area are written; None if unknown, as other programs may write too.

    True after a sequential write over the complete area; False after a trim, a format or the creation of the array.
    """
    if location.scratch:
        return not location.holes
    device, area = location.device, location.area_bytes
    if device is None or not location.whole_disk or not area:
        return None
    targets = [device.target for device in devices]
    is_written: bool | None = None
    for event in session.events:
        match event:
            case RunEnded(id=run_id):
                if _trimmed(session, run_id, device):
                    is_written = False
                elif _covers(session, run_id, device, area):
                    is_written = True
            case PreconditionEnded(written=done):
                if done.device == device and done.filled_bytes >= area:
                    is_written = True
            case ChangeEnded(id=change_id, result="verified"):
                record = session.change(change_id)
                if record is None or record.change.risk is not Risk.DESTROYS_DATA:
                    continue
                if record.change.target in targets:
                    is_written = False
            case _:
                pass
    return is_written


def _trimmed(session: Session, run_id: str, device: str) -> bool:
    """Return whether the run discarded blocks of the device and left them unwritten."""
    run = session.run(run_id)
    return run is not None and run.has_overwritten(device) and run.start.job.get("rw") in _TRIMS


def _covers(session: Session, run_id: str, device: str, area: int) -> bool:
    """Return whether the run wrote every block of the first `area` bytes of the device."""
    run = session.run(run_id)
    if run is None or not run.has_overwritten(device):
        return False
    if run.start.device == device and run.figures.filled_bytes >= area > 0:
        return True
    done = run.write_to(device)
    if done is None:
        return False
    size = run.start.job.get("size", "")
    try:
        within = parse_size(size) if size else area
    except InvalidValueError:
        return False
    in_order = run.start.job.get("rw") == _SEQUENTIAL_WRITE
    is_complete = run.figures.status is RunStatus.OK and done.total_bytes >= max(area, within)
    return in_order and is_complete and within >= area
