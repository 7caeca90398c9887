"""Simulated host: runs programs, accesses files and runs fio on the state in a `Rack`."""

from __future__ import annotations

import asyncio
import contextlib
import fnmatch
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from backends.errors import NotFoundError, RaidbenchError, ToolFailedError, ToolMissingError, ToolTimeoutError
from backends.host import SIMULATED_MACHINE, Command, Completed, FileStat, FilesystemSpace, Process
from backends.simulator.diskstats import DISKSTATS, DiskCounts, diskstats
from backends.simulator.fio.start import start_fio
from backends.simulator.hung_disk import stall_error, wait_seconds
from backends.simulator.kernel.machine import COUNTER_FOLDERS, build_sysfs, counter_files
from backends.simulator.kernel.tree import SimulatedSysfs
from backends.simulator.profiles import HOSTS
from backends.simulator.programs import (
    ANOTHER,
    PROGRAMS,
    SYSTEM_PATHS,
    VendorProgram,
    disks_output,
    fio_output,
    program_output,
)
from backends.simulator.queue import CACHE, DEPTH, write_cache_type, write_depth, write_queue
from backends.simulator.rack import Rack
from backends.simulator.state_file import RackFile
from backends.simulator.tool_output import SimulatedOutput
from backends.system.synthetic import SyntheticHost

_FOLDERS = ("/", "/root", "/home", "/tmp", "/var", "/var/tmp", "/srv", "/srv/vm", "/dev", "/proc", "/sys")
"""Folders that exist on every simulated host."""

_WILD = frozenset("*?[")
"""Characters that make a path component a pattern."""

_Tree: TypeAlias = dict[str, "_Tree"]
"""Tree of paths: each path component with the tree of the components below it."""


