"""Where scratch files are made: on this machine, or only in the imagination of a simulated one."""

from __future__ import annotations

import asyncio
import posixpath
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from app.core.benchmark.scratch import DEFAULT_SIZE, NAME, ScratchPlan, device_number, plan_scratch
from app.core.benchmark.scratch_descriptor import ScratchFile, leftover_in_use, remove_scratch
from backends.errors import InvalidValueError, RefusedError
from backends.helper_device import HelperClaim
from backends.host import Host, shield_to_completion
from backends.text import clean
from backends.topology.mounts import file_mount, parse_mountinfo
from backends.values import dataclass


@dataclass(slots=True, kw_only=True)
class OpenTarget:
    """A device or a scratch file while it is measured."""

    path: str
    """What fio is to open."""
    root: HelperClaim | None = None
    """By what the root helper has it, of a device that it holds for reading."""
    keep: bool = False
    """Whether a scratch file stays afterwards."""
    moved: Callable[[], str] = lambda: ""
    """A sentence where its name leads elsewhere by now, "" where not."""


class LocalScratchManager:
    """Plans, makes and removes scratch files on this machine."""

    real = True
    """Whether anything lies on this machine's disks."""

    async def plan(self, where: str, size: int | None, *, writes: bool) -> ScratchPlan:
        """Return what measuring at `where` would do. Raises InvalidValueError, RefusedError."""
        return plan_scratch(where, size, writes=writes)

    async def require_free(self, plan: ScratchPlan) -> None:
        """Raise RefusedError where something uses a file of ours, or somebody put content into it."""
        if plan.own and plan.exists and (refusal := await leftover_in_use(plan.path)) is not None:
            raise refusal

    @asynccontextmanager
    async def hold(self, plan: ScratchPlan) -> AsyncGenerator[OpenTarget, None]:
        """Hold the file while inside; remove it afterwards unless `keep` is set. Raises StorageError, RefusedError."""
        file = ScratchFile(plan)
        await file.open()
        held = OpenTarget(path=file.path, moved=file.moved)
        try:
            yield held
        finally:
            await shield_to_completion(asyncio.ensure_future(file.close(keep=held.keep)))

    async def remove(self, plan: ScratchPlan) -> None:
        """Remove the file, if it is ours."""
        if plan.own:
            await remove_scratch(plan.path)

    async def beneath(self, plan: ScratchPlan) -> str:
        """Return MAJ:MIN of the filesystem that the file lies on."""
        return device_number(plan.path)


class SimulatedScratchManager:
    """On a simulated or recorded host, which knows of its files only what it was told: nothing lies anywhere."""

    real = False

    def __init__(self, host: Host) -> None:
        self._host = host

    async def plan(self, where: str, size: int | None, *, writes: bool) -> ScratchPlan:
        """A file in a folder that the host has; every file there is ours. Raises InvalidValueError."""
        path = posixpath.normpath(posixpath.abspath(where))
        stat = await self._host.stat(path)
        if stat is not None and stat.kind == "directory":
            path = posixpath.join(path, NAME)
            stat = await self._host.stat(path)
        folder = await self._host.stat(posixpath.dirname(path))
        if path.split("/")[1:2] in (["dev"], ["proc"], ["sys"]) or (stat is None and folder is None):
            raise InvalidValueError(
                f"There is no folder {clean(posixpath.dirname(path))} on {self._host.name}.",
                hint="Measure an array or a drive that `raidbench devices` lists.",
            )
        wanted = size or (stat.size if stat is not None else 0) or DEFAULT_SIZE
        fill = stat is None or stat.size < wanted
        return ScratchPlan(path=Path(path), size=wanted, exists=stat is not None, own=True, fill=fill)

    async def require_free(self, plan: ScratchPlan) -> None:
        """Nothing uses files that nobody has."""

    @asynccontextmanager
    async def hold(self, plan: ScratchPlan) -> AsyncGenerator[OpenTarget, None]:
        """The load makes it, as far as it is made at all."""
        held = OpenTarget(path=str(plan.path))
        try:
            yield held
        finally:
            if not held.keep:
                await self.remove(plan)

    async def remove(self, plan: ScratchPlan) -> None:
        """Forgotten."""
        await self._host.install(str(plan.path), b"", before=None)

    async def beneath(self, plan: ScratchPlan) -> str:
        """Return MAJ:MIN of the longest mount point above the file, "" if that is not known."""
        mounts = parse_mountinfo(await self._host.read("/proc/self/mountinfo") or "")
        mount = file_mount(str(plan.path), mounts)
        return mount.devno if mount is not None else ""


class RemoteScratchManager(SimulatedScratchManager):
    """On another machine: files there cannot be held from here, so none are made."""

    async def plan(self, where: str, size: int | None, *, writes: bool) -> ScratchPlan:
        """Raises RefusedError, always."""
        raise RefusedError(
            f"No scratch file can be held on {self._host.name} from here.", hint="Measure a device there."
        )

    async def remove(self, plan: ScratchPlan) -> None:
        """Nothing is removed where nothing was made."""


ScratchManager = LocalScratchManager | SimulatedScratchManager


def scratching_on(host: Host) -> ScratchManager:
    """The way to make scratch files on a host."""
    if host.capabilities.shares_files:
        return LocalScratchManager()
    return RemoteScratchManager(host) if host.capabilities.harmed else SimulatedScratchManager(host)
