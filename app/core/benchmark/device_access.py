"""Between a wish to measure a device and the device: what it is, whether it may be touched, and the hold on it."""

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
"""Logical block size where the kernel does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceGuardResult:
    """What the guard says of a device, with what a job has to know of it."""

    device: str
    """Its node by the kernel's name."""
    disk: str
    """Node of its disk: itself, unless it is a partition."""
    size: int
    """Bytes."""
    logical_block_size: int
    """Smallest unit of direct I/O, bytes."""
    identity: Identity | None
    """What it is."""
    along: tuple[str, ...] = ()
    """Nodes of disks that are the same thing, or lie beneath it: locked with it."""
    intent: Intent
    """Read or write."""
    verdict: GuardResult
    """The guard's word."""
    area: WriteRange = WHOLE
    """What is written to at most."""
    rooms: tuple[ThinCapacity, ...] = ()
    """What it takes room from as it is written, where it promises more than there is."""
    footing: Footing = field(default_factory=dict)
    """What it was built on when it was judged."""

    @property
    def refused(self) -> tuple[str, ...]:
        """Reasons against it, each a sentence; empty if there is none."""
        return () if self.verdict.ok else self.verdict.refused


class DeviceAccess:
    """Asks the guard about devices of one host."""

    def __init__(self, host: Host, disks: Callable[[], Awaitable[Inventory]] | None = None) -> None:
        """`disks`: the kernel's disks now, asked of a simulated host only."""
        self._host = host
        self._disks = disks

    async def is_device(self, path: str) -> bool:
        """Whether a block device is at `path`."""
        stat = await self._host.stat(path)
        return stat is not None and stat.kind == "block"

    async def device_number(self, path: str) -> str:
        """MAJ:MIN of a device node, "" if there is none."""
        stat = await self._host.stat(path)
        return "" if stat is None else stat.devno or ""

    async def judge(self, path: str, *, writes: bool, area: WriteRange = WHOLE) -> DeviceGuardResult:
        """Look at the device and judge it. Raises NotFoundError when the kernel does not know it.

        `area`: what a job writes to.
        """
        intent = Intent.WRITE if writes else Intent.READ
        facts, verdict = await self._look(path, intent, area)
        if facts.identity is None:
            raise NotFoundError(
                f"{facts.device} is no device that the kernel knows.", hint="`raidbench devices` lists what is there."
            )
        disk, block = await self.beneath(facts.identity.devno or "")
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
        """What writing takes room from, see `capacities_at`."""
        return await capacities_at(self._host, devno, path)

    async def _look(self, path: str, intent: Intent, area: WriteRange) -> tuple[DeviceFacts, GuardResult]:
        """The facts of a device and the verdict on them.

        Of a simulated disk by what the inventory tells: it cannot be opened for oneself to make sure, and need not be.
        """
        if not self._host.capabilities.harmed and self._disks is not None:
            real = await self._host.link(path) or path
            drives = (await self._disks()).drives
            drive = next((drive for drive in drives if drive.device in (path, real)), None)
            if drive is not None:
                picture, name = await scan_topology(self._host), kernel_name(drive.device or "")
                facts = replace(
                    facts_of(drive, [drive for drive in drives if drive.target.backend == KERNEL]),
                    called=picture.called(name),
                    link=picture.link(name),
                )
                if intent is Intent.WRITE and drive.identity is not None:
                    facts = replace(facts, rooms=await self.rooms(drive.identity.devno or ""))
                return facts, judge(facts, intent, area)
        return await judge_device(self._host, path, intent, area)

    async def beneath(self, devno: str) -> tuple[str | None, int]:
        """Node of the disk behind a device number (a partition's disk), and its logical block size.

        (None, 512) for filesystems without a device of their own, such as tmpfs or overlay.
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
        """The locks of disks by their nodes, in the order in which everybody takes them."""
        return await locks_of(self._host, map(kernel_name, disks))

    async def kin(self, numbers: Sequence[str]) -> list[frozenset[str]]:
        """Return the disks and files that the data of each device number lie on; none for a number without a device."""
        picture = await scan_topology(self._host)
        nodes = [picture.tree.by_devno(number) for number in numbers]
        return [frozenset() if node is None else picture.backing_disks_and_files(node.name) for node in nodes]

    @asynccontextmanager
    async def hold(self, judgement: DeviceGuardResult, typed: str | None) -> AsyncGenerator[OpenTarget, None]:
        """What fio is to open, good while inside.

        Judged again while held. Of a simulated machine there is nothing to hold, and nothing that would be harmed.
        Raises RefusedError, DeviceGoneError.
        """
        if not self._host.capabilities.harmed:
            _, verdict = await self._look(judgement.device, judgement.intent, judgement.area)
            require(verdict, typed)
            require_confirmed_content(verdict, judgement.verdict.found)
            yield OpenTarget(path=judgement.device)
            return
        content = judgement.verdict.found
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
