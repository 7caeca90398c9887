"""Observes one device, or all disks, of a host: reads the counters ten times a second, and the pressure less often."""

from __future__ import annotations

import asyncio
import posixpath
import re
import time
from collections.abc import Callable

from app.core.benchmark.device_stats.diskstats import counts_flushes, parse, since
from app.core.benchmark.device_stats.member_devices import counter_files, is_counted
from app.core.benchmark.device_stats.sampler import PATH
from app.core.workbench import Workbench
from app.features.observe.rates import READING_S, ActivityCounter, DeviceActivity
from app.features.observe.waiting import Waiting, WaitMeter
from backends.errors import InvalidValueError, NotFoundError, RefusedError
from backends.host import Host
from backends.model import Device
from backends.text import clean
from backends.topology import Tree, kernel_name, parse_mountinfo, read_tree
from backends.topology.mounts import file_mount
from backends.topology.tree import natural
from backends.values import dataclass

_NO_DISK = re.compile(r"(loop|ram|zram|md|dm-|bcache|zd|drbd|sr|fd)[0-9_]")
"""Kernel names of devices that are no disks: disks below them count their I/O as well, or they need no disk."""

_FILE = "loop/backing_file"
"""Attribute of loop devices, which count flushes although they are levels. Their partitions do not."""

_HINT = "Name one of its arrays or drives, or leave out the target to observe all disks."

_WORK = ("resync", "recover", "check", "repair", "reshape")
"""Values of `md/sync_action` while md reads or writes whole members (Documentation/admin-guide/md.rst)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What the observed devices did, and who waited for storage meanwhile."""

    seconds: float
    """Length of the observation."""
    is_chosen: bool
    """Whether the user chose the device."""
    target: DeviceActivity
    """The chosen device, or the busiest of all disks."""
    others: tuple[DeviceActivity, ...]
    """The disks below the chosen device, or all other disks. The busiest comes first."""
    busy_share: float | None
    """Share of the target, or of the disks below it, in the busy time of all disks (0..1); None if none was busy."""
    waiting: Waiting
    """How long processes waited."""
    background: tuple[str, ...]
    """md arrays that work in the background, such as `md0: resync`."""


def device_name(device: Device) -> str:
    """Return the kernel name of a device. Raises InvalidValueError if it has no block device."""
    node = getattr(device, "device", None)
    if node is None:
        raise InvalidValueError(f"{device.target} has no block device whose I/O the kernel counts.", hint=_HINT)
    return kernel_name(node)


async def find_device(bench: Workbench, target: str) -> str:
    """Return the kernel name of a device, partition, file or folder. Raises NotFoundError, InvalidValueError."""
    tree = await read_tree(bench.host)
    name = kernel_name(target.removeprefix("block:"))
    if name in tree.nodes:
        return name
    try:
        return device_name(await bench.hardware.find(target))
    except NotFoundError:
        path = posixpath.abspath(posixpath.expanduser(target))
        if await bench.host.stat(path) is None:
            raise
    name, fstype = await _device_at(bench.host, tree, path)
    if not name:
        raise InvalidValueError(f"{clean(path, 300)} is on {fstype}, which is not on one block device.", hint=_HINT)
    return name


