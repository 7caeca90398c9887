"""Programs that have a block device or a file open, found through /proc: O_EXCL does not see plain openers."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping

from backends.host import FileStat, Host
from backends.hosts.local.kcmp import with_tables_of_their_own
from backends.identity import Use
from backends.text import clean
from backends.values import dataclass

_THREADS = "/proc/[0-9]*/task/*"
"""All threads: one may have a table of its own, and a program's is empty once its first thread has ended."""


@dataclass(frozen=True, slots=True)
class Opener:
    """A program that has something open."""

    name: str
    """As the kernel has it, 15 characters at most."""
    pid: str
    """Process id."""

    def use(self, part: str | None = None) -> Use:
        """Of a device or a partition."""
        return Use(kind="open", detail=f"{self.name} (process {self.pid}) has it open", part=part)


async def openers(
    host: Host, wanted: Collection[str], *, ignore: Collection[int] = ()
) -> Mapping[str, tuple[Opener, ...]] | Use:
    """Who has what open, whatever path it was opened by.

    `wanted`: numbers of block devices, those of character devices after `char `, and places of files.
    `ignore`: process ids that do not count, our own. Without root the open files of other users' programs cannot
    be seen, which is a use of kind `unknown`.
    """
    if not host.is_root:
        return Use(kind="unknown", detail="without root it cannot be seen which programs have it open")
    threads = await host.list(_THREADS)
    if host.capabilities.opens_devices:
        threads = with_tables_of_their_own(threads)
    paths = [path for thread in threads for path in await host.list(f"{thread}/fd/*")]
    if not paths:
        return Use(kind="unknown", detail="the open files of programs cannot be read")
    pids: dict[str, dict[str, None]] = {}
    for start in range(0, len(paths), 256):
        batch = paths[start : start + 256]
        for path, stat in zip(batch, await asyncio.gather(*map(host.stat, batch)), strict=True):
            what = _what(stat)
            pid = path.split("/")[2]
            if what is not None and what in wanted and int(pid) not in ignore:
                pids.setdefault(what, {})[pid] = None
    return {what: tuple([await _opener(host, pid) for pid in found]) for what, found in pids.items()}


def _what(stat: FileStat | None) -> str | None:
    if stat is None or stat.kind not in ("block", "char"):
        return None if stat is None else stat.place
    return stat.devno if stat.kind == "block" else f"char {stat.devno}"


async def _opener(host: Host, pid: str) -> Opener:
    return Opener(clean(await host.read(f"/proc/{pid}/comm") or "?", 32), pid)
