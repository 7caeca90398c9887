"""Collects the facts for a check: the inventory, the settings, and small files of sysfs and procfs.

It writes nothing and creates no load. The only programs that run are those of a hardware scan.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping

from app.core.benchmark.conditions.collector import governors
from app.features.check.snapshot import BlockDevice, DiskLink, PciSlot, SystemSnapshot
from backends.host import Host
from backends.model import Inventory, Target
from backends.pci import DEVICES, SLOT, Link, link_of, node_of
from backends.settings import Reading
from backends.text import clean
from backends.topology import parse_mountinfo

_BLOCK = (
    *("alignment_offset", "queue/discard_max_bytes", "queue/discard_granularity", "queue/nr_requests"),
    *("queue/max_sectors_kb", "queue/max_hw_sectors_kb", "device/sqsize"),
    *("device/rev", "device/firmware_rev"),
    *("device/queue_depth", "device/state", "dm/uuid", "dm/name", "md/array_state"),
)
"""Files below /sys/block/NAME that are read (Documentation/ABI/stable/sysfs-block)."""

_CAPS = ("/sys/fs/cgroup/*/io.max", "/sys/fs/cgroup/*/*/io.max")
"""Files with the I/O limits of control groups (Documentation/admin-guide/cgroup-v2.rst, io.max)."""

_TIMERS = "/etc/systemd/system/timers.target.wants/fstrim.timer"
"""Symbolic link that exists if systemd's timer for fstrim is enabled, on Debian and Fedora."""

_RESYNC_LIMIT = "/proc/sys/dev/raid/speed_limit_max"

_ERRORS = ("/sys/fs/ext4/*/errors_count", "/sys/fs/btrfs/*/devinfo/*/error_stats")
"""Files with error counters of filesystems (Documentation/ABI/testing/sysfs-fs-ext4; fs/btrfs/sysfs.c)."""

_ATA_PORT = re.compile(r"/ata(\d{1,5})/", re.ASCII)
_SAS_PORT = re.compile(r"(/.*/port-[\d:]{1,20})/end_device-", re.ASCII)
_RATE = re.compile(r"(\d{1,3}(?:\.\d)?) ?G", re.ASCII)

_MOUNTS, _ONLINE = "/proc/self/mountinfo", "/sys/devices/system/cpu/online"


async def gather(host: Host, inventory: Inventory, readings: Mapping[Target, Mapping[str, Reading]]) -> SystemSnapshot:
    """Return the snapshot of a machine whose devices have been scanned."""
    cards = {controller.pci for controller in inventory.controllers if controller.pci is not None}
    nvme = {name: address for name, address in (await _nvme(host, "address")).items() if ":" in address}
    blocks, slots, nodes, caps, timer = await asyncio.gather(
        _blocks(host), _slots(host, {*cards, *nvme.values()}), _nodes(host), _caps(host), host.list(_TIMERS)
    )
    texts = await host.read_many((_MOUNTS, _ONLINE, _RESYNC_LIMIT))
    limit = texts.get(_RESYNC_LIMIT, "").strip()
    return SystemSnapshot(
        inventory=inventory,
        readings=readings,
        blocks=blocks,
        slots=slots,
        nvme=nvme,
        nvme_states=await _nvme(host, "state"),
        links=await _links(host, blocks),
        filesystem_errors=await _filesystem_errors(host),
        resync_limit=int(limit) if limit.isascii() and limit.isdigit() else None,
        policies=await _policies(host),
        mounts=parse_mountinfo(texts.get(_MOUNTS, "")),
        nodes=nodes,
        cores=len(cpu_list(texts.get(_ONLINE, ""))),
        governors=await governors(host),
        caps=caps,
        trim_timer=bool(timer),
    )


def cpu_list(text: str) -> frozenset[int]:
    """Return the CPUs in a list of the kernel, such as `0-3,8`; an empty set if `text` is no such list. No I/O."""
    numbers: set[int] = set()
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        if first.isdigit() and (last or first).isdigit() and len(last) < 7:
            numbers |= set(range(int(first), int(last or first) + 1))
    return frozenset(numbers)


async def _blocks(host: Host) -> dict[str, BlockDevice]:
    paths = await host.list("/sys/block/*")
    starts, below, queues = await asyncio.gather(
        host.list("/sys/block/*/*/start"), host.list("/sys/block/*/slaves/*"), host.list("/sys/block/*/mq/*")
    )
    wanted = [f"{path}/{name}" for path in paths for name in _BLOCK]
    offsets = [
        *await host.list("/sys/block/*/md/dev-*/offset"),
        *await host.list("/sys/block/*/md/dev-*/bad_blocks"),
    ]
    texts = await host.read_many([*wanted, *starts, *offsets])
    blocks = {}
    for path in paths:
        name = path.rsplit("/", 1)[1]
        attributes = {name.removeprefix(f"{path}/"): clean(texts[name]) for name in _paths_below(path, texts)}
        parts = {
            start.split("/")[4]: int(texts[start]) * 512
            for start in _paths_below(path, starts)
            if texts.get(start, "").isdigit()
        }
        driver = await host.link(f"{path}/device/driver")
        blocks[name] = BlockDevice(
            name=name,
            attributes=attributes,
            below=tuple(name.rsplit("/", 1)[1] for name in _paths_below(path, below)),
            parts=parts,
            queues=len(_paths_below(path, queues)) or None,
            driver=driver.rsplit("/", 1)[1] if driver else "",
        )
    return blocks


def _paths_below(path: str, paths: Iterable[str]) -> list[str]:
    return [name for name in paths if name.startswith(f"{path}/")]


