"""A host that is a dictionary of files: sysfs shapes by hand, without a kernel."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from functools import lru_cache
from typing import Any

from backends.errors import ToolFailedError, ToolMissingError
from backends.firmware_queries import FirmwareQueryHost
from backends.host import (
    SIMULATED_MACHINE,
    THIS_MACHINE,
    Capabilities,
    Command,
    Completed,
    FileStat,
    FilesystemSpace,
    Process,
    WriteDenied,
)


class FakeHost:
    """Answers from dictionaries; writes change `files` and are noted in `written`."""

    def __init__(
        self,
        files: Mapping[str, str],
        *,
        links: Mapping[str, str] | None = None,
        stats: Mapping[str, FileStat] | None = None,
        tools: Mapping[str, Completed] | None = None,
        root: bool = True,
    ) -> None:
        self.files = {"/proc/self/status": "CapEff:\t000001ffffffffff", **files}
        self.links = {"/proc/self/ns/pid": "pid:[4026531836]", **(links or {})}
        self.stats = dict(stats or {})
        self.tools = dict(tools or {})
        self._listed: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
        self.hidden: set[str] = set()
        self.spaces: dict[str, FilesystemSpace] = {}
        self.root = root
        self.made_up = False
        self.reached = replace(THIS_MACHINE, opens_devices=False)
        self.written: list[tuple[str, str]] = []
        self.refusing: dict[str, str] = {}
        self.kernel: Callable[[FakeHost, str, str], None] = lambda host, path, text: host.files.update({path: text})

    @property
    def name(self) -> str:
        return "fake"

    @property
    def simulated(self) -> bool:
        return self.made_up

    @property
    def capabilities(self) -> Capabilities:
        return SIMULATED_MACHINE if self.made_up else self.reached

    @property
    def firmware(self) -> FirmwareQueryHost | None:
        return None

    @property
    def root_side(self) -> None:
        return None

    @property
    def is_root(self) -> bool:
        return self.root

    async def run(self, command: Command) -> Completed:
        answer = self.tools.get(command.argv[0].rsplit("/", 1)[-1])
        if answer is None:
            raise ToolMissingError(f"{command.argv[0]} is not there.")
        return answer

    def stream(self, command: Command) -> AbstractAsyncContextManager[Process]:
        raise NotImplementedError

    async def read(self, path: str) -> str | None:
        return self.files.get(path)

    async def read_many(self, paths: Sequence[str]) -> Mapping[str, str]:
        return {path: self.files[path] for path in paths if path in self.files}

    async def write(self, path: str, text: str) -> None:
        if path in self.refusing:
            raise ToolFailedError(f"The kernel refused the value {text!r}: {self.refusing[path]}.", evidence=path)
        self.written.append((path, text))
        self.kernel(self, path, text)

    async def read_whole(self, path: str) -> bytes | None:
        text = self.files.get(path)
        return None if text is None else text.encode("utf-8", "surrogateescape")

    async def install(self, path: str, content: bytes, *, before: bytes | None) -> None:
        assert before == await self.read_whole(path)
        self.files[path] = content.decode("utf-8", "surrogateescape")

    async def list(self, pattern: str) -> tuple[str, ...]:
        paths = (*self.files, *self.links)
        before, listed = self._listed.get(pattern, ((), ()))
        if before != paths:  # a backend asks for the same patterns hundreds of times
            match = _beginning(pattern).match
            listed = tuple(sorted({found[0] for path in paths if (found := match(path))}))
            self._listed[pattern] = (paths, listed)
        return listed

    async def link(self, path: str) -> str | None:
        return self.links.get(path)

    async def stat(self, path: str) -> FileStat | None:
        if path in self.hidden:
            return None
        if path not in self.stats and path in self.files and "/fd/" in path:
            return FileStat(kind="other", size=0)  # what a program has open that is nobody's business
        return self.stats.get(path)

    async def space_at(self, path: str) -> FilesystemSpace | None:
        return self.spaces.get(path)

    async def writable(self, path: str) -> str | None:
        if path not in self.files and path not in self.refusing:
            return "the kernel does not support it for this device"
        return None if self.root else WriteDenied.NEEDS_ROOT

    def which(self, names: Sequence[str]) -> str | None:
        return next((f"/sbin/{name}" for name in names if name in self.tools), None)


@lru_cache(maxsize=1000)
def _beginning(pattern: str) -> re.Pattern[str]:
    """What a path begins with that matches as glob does: no `*` over a slash, and no name in part."""
    words = (_WILD.get(part) or _literal(part) for part in re.split(r"(\*|\?|\[[^]]+\])", pattern))
    return re.compile("".join(words) + r"(?=/|\Z)")


_WILD = {"*": "[^/]*", "?": "[^/]"}


def _literal(part: str) -> str:
    return part.replace("[!", "[^") if part.startswith("[") and part.endswith("]") else re.escape(part)


QUEUE = {
    "scheduler": "none [mq-deadline] kyber bfq",
    "read_ahead_kb": "128",
    "nr_requests": "64",
    "rq_affinity": "1",
    "nomerges": "0",
    "wbt_lat_usec": "75000",
    "max_sectors_kb": "1280",
    "max_hw_sectors_kb": "4096",
    "write_cache": "write back",
    "add_random": "1",
    "iostats": "1",
    "rotational": "1",
    "logical_block_size": "512",
    "physical_block_size": "4096",
    "zoned": "none",
}
"""A hard disk's queue."""


