"""Provenance of a run: drives, controller, slot, interrupts, queues, and CPU policies. Settings are not part of it.

The sources are kernel files and the last inventory. No vendor tool is run for the provenance.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from app.core.benchmark.conditions.collector import disks_below
from backends.host import Host
from backends.model import Array, Controller, Drive, Inventory, Level
from backends.pci import DEVICES, SLOT, address_of, link_of, node_of, version_of
from backends.settings import Reading
from backends.text import clean
from backends.topology import kernel_name
from backends.values import dataclass

_NO_TURBO = "/sys/devices/system/cpu/intel_pstate/no_turbo"
_BOOST = "/sys/devices/system/cpu/cpufreq/boost"
"""Kernel files with the state of turbo (Documentation/admin-guide/pm/intel_pstate.rst and cpufreq.rst)."""

_MOST = 1024
"""Maximum characters of one value; an enclosure with many drives has a long list of serial numbers."""

_ORDER = ", "
_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Disk:
    """A disk with its own request queue, at the bottom of the device stack of the measured device."""

    name: str
    """Kernel name as in sysfs."""
    folder: str | None
    """Path of the disk's sysfs folder with links resolved; None if unknown."""
    devices: tuple[Array | Drive, ...]
    """Devices of the inventory that have the disk's device node."""


async def provenance(
    host: Host,
    inventory: Inventory,
    device: str | None,
    *,
    size_bytes: int = 0,
    governors: Mapping[str, int] = _NOTHING,
    readings: Mapping[str, tuple[str, Reading]] = _NOTHING,
) -> dict[str, str]:
    """Return the provenance of a run by key; unknown values are left out.

    If several drives or controllers have different values, all values are listed in order; equal values appear once.
    `device`: device node of the disk. `size_bytes`: size of the target. `governors`: number of CPUs by frequency
    governor. `readings`: settings of the disk as read for this run.
    """
    disks = () if device is None else await _disks(host, inventory, device)
    devices = () if device is None else inventory.at(device)
    fields = {
        "size_bytes": str(size_bytes or ""),
        "governor": _ORDER.join(name if len(governors) == 1 else f"{name} on {n}" for name, n in governors.items()),
        "turbo": await _turbo(host),
        **_array_fields(next((device for device in devices if isinstance(device, Array)), None)),
        **_drive_fields([drive for disk in disks for drive in _drives(inventory, disk)]),
        **await _controller_fields(host, inventory, disks),
        **await _backing(host, devices),
        **await _queues(host, device, disks, readings),
        **{
            f"in_force_{key}": reading.effective
            for key, (_, reading) in readings.items()
            if reading.effective is not None
        },
    }
    return {key: clean(text, _MOST) for key, text in fields.items() if text}


async def _disks(host: Host, inventory: Inventory, device: str) -> tuple[_Disk, ...]:
    """Return the disks below a device, ordered by WWN or serial number, because kernel names can change at a reboot."""
    names = await disks_below(host, kernel_name(device))
    disks = [
        _Disk(
            name=name,
            folder=await host.link(f"/sys/block/{name}"),
            devices=inventory.at(f"/dev/{name.replace('!', '/')}"),
        )
        for name in names
    ]
    return tuple(sorted(disks, key=lambda disk: ([_name_for_life(device) for device in disk.devices], disk.name)))


def _name_for_life(device: Array | Drive) -> str:
    return "" if device.identity is None else device.identity.wwn or device.identity.serial or ""


def _drives(inventory: Inventory, disk: _Disk) -> Iterator[Drive]:
    """Yield the drives of a disk: the members if the disk is an array, else the drive itself."""
    array = next((device for device in disk.devices if isinstance(device, Array)), None)
    if array is not None:
        yield from (drive for target in array.members for drive in inventory.drives if drive.target == target)
    else:
        yield from (device for device in disk.devices[:1] if isinstance(device, Drive))


def _array_fields(array: Array | None) -> dict[str, str]:
    if array is None:
        return {}
    numbers = {"strip_bytes": array.strip_bytes, "data_drives": array.data_drives, "spans": array.spans}
    return {
        "array_level": "" if array.level is Level.UNKNOWN else array.level.value,
        "array_members": str(len(array.members) or ""),
        **{f"array_{name}": str(number or "") for name, number in numbers.items()},
        "array_id": _name_for_life(array),
    }


def _drive_fields(drives: Sequence[Drive]) -> dict[str, str]:
    return {
        "drive_model": _joined([drive.model for drive in drives]),
        "drive_serial": _joined([drive.serial for drive in drives]),
        "drive_firmware": _joined([drive.firmware for drive in drives]),
    }


async def _controller_fields(host: Host, inventory: Inventory, disks: Sequence[_Disk]) -> dict[str, str]:
    """Return the fields of the disks' controllers and PCI functions. An NVMe drive is itself a PCI function."""
    addresses = sorted({address for disk in disks if (address := address_of(disk.folder)) is not None})
    owners = {device.controller for disk in disks for device in disk.devices}
    controllers = [item for item in inventory.controllers if item.target in owners]
    return {
        "controller": _joined([item.model for item in controllers]),
        "controller_serial": _joined([item.serial for item in controllers]),
        "controller_firmware": _joined([item.firmware for item in controllers]),
        "tool": _joined(
            [next((fact.value for fact in item.facts if fact.label == "Tool"), None) for item in controllers]
        ),
        **await _slot_fields(host, addresses, controllers),
    }


