"""Reader of md arrays in sysfs and /proc/mdstat, a formatter of durations, and a parser of CPU lists."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection
from dataclasses import replace

from backends.host import Host
from backends.tool_output import CUT, CompletenessCheck, unreadable_files_message
from backends.vendors.mdraid.facts import WHOLE_MDSTAT, ArrayFacts, parse_array, parse_mdstat

# -- formatter of durations, and parser of CPU lists ------------------------------------------------------------------

_RANGE = re.compile(r"([0-9]{1,6})(?:-([0-9]{1,6}))?")


def time_text(seconds: float) -> str:
    """Return a duration such as `40 s`, `12 min`, `3.5 h`, `2.1 days`."""
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    if seconds < 172_800:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 86_400:.1f} days"


def count_cpus(text: str | None) -> int | None:
    """Return the number of CPUs in a list such as `0-3,8` (/sys/devices/system/cpu/online); None if it is no list."""
    total = 0
    for part in (text or "").split(","):
        match = _RANGE.fullmatch(part)
        if match is None:
            return None
        first, last = int(match[1]), int(match[2] or match[1])
        total += max(last - first + 1, 0)
    return total or None


# -- reader of sysfs and /proc/mdstat ---------------------------------------------------------------------------------

ATTRIBUTES = (
    "array_state",
    "level",
    "raid_disks",
    "chunk_size",
    "layout",
    "metadata_version",
    "uuid",
    "degraded",
    "component_size",
    "consistency_policy",
    "sync_action",
    "sync_completed",
    "sync_speed",
    "sync_speed_min",
    "sync_speed_max",
    "reshape_position",
    "mismatch_cnt",
    "safe_mode_delay",
    "stripe_cache_size",
    "preread_bypass_threshold",
    "group_thread_cnt",
    "skip_copy",
    "journal_mode",
    "bitmap_type",
    "bitmap/location",
    "bitmap/chunksize",
    "bitmap/metadata",
)
"""Files that are read in one batch from the `md` folder of every array. Most arrays have only some of them."""

MEMBER_ATTRIBUTES = ("state", "slot", "size", "offset", "errors")
"""Files that are read from the `md/dev-NAME` folder of every member."""

WHOLE_FOLDER = CompletenessCheck(
    tool="sysfs of md arrays",
    mark="every requested file of the folder is readable",
    missing=lambda text: "",
    hides="the end of a value, which the kernel returns in one read",
    statuses=frozenset(),
)
"""Completeness of an array's folder.

Which files exist depends on the kernel and the level, so only files that the kernel lists must be readable.
"""


async def read_arrays(host: Host, names: Collection[str] | None = None) -> tuple[ArrayFacts, ...]:
    """Return all arrays, or those with these kernel names, sorted by name.

    A node without an array (state `clear`, no members) is left out. The kernel keeps such a node while a process has it
    open. `ArrayFacts.cut` is set for an array that could not be read completely.
    """
    pattern = "*" if names is None or len(names) != 1 else next(iter(names))
    folder = f"/sys/block/{pattern}/md/"
    lists = (host.list(folder + literal) for literal in ("array_state", "dev-*/state", "*", "*/*"))
    stat, (states, members, *listed) = await asyncio.gather(host.read("/proc/mdstat"), asyncio.gather(*lists))
    present = [path.split("/")[3] for path in states]
    wanted = [f"/sys/block/{name}/md/{attribute}" for name in present for attribute in ATTRIBUTES]
    folders = [path.rsplit("/", 1)[0] for path in members]
    wanted += [f"{folder}/{attribute}" for folder in folders for attribute in MEMBER_ATTRIBUTES]
    texts = await host.read_many(wanted)
    lacks = "it cannot be read" if stat is None else WHOLE_MDSTAT.missing(stat)
    rows = parse_mdstat("" if stat is None or lacks else stat)
    unread = {path for paths in listed for path in paths}.intersection(wanted) - texts.keys()
    array_facts: list[ArrayFacts] = []
    for name in sorted(present, key=lambda name: (len(name), name)):
        base = f"/sys/block/{name}/md"
        array_texts = {attribute: texts[path] for attribute in ATTRIBUTES if (path := f"{base}/{attribute}") in texts}
        parts = {
            folder.rsplit("/dev-", 1)[1]: {
                attribute: texts[path] for attribute in MEMBER_ATTRIBUTES if (path := f"{folder}/{attribute}") in texts
            }
            for folder in folders
            if folder.startswith(f"{base}/dev-")
        }
        array = parse_array(name, array_texts, parts, rows.get(name))
        untold = frozenset(path.removeprefix(f"{base}/") for path in unread if path.startswith(f"{base}/"))
        if array.members or untold or array.array_state not in ("clear", ""):
            cut = unreadable_files_message(base, untold) or (f"/proc/mdstat: {CUT}: {lacks}" if lacks else "")
            array_facts.append(replace(array, untold=untold, cut=cut))
    return tuple(array_facts)