def disk(
    name: str, *, devno: str = "8:0", size: int = 1 << 30, queue: Mapping[str, str] = QUEUE, **own: str
) -> dict[str, str]:
    """sysfs files of one disk; further attributes with `__` for `/`."""
    base = f"/sys/block/{name}"
    files = {f"{base}/dev": devno, f"{base}/size": str(size // 512), f"{base}/ro": "0", f"{base}/diskseq": "9"}
    files |= {f"{base}/queue/{key}": value for key, value in queue.items()}
    return files | {f"{base}/{key.replace('__', '/')}": value for key, value in own.items()}


MOUNTS = "25 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw"
"""A machine whose root lies on vda."""


def machine(*disks: Mapping[str, str], **more: str) -> dict[str, str]:
    """Files of a machine with these disks."""
    files = {"/proc/self/mountinfo": MOUNTS, "/proc/swaps": "Filename\tType\tSize\tUsed\tPriority", **more}
    for one in disks:
        files |= one
    return files


WWN = "naa.5000c500a1b2c3d4"
"""Of the disk with two paths."""
ON_SDK = MOUNTS + "\n40 25 8:160 / /mnt rw - ext4 /dev/sdk rw"
"""The same machine with /dev/sdk mounted."""


def dm_tables(host: FakeHost) -> Completed:
    """What `dmsetup table` says where all that device-mapper has was made at once: one after the other, none twice."""
    lines, ends = [], dict[str, int]()
    names = [path.split("/")[3] for path in host.files if path.endswith("/dm/name")]
    for name in sorted(names, key=lambda name: int(name[3:])):
        below = [path.rsplit("/", 1)[1] for path in host.files if path.startswith(f"/sys/block/{name}/slaves/")]
        at, total = 0, int(host.files[f"/sys/block/{name}/size"])
        for number, under in enumerate(below, 1):
            sectors = total * number // len(below) - at
            start = ends.setdefault(under, 2048)
            devno = next(host.files[path] for path in host.files if path.endswith(f"/{under}/dev"))
            lines.append(f"{host.files[f'/sys/block/{name}/dm/name']}: {at} {sectors} linear {devno} {start}")
            at, ends[under] = at + sectors, start + sectors
    return Completed(returncode=0, stdout="".join(f"{line}\n" for line in lines), stderr="")


_AT = ((2, "sdk"), (3, "sdl"))
"""Adapters from which the two paths hang."""


def two_paths(*, first: Mapping[str, Any], second: Mapping[str, Any], **more: str) -> FakeHost:
    """A machine with /dev/sdk and /dev/sdl, and what they tell of themselves."""
    host = FakeHost(
        machine(disk("sdk", devno="8:160", **first), disk("sdl", devno="8:176", **second), **more),
        stats={
            "/dev/sdk": FileStat(kind="block", size=0, devno="8:160"),
            "/dev/sdl": FileStat(kind="block", size=0, devno="8:176"),
        },
        links={f"/sys/block/{name}": f"/sys/devices/host{at}/{at}:0:0:0/block/{name}" for at, name in _AT},
    )
    host.files["/proc/1/task/1/fd/0"] = ""
    host.reached = THIS_MACHINE
    return host


def half_told() -> FakeHost:
    """The same, but /dev/sdk does not tell the WWN: it is known by serial number, model and size."""
    told = {"serial": "S1", "device__model": "M"}
    return two_paths(first=told, second={**told, "device__wwid": WWN})


def one_disk(**more: str) -> FakeHost:
    """A machine with one disk at /dev/sdk and /dev/sdl."""
    own = {"device__wwid": WWN}
    return two_paths(first=own, second=own, **more)