async def _nvme(host: Host, name: str) -> dict[str, str]:
    """Return the content of the sysfs file `name` of each NVMe controller, by the kernel name of the controller."""
    texts = await host.read_many(await host.list(f"/sys/class/nvme/nvme*/{name}"))
    return {path.split("/")[4]: clean(text) for path, text in texts.items() if text.strip()}


async def _links(host: Host, names: Iterable[str]) -> dict[str, DiskLink]:
    disks = [name for name in names if name.startswith("sd")]
    paths = await asyncio.gather(*(host.link(f"/sys/block/{name}") for name in disks))
    links = {}
    for name, path in zip(disks, paths, strict=True):
        ata, sas = _ATA_PORT.search(path or ""), _SAS_PORT.match(path or "")
        link = await _ata_link(host, ata[1]) if ata else await _sas_link(host, sas[1]) if sas else None
        if link is not None and link.now is not None:
            links[name] = link
    return links


async def _ata_link(host: Host, port: str) -> DiskLink:
    """Return the link of an ATA port that has no port multiplier (Documentation/ABI/testing/sysfs-ata)."""
    folder = f"/sys/class/ata_link/link{port}"
    files = [f"{folder}/{name}" for name in ("sata_spd", "hw_sata_spd_limit", "sata_spd_limit")]
    texts = await host.read_many(files)
    now, most, allowed = (_gigabits(texts.get(path)) for path in files)
    return DiskLink(now=now, port=most, allowed=allowed)


async def _sas_link(host: Host, port: str) -> DiskLink:
    """Return the link of the slowest phy of a SAS port (drivers/scsi/scsi_transport_sas.c)."""
    rates = ("negotiated_linkrate", "maximum_linkrate_hw", "maximum_linkrate")
    folders = [f"{phy}/sas_phy/{phy.rpartition('/')[2]}" for phy in await host.list(f"{port}/phy-*")]
    texts = await host.read_many([f"{folder}/{rate}" for folder in folders for rate in rates])
    phys = [tuple(_gigabits(texts.get(f"{folder}/{rate}")) for rate in rates) for folder in folders]
    now, most, allowed = min((phy for phy in phys if phy[0]), key=lambda phy: phy[0] or 0, default=(None,) * 3)
    return DiskLink(now=now, port=most, allowed=allowed)


def _gigabits(text: str | None) -> float | None:
    """Return the rate in Gb/s from a string such as `6.0 Gbps` or `12.0 Gbit`; None for `Unknown` and `<unknown>`."""
    match = _RATE.match((text or "").strip())
    return float(match[1]) if match else None


async def _filesystem_errors(host: Host) -> dict[str, int]:
    """Return the error counts of filesystems: ext4 by device name, btrfs by filesystem UUID."""
    counts: dict[str, int] = {}
    texts = await host.read_many([path for pattern in _ERRORS for path in await host.list(pattern)])
    for path, text in texts.items():
        numbers = [int(word) for word in text.split() if word.isascii() and word.isdigit()]
        name = clean(path.split("/")[4], 100)
        counts[name] = counts.get(name, 0) + sum(numbers)
    return {name: count for name, count in counts.items() if count}


async def _slots(host: Host, addresses: Iterable[str]) -> dict[str, PciSlot]:
    wanted = sorted(addresses)
    slots = await asyncio.gather(*(_slot(host, f"{DEVICES}/{name}") for name in wanted))
    return {address: slot for address, slot in zip(wanted, slots, strict=True) if slot is not None}


async def _slot(host: Host, path: str) -> PciSlot | None:
    texts = await host.read_many([f"{path}/{name}" for name in SLOT])
    if not texts:
        return None
    attributes = {name: clean(texts.get(f"{path}/{name}", "")) for name in SLOT}
    device_path = await host.link(path)
    above = device_path.rpartition("/")[0] if device_path else ""
    port = await host.read_many([f"{above}/{name}" for name in SLOT]) if above else {}
    irqs = [name.rsplit("/", 1)[1] for name in await host.list(f"{path}/msi_irqs/*")]
    affinities = await host.read_many([f"/proc/irq/{irq}/effective_affinity_list" for irq in irqs])
    return PciSlot(
        link=link_of(attributes),
        port=link_of({name: clean(port.get(f"{above}/{name}", "")) for name in SLOT}) if port else Link(),
        node=node_of(attributes),
        interrupts={name.split("/")[3]: cpus for name, text in affinities.items() if (cpus := cpu_list(text))},
    )


async def _nodes(host: Host) -> dict[int, frozenset[int]]:
    texts = await host.read_many(await host.list("/sys/devices/system/node/node*/cpulist"))
    names = {path: path.split("/")[5].removeprefix("node") for path in texts}
    return {int(names[path]): cpu_list(text) for path, text in texts.items() if names[path].isdigit()}


async def _policies(host: Host) -> dict[str, tuple[str, int]]:
    paths = await host.list("/sys/class/nvme-subsystem/nvme-subsys*/iopolicy")
    texts = await host.read_many(paths)
    policies = {}
    for path, text in texts.items():
        folder = path.rpartition("/")[0]
        controllers = [name for name in await host.list(f"{folder}/nvme*") if name.rsplit("/nvme", 1)[1].isdigit()]
        policies[folder.rsplit("/", 1)[1]] = (clean(text), len(controllers))
    return policies


async def _caps(host: Host) -> dict[str, str]:
    paths = [path for pattern in _CAPS for path in await host.list(pattern)]
    return {path: clean(text, 300) for path, text in (await host.read_many(paths)).items() if text.strip()}