class Observer:
    """Observes a device of a host, or all disks."""

    def __init__(self, host: Host, device: str | None, *, clock: Callable[[], float] = time.monotonic) -> None:
        """`device`: kernel name; None for all disks. `clock`: returns the time in seconds."""
        self._host, self._device, self._clock = host, device, clock
        self._counter_clock = host.capabilities.counter_clock or clock
        self._waits = WaitMeter(host)
        self._counters: dict[str, ActivityCounter] = {}
        self._members: tuple[str, ...] = ()
        self._disks: tuple[str, ...] = ()
        self._first = self._text = ""
        self._begin = self._read_at = self._counted_at = self._counted = 0.0

    async def open(self) -> None:
        """Find the devices and make the first reading.

        Raises NotFoundError if there is no disk, RefusedError on a recorded host, whose counters do not change.
        """
        if self._host.capabilities.counter_clock is None:
            raise RefusedError("A recorded machine cannot be observed: its counters do not change.")
        tree = await read_tree(self._host)
        self._disks = tuple(sorted((name for name in tree.nodes if _is_disk(tree, name)), key=natural))
        watched = self._disks
        if self._device is not None:
            lower = await _names_below(self._host, tree, self._device)
            self._members = tuple(name for name in self._disks if name in lower)
            watched = (self._device, *self._members)
            self._disks = tuple(dict.fromkeys((*self._disks, *(self._members or watched))))
        if not watched:
            raise NotFoundError("raidbench finds no disk to observe.", hint="Run `raidbench doctor` to see why.")
        texts = await self._host.read_many(counter_files(map(tree.disk_of, watched)))
        self._first = await self._host.read(PATH) or ""
        for name in watched:
            self._counters[name] = ActivityCounter(
                name,
                is_level=(is_level := bool(await _names_below(self._host, tree, name))),
                is_counted=is_counted(tree.disk_of(name), texts),
                counts_flushes=counts_flushes(self._first) and (not is_level or _FILE in tree.nodes[name].attributes),
            )
        self._begin = self._read_at = self._clock()
        self._counted_at = self._counter_clock()
        await self.take()
        await self._waits.open(self._begin)

    async def take(self) -> None:
        """Make a reading."""
        self._text = await self._host.read(PATH) or ""
        totals, now, counted_at = parse(self._text, self._counters), self._clock(), self._counter_clock()
        # On a simulated host no time passes between two jobs, and the disks are idle.
        self._counted += (counted_at - self._counted_at) or (now - self._read_at)
        self._counted_at, self._read_at = counted_at, now
        for name, counter in self._counters.items():
            counter.take(self._counted, totals.get(name))
        if self._begin < self._waits.due <= now:
            await self._waits.take(now)

    async def run(self, seconds: float, is_stopped: Callable[[], bool]) -> Observation:
        """Make readings for `seconds`, or until `is_stopped` returns True, and return the observation."""
        due = self._begin
        while (now := self._clock()) < self._begin + seconds and not is_stopped():
            due = max(due + READING_S, now)
            await asyncio.sleep(due - now)
            await self.take()
        await self._waits.take(self._clock())
        return await self.observation()

    async def observation(self) -> Observation:
        """Return the observation so far."""
        activities = [counter.activity() for counter in self._counters.values()]
        ranked = sorted(activities, key=lambda activity: -activity.rates.done.busy_ms if activity.rates else 1)
        target = activities[0] if self._device is not None else ranked[0]
        before, now = (parse(text, self._disks) for text in (self._first, self._text))
        busy = {name: since(before[name], now[name]).busy_ms for name in now if name in before}
        below = sum(busy.get(name, 0) for name in self._members or (target.device,))
        actions = await self._host.read_many(await self._host.list("/sys/block/md*/md/sync_action"))
        return Observation(
            seconds=self._clock() - self._begin,
            is_chosen=self._device is not None,
            target=target,
            others=tuple(activity for activity in ranked if activity is not target),
            busy_share=below / sum(busy.values()) if any(busy.values()) else None,
            waiting=self._waits.waiting(),
            background=tuple(f"{path.split('/')[3]}: {text}" for path, text in actions.items() if text in _WORK),
        )


async def _device_at(host: Host, tree: Tree, path: str) -> tuple[str, str]:
    """Return the kernel name of the block device that a path is or is on, "" if unknown, and the filesystem."""
    stat, path = await host.stat(path), await host.link(path) or path
    mount = file_mount(f"{path}/", parse_mountinfo(await host.read("/proc/self/mountinfo") or ""))
    devno = stat.devno if stat is not None and stat.kind == "block" else mount.devno if mount is not None else None
    node = tree.by_devno(devno or "")
    return node.name if node is not None else "", mount.fstype if mount is not None else "an unknown filesystem"


async def _names_below(host: Host, tree: Tree, name: str) -> frozenset[str]:
    """Return the devices below a device, with those of the files of loop devices.

    The hidden paths of NVMe namespaces, which do the I/O, are among them.
    """
    names, waiting = {name}, [name]
    while waiting:
        if node := tree.nodes.get(waiting.pop()):
            lower = {below.name for below in (*tree.below(node.name), *tree.routes(node.name)[1:])}
            if file := node.attributes.get(_FILE):
                lower.add((await _device_at(host, tree, file.removesuffix(" (deleted)")))[0])
            waiting += lower - names
            names |= lower
    return frozenset(names) - {name, ""}


def _is_disk(tree: Tree, name: str) -> bool:
    """Return whether a device is a disk whose I/O no other device counts as well."""
    node = tree.nodes[name]
    return not (node.parent or node.slaves or _NO_DISK.match(name) or len(tree.routes(name)) > 1)