async def _slot_fields(host: Host, addresses: Sequence[str], controllers: Sequence[Controller]) -> dict[str, str]:
    """Return the fields of the PCI slots. If no PCI function is known, the driver is the one that the tool reported."""
    interrupts = [await _interrupts(host, address) for address in addresses]
    wanted = [f"{DEVICES}/{address}/{name}" for address in addresses for name in SLOT]
    wanted += [f"/proc/irq/{number}/smp_affinity_list" for numbers in interrupts for number in numbers]
    texts = await host.read_many(wanted)
    attributes = [{name: clean(texts.get(f"{DEVICES}/{address}/{name}", "")) for name in SLOT} for address in addresses]
    links = [link_of(slot) for slot in attributes]
    nodes = [node_of(slot) for slot in attributes]
    return {
        "pci": _joined(addresses),
        "driver": _joined(
            [await _driver(host, address) for address in addresses] or [item.driver for item in controllers]
        ),
        "numa_node": _joined([None if node is None else str(node) for node in nodes]),
        "pcie_link": _joined([f"{link.speed} x{link.width}" if link.speed and link.width else None for link in links]),
        "pcie_link_max": _joined([link.best if link.max_speed and link.max_width else None for link in links]),
        "irq_affinity": _joined(
            [
                _ORDER.join(texts.get(f"/proc/irq/{number}/smp_affinity_list", "?") for number in numbers)
                for numbers in interrupts
            ]
        ),
    }


async def _driver(host: Host, address: str) -> str | None:
    """Return the driver of a PCI function, with the version of its module."""
    bound = await host.link(f"{DEVICES}/{address}/driver")
    name = bound.rpartition("/")[2] if bound else None
    return " ".join(filter(None, (name, await version_of(host, name)))) or None


async def _interrupts(host: Host, address: str) -> list[int]:
    """Return the interrupt numbers of a PCI function: message-signalled interrupts, or else its interrupt line."""
    paths = await host.list(f"{DEVICES}/{address}/msi_irqs/*")
    line = "" if paths else await host.read(f"{DEVICES}/{address}/irq") or ""
    names = [path.rpartition("/")[2] for path in paths] or [line]
    return sorted(int(name) for name in names if name.isascii() and name.isdigit() and name != "0")


async def _turbo(host: Host) -> str:
    texts = await host.read_many((_NO_TURBO, _BOOST))
    states = {(_NO_TURBO, "0"): "on", (_NO_TURBO, "1"): "off", (_BOOST, "1"): "on", (_BOOST, "0"): "off"}
    return next((states[setting] for path, text in texts.items() if (setting := (path, text.strip())) in states), "")


async def _backing(host: Host, devices: Sequence[Array | Drive]) -> dict[str, str]:
    """Return the backing file of a loop device, with inode and size, because another file may get its name later."""
    path = next(
        (device.backing for device in devices if isinstance(device, Drive) and device.backing is not None), None
    )
    if path is None:
        return {}
    stat = await host.stat(path)
    details = {} if stat is None else {"backing_inode": stat.place or "", "backing_bytes": str(stat.size)}
    return {"backing_file": path} | details


async def _queues(
    host: Host, device: str | None, disks: Sequence[_Disk], readings: Mapping[str, tuple[str, Reading]]
) -> dict[str, str]:
    """Return the queue attributes of the device except those in `readings`, and all those of the disks below it."""
    own_name = "" if device is None else kernel_name(device)
    names = list(dict.fromkeys(filter(None, (own_name, *(disk.name for disk in disks)))))
    files = {name: await _queue_files(host, name) for name in names}
    texts = await host.read_many([path for paths in files.values() for path in paths.values()])
    below = [name for name in names if name != own_name]
    keys = dict.fromkeys(key for name in below for key in files[name])

    def text(name: str, key: str) -> str | None:
        return texts.get(files[name].get(key, ""))

    return {f"queue_{key}": text(own_name, key) or "" for key in files.get(own_name, ()) if key not in readings} | {
        f"member_queue_{key}": _joined([text(name, key) for name in below]) for key in keys
    }


async def _queue_files(host: Host, name: str) -> dict[str, str]:
    """Return the paths of the queue attributes by name; `iosched/quantum`, for example, becomes `iosched_quantum`."""
    base = f"/sys/block/{name}/queue/"
    paths = (*await host.list(f"{base}*"), *await host.list(f"{base}iosched/*"))
    # The folder itself is left out. Otherwise a user without permission would ask the root helper to read it each time.
    return {path.removeprefix(base).replace("/", "_"): path for path in paths if path != f"{base}iosched"}


def _joined(values: Sequence[str | None]) -> str:
    """Return one value if all are equal, else all values with `-` for unknown ones; "" if all are unknown."""
    texts = [clean(value or "", 400) or "-" for value in values]
    if set(texts) <= {"-"}:
        return ""
    return texts[0] if len(set(texts)) == 1 else "; ".join(texts)