class SimulatedHost(SyntheticHost):
    """Host without hardware. It accesses only the file that stores its `Rack`, and the job files for fio."""

    def __init__(
        self,
        rack: RackFile | Rack,
        *,
        speed: float | None = None,
        folders: Iterable[str] = (),
        apart: str = SIMULATED_MACHINE.apart,
        shares_watchdog: bool = False,
    ) -> None:
        """Create a host for `rack`. `speed`: simulated seconds per real second; None for 1, or more in `hurry`.

        `folders`: additional folders for scratch files. `apart`, `shares_watchdog`: as in `Capabilities`. A watchdog,
        which is another process, can revert changes only if the rack is stored in its usual file.
        """
        self._file = rack if isinstance(rack, RackFile) else RackFile(None, make=lambda: rack)
        self.chosen_speed = speed
        self._speed = 1.0 if speed is None else max(speed, 0.01)
        self._folders = {*_FOLDERS, *(part for folder in folders for part in _parent_folders(folder))}
        self._kernel: tuple[object, SimulatedSysfs] | None = None
        self._paths: _Tree = {}
        self._listed: dict[str, tuple[str, ...]] = {}
        self._counts = counts = DiskCounts()
        self.capabilities = replace(
            SIMULATED_MACHINE, counted=lambda: counts.seconds, apart=apart, shares_watchdog=shares_watchdog, time=self
        )

    @property
    def name(self) -> str:
        """Host name, one of the values of `profiles.HOSTS`."""
        return HOSTS[self._file.rack.name]

    @contextmanager
    def hurry(self, speed: float) -> Iterator[None]:
        """Let the time of the host, and the programs that start, run so many times as fast inside the context."""
        before = self._speed
        with self._file.hurry(speed):
            self._speed = speed
            try:
                yield
            finally:
                self._speed = before

    @property
    def is_root(self) -> bool:
        """Always True, because a simulated host has no permissions."""
        return True

    @property
    def rack(self) -> Rack:
        """Current state of the simulated host."""
        return self._file.rack

    async def run(self, command: Command) -> Completed:
        """Run a program, wait for its simulated duration, and return its output.

        Raises ToolMissingError for a program that is not installed, ToolTimeoutError for one that is too slow, and
        StorageError or InvalidValueError if the state file cannot be used.
        """
        with self._exclusive_run(command.argv[0]) as is_alone:
            output = self._answer(command) if is_alone else SimulatedOutput(text=ANOTHER, code=1)
            waiting = wait_seconds(self._file.rack, command)
            output = replace(output, seconds=output.seconds + waiting)
            patience = output.seconds if command.mutates else min(output.seconds, command.timeout)
            stall = command.stall if waiting and not command.mutates else None
            await asyncio.sleep((patience if stall is None else min(patience, stall)) / self._speed)
        if stall is not None and stall < patience:
            raise stall_error(self._file.rack, command)
        if patience < output.seconds:
            raise ToolTimeoutError(f"{command.argv[0]} gave no answer in {command.timeout:g} s.")
        return Completed(returncode=output.code, stdout=output.text, stderr="", seconds=output.seconds)

    def _answer(self, command: Command) -> SimulatedOutput:
        """Return the output of one program. Raises ToolMissingError if it is not installed."""
        args, path = command.argv[1:], command.argv[0]
        if (program := self._program(path)) is not None:
            changes = command.mutates or bool(self._file.rack.late)
            with self._file.edit() if changes else nullcontext(self._file.rack) as rack:
                rack.note_cached(self._counts.caches)  # jobs have changed the caches since the state was stored
                return program_output(program, rack, args, mutates=command.mutates, reply=command.reply)
        match next((name for name, system_path in SYSTEM_PATHS.items() if system_path == path), None):
            case None:
                raise ToolMissingError(f"{path} is not installed on the simulated host.")
            case "fio":
                return fio_output(args)
            case tool:
                return disks_output(tool, args, self._linux())

    def _exclusive_run(self, path: str) -> AbstractContextManager[bool]:
        """Return a context that yields False if the program at `path` must run alone but already runs, else True."""
        program = self._program(path)
        return self._file.lock_program(Path(path).name) if program and program.exclusive else nullcontext(True)

    def _program(self, path: str) -> VendorProgram | None:
        """Return the vendor program at a path, or None if it is not installed."""
        program = next((candidate for candidate in PROGRAMS.values() if candidate.path == path), None)
        return program if program is not None and program.installed(self._file.rack) else None

    def stream(self, command: Command) -> AbstractAsyncContextManager[Process]:
        """Start fio on a simulated device. Raises ToolMissingError for any other program."""
        if command.argv[0] != SYSTEM_PATHS["fio"]:
            raise ToolMissingError(
                f"The simulated host cannot stream the output of {command.argv[0]}, only that of fio."
            )
        text = _job_text(command.argv[-1])
        with self._file.edit() as rack:
            rack.runs += 1
            return start_fio(
                rack,
                self._linux(),
                text,
                command.argv[1:-1],
                speed=self._speed,
                counts=self._counts,
                ended=self._keep_counts,
                worn=self._fail_battery,
            )

    def _disk_counters(self) -> str:
        """Return the text of /proc/diskstats, including the I/O of running jobs."""
        nodes = self._linux()
        disks = {node.removeprefix("/dev/"): disk for node, disk in nodes.names.items() if "/" not in node[5:]}
        last = {disk: name for name, disk in disks.items()}  # the data of a partitioned disk are on its last partition
        before, now = (
            dict(totals) | {name: totals[disk] for disk, name in last.items() if disk in totals}
            for totals in (self._file.rack.totals, self._counts.totals)
        )
        return diskstats({name: nodes.nodes[f"/dev/{name}"].devno or "" for name in disks}, before, now)

    def _keep_counts(self) -> None:
        """Add the counters of a finished job to the stored state."""
        if self._counts.totals:
            with contextlib.suppress(RaidbenchError), self._file.edit() as rack:
                rack.note_written({name: int(row[3]) * 512 for name, row in self._counts.totals.items()})
                rack.note_cached(self._counts.caches)
                self._counts.move_to(rack.totals)

    def _fail_battery(self, number: int) -> None:
        """Make the battery of controller `number` fail, so that its cache no longer survives a power cut."""
        with self._file.edit() as rack:
            for card in rack.cards:
                if card.number == number and card.battery is not None:
                    card.battery.state, card.fails_after = "failed", None

    def _linux(self) -> SimulatedSysfs:
        """Return the kernel's files, links and nodes, which are rebuilt only after a change."""
        rack = self._file.rack
        mark = self._file.mark
        if self._kernel is None or self._kernel[0] != mark:
            self._kernel = (mark, build_sysfs(rack))
            self._paths.clear()
            self._listed.clear()
        return self._kernel[1]

    def _tree(self) -> _Tree:
        """Return all paths of the host as a tree of path components."""
        sysfs = self._linux()
        if not self._paths:
            for path in (*sysfs.files, *sysfs.links, *sysfs.mute):
                branch = self._paths
                for word in path.split("/"):
                    branch = branch.setdefault(word, {})
        return self._paths

    async def read(self, path: str) -> str | None:
        """Return a file's text, or None if it does not exist."""
        if path == DISKSTATS:
            return self._disk_counters()
        return (await self.read_many((path,))).get(path)

    async def read_many(self, paths: Sequence[str]) -> Mapping[str, str]:
        """Return the texts of the files that exist, by path."""
        files = self._linux().files
        running = self._counts.caches
        if running and any(path.startswith(COUNTER_FOLDERS) for path in paths):
            rack = self._file.rack
            rack.note_cached(running)
            files = {**files, **counter_files(rack)}
        return {path: files[path] for path in paths if path in files}

    async def write(self, path: str, text: str) -> None:
        """Write a kernel setting. Raises NotFoundError if there is no such file, ToolFailedError if refused."""
        files = self._linux().files
        if path not in files and path not in self._linux().mute:
            raise NotFoundError(f"{path} is not there.")
        folders = path.split("/")
        cached = self._bcache_file(folders)
        with self._file.edit() as rack:
            match folders[1:]:
                case ["sys", "block", name, "device", key] if key == DEPTH:
                    write_depth(rack, name, text, self._can_queue(name))
                case ["sys", "block", name, "md", *keys]:
                    rack.md[name].write("/".join(keys), text, rack.now())
                case ["sys", "module", "zfs", "parameters", key] if rack.zfs is not None:
                    rack.zfs.write(key, text)
                case _ if cached is not None:
                    rack.bcache[cached[0]].write(cached[1], text)
                case ["sys", "class", "scsi_disk", address, key] if key == CACHE and (
                    drive := self._host_drive(address)
                ):
                    write_cache_type(rack, drive, text, _queue_of(files, drive))
                case ["sys", "block", name, "queue", key]:
                    tags = files.get(f"/sys/block/{name}/mq/0/nr_tags")
                    write_queue(rack, name, key, text, _queue_of(files, name), None if tags is None else int(tags))
                case _:
                    raise ToolFailedError(f"The kernel refused {text!r}: Permission denied.", evidence=path)

    def _bcache_file(self, folders: Sequence[str]) -> tuple[str, str] | None:
        """Return the bcache device and the file name that the path components `folders` refer to, or None."""
        for name, device in self._file.rack.bcache.items():
            for folder in (["", "sys", "block", name, "bcache"], ["", "sys", "fs", "bcache", device.set_uuid]):
                if folders[: len(folder)] == folder:
                    return name, "/".join(folders[len(folder) :])
        return None

    def _host_drive(self, address: str) -> str | None:
        """Return the kernel name of the drive at a SCSI address, or None if it is behind a RAID controller."""
        names = (*self._file.rack.sata, *(path for disk in self._file.rack.pathed if disk.model for path in disk.paths))
        return next((name for name in names if f"/{address}/" in self._linux().links[f"/sys/block/{name}"]), None)

    def _can_queue(self, name: str) -> int:
        """Return how many commands the SCSI host of a disk accepts at the same time."""
        linux = self._linux()
        folders = linux.links[f"/sys/block/{name}"].split("/")
        host = next(folder for folder in folders if re.fullmatch(r"host\d+", folder))
        return int(linux.files[f"/sys/class/scsi_host/{host}/can_queue"])

    async def read_whole(self, path: str) -> bytes | None:
        """Return a file's content, or None if it does not exist."""
        text = await self.read(path)
        return None if text is None else text.encode()

    async def install(self, path: str, content: bytes, *, before: bytes | None) -> None:
        """Store the content of a file. Empty content removes the file, which may also be a scratch file."""
        with self._file.edit() as rack:
            rack.installed.pop(path, None)
            rack.scratch.pop(path, None)
            rack.records.pop(path, None)
            if content:
                rack.installed[path] = content.decode("utf-8", "replace")

    async def list(self, pattern: str) -> tuple[str, ...]:
        """Return the paths that match a glob pattern."""
        self._linux()  # clears cached lists of paths if the state has changed
        if pattern not in self._listed:
            self._listed[pattern] = self._matching_paths(pattern)
        return self._listed[pattern]

    def _matching_paths(self, pattern: str) -> tuple[str, ...]:
        """Return the sorted paths that match a glob pattern."""
        matches: list[tuple[tuple[str, ...], _Tree]] = [((), self._tree())]
        for word in pattern.split("/"):
            match_word = re.compile(fnmatch.translate(word)).match if _WILD.intersection(word) else None
            matches = [
                ((*parents, name), tree[name])
                for parents, tree in matches
                for name in ([word] if match_word is None else filter(match_word, tree))
                if name in tree
            ]
        return tuple(sorted("/".join(path) for path, _ in matches))

    async def link(self, path: str) -> str | None:
        """Return the target of a symbolic link, or None if there is no such link."""
        return self._linux().links.get(path)

    async def stat(self, path: str) -> FileStat | None:
        """Return the status of a device node, folder or scratch file, or None if it does not exist."""
        node = self._linux().nodes.get(path)
        if node is not None:
            return node
        if path in self._folders or any(path == content.mount for _, content in self._file.rack.contents()):
            return FileStat(kind="directory", size=4096)
        size = self._file.rack.scratch.get(path)
        return None if size is None else FileStat(kind="file", size=size)

    async def space_at(self, path: str) -> FilesystemSpace | None:
        """Return None, because files of a simulated host are not on a filesystem."""
        return None

    async def writable(self, path: str) -> str | None:
        """Return None if a file is a kernel setting, otherwise the reason why it cannot be written."""
        writable = path in self._linux().files or path in self._linux().mute
        return None if writable else "the kernel does not offer it for this device"

    async def restart(self, *, without: str | None = None) -> None:
        """Reboot, as described in `CanRestart`. Raises StorageError if the state cannot be saved."""
        with self._file.edit() as rack:
            rack.restart(without=without)

    def which(self, names: Sequence[str]) -> str | None:
        """Return the path of the first installed program, or None."""
        rack = self._file.rack
        vendors = {name: program.path for name, program in PROGRAMS.items() if program.installed(rack)}
        paths = {**SYSTEM_PATHS, **vendors}
        installed = set(paths.values())
        return next((paths.get(name, name) for name in names if name in paths or name in installed), None)


def _queue_of(files: Mapping[str, str], name: str) -> dict[str, str]:
    """Return the files of a disk's queue, by file name."""
    start = f"/sys/block/{name}/queue/"
    return {path.removeprefix(start): text for path, text in files.items() if path.startswith(start)}


def _parent_folders(folder: str) -> list[str]:
    """Return a folder and all its parents."""
    folders = [posixpath.normpath(folder)]
    while folders[-1] not in ("/", "", "."):
        folders.append(posixpath.dirname(folders[-1]))
    return folders


def _job_text(path: str) -> str | None:
    """Return the text of the job file that raidbench wrote, or None if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read(1 << 20).decode("utf-8", "replace")
    except OSError:
        return None
