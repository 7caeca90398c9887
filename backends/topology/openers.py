"""Programs that have a block device open, found through /proc: O_EXCL does not see plain openers."""

from __future__ import annotations

import asyncio
from collections.abc import Collection

from backends.host import Host
from backends.identity import Use
from backends.text import clean
from backends.topology.tree import Node


async def openers(host: Host, nodes: Collection[Node], *, ignore: Collection[int] = ()) -> tuple[Use, ...]:
    """Who has one of these devices open, by device number, whatever path it was opened by.

    `ignore`: process ids that do not count, our own. Without root the open files of other users' programs cannot
    be seen, which is a use of kind `unknown`.
    """
    if not host.is_root:
        return (Use(kind="unknown", detail="without root it cannot be seen which programs have it open"),)
    wanted = {node.devno: node for node in nodes if node.devno is not None}
    found: dict[tuple[str, str], Node] = {}
    paths = await host.list("/proc/[0-9]*/fd/*")
    if not paths:
        return (Use(kind="unknown", detail="the open files of programs cannot be read"),)
    for start in range(0, len(paths), 256):
        batch = paths[start : start + 256]
        for path, stat in zip(batch, await asyncio.gather(*map(host.stat, batch)), strict=True):
            pid = path.split("/")[2]
            if stat is None or stat.kind != "block" or int(pid) in ignore:
                continue
            node = wanted.get(stat.devno or "")
            if node is not None:
                found[pid, node.name] = node
    uses: list[Use] = []
    for (pid, _), node in found.items():
        name = clean(await host.read(f"/proc/{pid}/comm") or "?", 32)
        part = node.name if node.parent is not None else None
        uses.append(Use(kind="open", detail=f"{name} (process {pid}) has it open", part=part))
    return tuple(uses)
