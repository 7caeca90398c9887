"""Managers of scratch files on this machine, on simulated hosts and on remote hosts."""

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
    """A device or scratch file that is open for a run."""

    path: str
    """Path of the target for fio."""
    root: HelperClaim | None = None
    """Claim of the root helper, if the root helper has the device open for reading; else None."""
    keep: bool = False
    """Whether to keep the scratch file after the run."""
    moved: Callable[[], str] = lambda: ""
    """Function that returns a sentence if the file's name now leads to another file, else ""."""


class LocalScratchManager:
    """Plans, creates and removes scratch files on this machine."""

    real = True
    """Whether the managed files are on the disks of this machine."""

    async def plan(self, where: str, size: int | None, *, writes: bool, preallocated: bool = False) -> ScratchPlan:
        """Return the plan for a scratch file at `where`. Raises what `plan_scratch` raises."""
        return plan_scratch(where, size, writes=writes, preallocated=preallocated)

    async def require_free(self, plan: ScratchPlan) -> None:
        """Raise RefusedError if raidbench's own file is in use or has foreign content."""
        if plan.own and plan.exists and (refusal := await leftover_in_use(plan.path)) is not None:
            raise refusal

    @asynccontextmanager
    async def hold(self, plan: ScratchPlan) -> AsyncGenerator[OpenTarget, None]:
        """Open the file and yield it; afterwards close it, and remove it unless `keep` is set.

        Raises what `ScratchFile.open` raises.
        """
        file = ScratchFile(plan)
        await file.open()
        held = OpenTarget(path=file.path, moved=file.moved)
        try:
            yield held
        finally:
            await shield_to_completion(asyncio.ensure_future(file.close(keep=held.keep)))

    async def remove(self, plan: ScratchPlan) -> None:
        """Remove the file if it is raidbench's own and not in use."""
        if plan.own:
            await remove_scratch(plan.path)

    async def filesystem_number(self, plan: ScratchPlan) -> str:
        """Return the device number MAJ:MIN of the file's filesystem."""
        return device_number(plan.path)


class SimulatedScratchManager:
    """Manages scratch files of a simulated or recorded host. They are entries without content in its list of files."""

    real = False

    def __init__(self, host: Host) -> None:
        self._host = host

    async def plan(self, where: str, size: int | None, *, writes: bool, preallocated: bool = False) -> ScratchPlan:
        """Return the plan for a file in an existing folder. Raises InvalidValueError if the folder does not exist.

        `preallocated` has no effect, because a simulated file has no blocks.
        """
        path = posixpath.normpath(posixpath.abspath(where))
        stat = await self._host.stat(path)
        if stat is not None and stat.kind == "directory":
            path = posixpath.join(path, NAME)
            stat = await self._host.stat(path)
        folder = await self._host.stat(posixpath.dirname(path))
        if path.split("/")[1:2] in (["dev"], ["proc"], ["sys"]) or (stat is None and folder is None):
            raise InvalidValueError(
                f"The folder {clean(posixpath.dirname(path))} does not exist on {self._host.name}.",
                hint="Measure an array or a drive listed by `raidbench devices`.",
            )
        wanted = size or (stat.size if stat is not None else 0) or DEFAULT_SIZE
        fill = stat is None or stat.size < wanted
        return ScratchPlan(path=Path(path), size=wanted, exists=stat is not None, own=True, fill=fill)

    async def require_free(self, plan: ScratchPlan) -> None:
        """Do nothing, because no program uses the files of a simulated host."""

    @asynccontextmanager
    async def hold(self, plan: ScratchPlan) -> AsyncGenerator[OpenTarget, None]:
        """Yield the file, and remove it afterwards unless `keep` is set. Only the simulated load creates it."""
        held = OpenTarget(path=str(plan.path))
        try:
            yield held
        finally:
            if not held.keep:
                await self.remove(plan)

    async def remove(self, plan: ScratchPlan) -> None:
        """Remove the file from the host's list."""
        await self._host.install(str(plan.path), b"", before=None)

    async def filesystem_number(self, plan: ScratchPlan) -> str:
        """Return the device number MAJ:MIN of the filesystem whose mount point contains the file; "" if unknown."""
        mounts = parse_mountinfo(await self._host.read("/proc/self/mountinfo") or "")
        mount = file_mount(str(plan.path), mounts)
        return mount.devno if mount is not None else ""


class RemoteScratchManager(SimulatedScratchManager):
    """Refuses scratch files on a remote host, because this machine cannot keep them open."""

    async def plan(self, where: str, size: int | None, *, writes: bool, preallocated: bool = False) -> ScratchPlan:
        """Always raise RefusedError."""
        raise RefusedError(
            f"Scratch files on {self._host.name} are not possible from this machine.",
            hint="Measure a device of that host.",
        )

    async def remove(self, plan: ScratchPlan) -> None:
        """Do nothing, because no file was created."""


ScratchManager = LocalScratchManager | SimulatedScratchManager


def scratch_manager_for(host: Host) -> ScratchManager:
    """Return the manager of scratch files for a host."""
    if host.capabilities.shares_files:
        return LocalScratchManager()
    return RemoteScratchManager(host) if host.capabilities.harmed else SimulatedScratchManager(host)
