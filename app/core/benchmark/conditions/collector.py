"""Where the facts of a run come from: the inventory, the session and small files of the kernel.

Vendors' tools do not run here. While a job is measured, only /proc/diskstats is read.
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
"""Documentation/admin-guide/pm/cpufreq.rst."""

THROTTLES = "/sys/devices/system/cpu/cpu*/thermal_throttle/core_throttle_count"
"""Times a core was slowed down for its temperature since boot (Intel)."""

_TEMPERATURES = ("device/hwmon*/temp1_input", "device/hwmon/hwmon*/temp1_input")
"""Of NVMe drives (drivers/nvme/host/hwmon.c) and of SATA drives (drivers/hwmon/drivetemp.c), millidegrees."""

_BIO_BASED = ("md", "dm-", "bcache")
"""Devices whose queue files say nothing: they hand every request on at once."""

_DEEPEST = 4

_ZFS_VERSION = "/sys/module/zfs/version"
_DIRECT_SINCE = (2, 3)
"""OpenZFS from which direct I/O passes by the ARC (zfsprops(7), `direct`)."""

_SEQUENTIAL_WRITE = "write"
_TRIMS = ("trim", "randtrim")
"""Patterns that leave blocks unwritten; those of trimwrite write each block again."""


async def gather(host: Host, location: JobLocation, session: Session) -> RunFacts:
    """All that can be known beforehand; of the condition what the last look at the devices has told."""
    inventory = session.inventory
    things = inventory.at(location.device) if location.device is not None else ()
    arrays = [device for device in things if isinstance(device, Array)]
    drives = [device for device in things if isinstance(device, Drive)]
    array = arrays[0] if arrays else None
    members = _members(inventory, array)
    controller = _controller(inventory, things)
    takes, why = await _queue_limit(host, location.device, location.job)
    disk = None if location.device is None else kernel_name(location.device)
    on_zfs = location.scratch and disk is None and inventory.holding(location.name) is not None
    front = await upstream_cache_of(host, disk, on_zfs=on_zfs)
    card = None if front is not None else controller
    return RunFacts(
        job=location.job,
        name=location.name,
        scratch=location.scratch,
        area_bytes=location.area_bytes,
        written=_written(session, location, things),
        content=not location.whole_disk or not things or any(_has_content(device) for device in things),
        media=_media(drives, members),
        physical_block=max((drive.physical_block or 0 for drive in (*drives, *members)), default=0) or None,
        array=None if array is None else geometry(array),
        cache_bytes=None if card is None else card.cache_bytes,
        protection=None if card is None else card.protection,
        front=front,
        memory_bytes=None if session.machine is None else session.machine.memory_bytes,
        cores=0 if session.machine is None else session.machine.cores,
        governors=await governors(host),
        takes=takes,
        takes_why=why,
        before=Condition(tasks=tasks_of(array, controller)),
    )


def tasks_of(array: Array | None, controller: Controller | None) -> tuple[Task, ...]:
    """Background work of an array and of its controller, one of each kind."""
    both = (*(array.tasks if array is not None else ()), *(controller.tasks if controller is not None else ()))
    return tuple({task.kind: task for task in reversed(both)}.values())[::-1]


def geometry(array: Array) -> Geometry:
    """The layout of an array; of spans that of one of them, for in those its stripes lie."""
    data = array.data_drives
    if array.level in PARITY_IN_SPANS and data:
        data = data // array.spans if array.spans and data % array.spans == 0 else None
    return Geometry(level=array.level, state=array.state, strip_bytes=array.strip_bytes, data_drives=data)


def _members(inventory: Inventory, array: Array | None) -> list[Drive]:
    targets = set(array.members) if array is not None else set()
    return [drive for drive in inventory.drives if drive.target in targets]


def _controller(inventory: Inventory, things: Sequence[Array | Drive]) -> Controller | None:
    owners = [device.controller for device in things if device.controller is not None]
    return next((controller for controller in inventory.controllers if controller.target in owners), None)


def _has_content(device: Array | Drive) -> bool:
    return bool(device.uses) or (isinstance(device, Drive) and bool(device.signatures or device.partitions))


def _media(drives: Sequence[Drive], members: Sequence[Drive]) -> Media:
    """Of the device itself where it is known, else of its members if they are alike."""
    known_media = [drive.media for drive in drives if drive.media is not Media.UNKNOWN]
    kinds = {drive.media for drive in members}
    return known_media[0] if known_media else kinds.pop() if len(kinds) == 1 else Media.UNKNOWN


async def governors(host: Host) -> dict[str, int]:
    """Frequency governors with the number of CPUs under each; empty where there are none."""
    texts = await host.read_many(await host.list(GOVERNORS))
    return dict(Counter(clean(text, 40) for text in texts.values() if text))


async def throttles(host: Host) -> int:
    """Times any core was slowed down since boot; 0 where nobody counts."""
    texts = await host.read_many(await host.list(THROTTLES))
    return sum(int(text) for text in texts.values() if text.isdigit())


async def too_warm(host: Host, device: str | None) -> tuple[str, ...]:
    """Drives below a disk that are as warm as their own warning, a clause each."""
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
    """Requests that the disk, or what it is made of, takes at a time, and whose number that is."""
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
    """The disks with queues of their own that a device is made of: itself unless it is md, dm or bcache."""
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
    """`nr_requests` holds for each hardware queue, and a job is on one at a time; SCSI has a limit for the device."""
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
    """The cache before a disk, by its kernel name; `on_zfs`: for a file on a dataset. None where there is none."""
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
    return UpstreamCache(kind=ARC, size_bytes=most, passed_by=version_numbers >= _DIRECT_SINCE)


def _written(session: Session, location: JobLocation, things: Sequence[Array | Drive]) -> bool | None:
    """Return whether the area holds data, None if the session does not know: others may have written.

    True after a sequential write over the whole area, False after a trim, a format or the creation of the array.
    """
    if location.scratch:
        return not location.holes
    device, area = location.device, location.area_bytes
    if device is None or not location.whole_disk or not area:
        return None
    targets = [device.target for device in things]
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
    """Whether the run discarded blocks of the device and left them unwritten."""
    run = session.run(run_id)
    return run is not None and run.has_overwritten(device) and run.start.job.get("rw") in _TRIMS


def _covers(session: Session, run_id: str, device: str, area: int) -> bool:
    """Whether the run wrote every block of the first `area` bytes of the device."""
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
    whole = run.figures.status is RunStatus.OK and done.total_bytes >= max(area, within)
    return in_order and whole and within >= area
