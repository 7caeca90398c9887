"""Access to the devices of benchmarks: reads their facts, checks them with the guard, and opens them exclusively."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import field, replace

from app.core.benchmark.scratch_manager import OpenTarget
from backends.change_steps import locks_of
from backends.errors import NotFoundError
from backends.guard import (
    GuardResult,
    Intent,
    claim_device,
    judge,
    judge_device,
    require,
    require_confirmed_content,
)
from backends.helper_device import HelperDevice
from backends.host import Host
from backends.identity import Identity
from backends.model import KERNEL, Inventory
from backends.topology import kernel_name, node_path, scan_topology
from backends.topology.facts import DeviceFacts, facts_of
from backends.topology.footing import Footing
from backends.topology.thin_capacity import WHOLE, ThinCapacity, WriteRange
from backends.topology.thin_capacity_scan import capacities_at
from backends.values import dataclass

SECTOR = 512
"""Logical block size in bytes that is assumed if the kernel does not report it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceGuardResult:
    """The guard's result for a device, with the facts that a job needs."""

    device: str
    """Device node by the kernel's name of the device, such as `/dev/dm-0`; not a link to it."""
    disk: str
    """Device node of the disk: the device itself, unless it is a partition."""
    size: int
    """Size of the device in bytes."""
    logical_block_size: int
    """Smallest unit of direct I/O in bytes."""
    identity: Identity | None
    """Identity of the device."""
    along: tuple[str, ...] = ()
    """Device nodes of disks with the same data and of disks below the device; they are locked together with it."""
    intent: Intent
    """Whether the run reads or writes."""
    verdict: GuardResult
    """Result of the guard."""
    area: WriteRange = WHOLE
    """Largest range to which the run writes."""
    rooms: tuple[ThinCapacity, ...] = ()
    """Thin-provisioned storage in which writes allocate space."""
    footing: Footing = field(default_factory=dict)
    """Device stack below the device when the guard checked it."""

    @property
    def refused(self) -> tuple[str, ...]:
        """Return the reasons why the guard refuses the access, as sentences; () if it allows the access."""
        return () if self.verdict.ok else self.verdict.refused


class DeviceAccess:
    """Checks devices of one host with the guard, and opens them."""

    def __init__(self, host: Host, disks: Callable[[], Awaitable[Inventory]] | None = None) -> None:
        """Create the access to devices of `host`. `disks`: reads the kernel's disks; only for a simulated host."""
        self._host = host
        self._disks = disks

    async def is_device(self, path: str) -> bool:
        """Return whether `path` is a block device."""
        stat = await self._host.stat(path)
        return stat is not None and stat.kind == "block"

    async def device_number(self, path: str) -> str:
        """Return the device number MAJ:MIN of a device node; "" if the node does not exist."""
        stat = await self._host.stat(path)
        return "" if stat is None else stat.devno or ""

    async def judge(self, path: str, *, writes: bool, area: WriteRange = WHOLE) -> DeviceGuardResult:
        """Return the guard's result for a device. `area`: largest range to which the job writes.

        Raises NotFoundError if the kernel does not know the device.
        """
        intent = Intent.WRITE if writes else Intent.READ
        facts, verdict = await self._look(path, intent, area)
        if facts.identity is None:
            raise NotFoundError(
                f"The kernel does not know a device {facts.device}.", hint="`raidbench devices` lists the devices."
            )
        disk, block = await self.disk_below(facts.identity.devno or "")
        return DeviceGuardResult(
            device=facts.device,
            disk=disk or facts.device,
            size=facts.size_bytes or 0,
            logical_block_size=block,
            identity=facts.identity,
            along=tuple(node_path(other.name) for other in facts.along),
            intent=intent,
            verdict=verdict,
            area=area,
            rooms=facts.rooms,
            footing=facts.footing,
        )

    async def rooms(self, devno: str, path: str = "") -> tuple[ThinCapacity, ...]:
        """Return the thin-provisioned storage in which writes to a device or file allocate space; see `capacities_at`.

        `devno`: device number of the device, or of the filesystem of the file `path`.
        """
        return await capacities_at(self._host, devno, path)

    async def _look(self, path: str, intent: Intent, area: WriteRange) -> tuple[DeviceFacts, GuardResult]:
        """Return the facts of a device and the guard's result.

        For a simulated disk, the guard uses the inventory. Such a disk cannot be opened exclusively, and need not be.
        """
        if not self._host.capabilities.harmed and self._disks is not None:
            real = await self._host.link(path) or path
            drives = (await self._disks()).drives
            drive = next((drive for drive in drives if drive.device in (path, real)), None)
            if drive is not None:
                picture, name = await scan_topology(self._host), kernel_name(drive.device or "")
                facts = replace(
                    facts_of(drive, [drive for drive in drives if drive.target.backend == KERNEL]),
                    called=picture.stable_name(name),
                    link=picture.link(name),
                )
                if intent is Intent.WRITE and drive.identity is not None:
                    facts = replace(facts, rooms=await self.rooms(drive.identity.devno or ""))
                return facts, judge(facts, intent, area)
        return await judge_device(self._host, path, intent, area)

    async def disk_below(self, devno: str) -> tuple[str | None, int]:
        """Return the device node and the logical block size of the disk with this device number.

        For a partition, these are those of its disk. Return (None, 512) for a filesystem without a device of its own,
        such as tmpfs or overlay.
        """
        folder = await self._host.link(f"/sys/dev/block/{devno}")
        if folder is None:
            return None, SECTOR
        if await self._host.read(f"{folder}/partition") is not None:
            folder = folder.rpartition("/")[0]
        size = await self._host.read(f"{folder}/queue/logical_block_size")
        block = int(size) if size is not None and size.isdigit() and int(size) else SECTOR
        return f"/dev/{folder.rpartition('/')[2]}", block

    async def locks(self, *disks: str) -> tuple[str, ...]:
        """Return the names of the locks for these disks, in the order in which every process acquires them."""
        return await locks_of(self._host, map(kernel_name, disks))

    async def backing_of(self, numbers: Sequence[str]) -> list[frozenset[str]]:
        """Return the disks and files below each device number; an empty set for a number without a device."""
        picture = await scan_topology(self._host)
        nodes = [picture.tree.by_devno(number) for number in numbers]
        return [frozenset() if node is None else picture.backing_disks_and_files(node.name) for node in nodes]

    @asynccontextmanager
    async def hold(self, judgement: DeviceGuardResult, typed: str | None) -> AsyncGenerator[OpenTarget, None]:
        """Open a device for a run and yield the path for fio.

        The guard checks the device again while it is open. On a simulated host nothing is opened, because nothing can
        be harmed. `typed`: confirmation token that the user typed. Raises RefusedError if the guard refuses, and
        DeviceGoneError if the device disappeared or was replaced.
        """
        if not self._host.capabilities.harmed:
            _, verdict = await self._look(judgement.device, judgement.intent, judgement.area)
            require(verdict, typed)
            require_confirmed_content(verdict, judgement.verdict.content)
            yield OpenTarget(path=judgement.device)
            return
        content = judgement.verdict.content
        helper = self._host.root_side
        if helper is not None:
            helper_device = HelperDevice(
                helper,
                judgement.device,
                writing=judgement.intent is Intent.WRITE,
                typed=typed,
                meant=judgement.identity,
                shown=content,
            )
            async with helper_device:
                yield OpenTarget(path=helper_device.path, root=helper_device.root)
            return
        identity, area = judgement.identity, judgement.area
        async with claim_device(self._host, judgement.device, judgement.intent, typed, identity, content, area) as hold:
            yield OpenTarget(path=hold.path)
