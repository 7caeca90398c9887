"""Parsers for the output of lvs and dmsetup. No I/O. They never raise an error.

`""`, `-1` and `unknown` mean that a value is not reported or does not apply (lvmreport(7); tested with LVM 2.03.16).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from backends.json_text import document, rows, table, whole_number, word
from backends.topology.device_mapper import parse_segments
from backends.values import dataclass

LVS = (
    *("--nolocking", "--reportformat", "json", "--units", "b", "--nosuffix", "-a"),
    *("-o", "lv_all,seg_all,vg_name,vg_uuid,vg_free,vg_missing_pv_count"),
)
"""Arguments of lvs.

Locking is off, because a flush may hold the group's lock for hours, and because taking the lock writes to disk. All
columns of a kind are requested, because naming a column that a version does not have is an error.
"""

PVS = ("--nolocking", "--reportformat", "json", "--units", "b", "--nosuffix", "-o", "pv_all,vg_all")
"""Arguments of pvs. For locking and columns see `LVS`."""

CACHE, WRITECACHE, THIN_POOL = "cache", "writecache", "thin-pool"
VDO, VDO_POOL = "vdo", "vdo-pool"
"""Kinds of VDO volumes: LVM's names of their segment types."""

POOLS = (THIN_POOL, VDO_POOL)
"""Kinds of pools, whose space other volumes use.
LVM reports a pool as active only if it has a device of its own, not if only the volumes that use it are active.
"""

LVM_NAME = re.compile(r"[A-Za-z0-9+_.][A-Za-z0-9+_.-]{0,126}")
"""Pattern of the name of a group or volume."""
LVM_UUID = re.compile(r"[A-Za-z0-9]{6}(?:-[A-Za-z0-9]{4}){5}-[A-Za-z0-9]{6}")
"""Pattern of a UUID in LVM's spelling."""
_PLACE = re.compile(
    r"(/dev/[A-Za-z0-9+_./-]{1,250}|[A-Za-z0-9+_.][A-Za-z0-9+_.-]{0,126}|\[unknown\])\(\d{1,12}\)", re.ASCII
)
_NOTHING = ("", "-1", "unknown")
_NUMBERS = ("stripes", "stripe_size", "chunk_size")

MISSING = "[unknown]"
"""Placeholder for a missing physical volume."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LvFacts:
    """One logical volume, visible or hidden."""

    group: str
    """Name of its volume group."""
    name: str
    """Its name, without the brackets of a hidden volume."""
    hidden: bool
    """Whether it is part of another volume."""
    uuid: str
    """LVM's UUID of the volume."""
    group_uuid: str
    """LVM's UUID of the group."""
    kind: str
    """Segtype of its first segment: `linear`, `striped`, `cache`, `writecache`, `raid1`, `raid5_ls`, ..."""
    layout: tuple[str, ...]
    """Layout as LVM reports it: `raid`, `raid5`, `raid5_ls`."""
    places: tuple[str, ...]
    """Locations of its data: nodes of physical volumes, names of hidden volumes, `[unknown]`."""
    columns: Mapping[str, str]
    """All columns that have a value."""

    @property
    def address(self) -> str:
        """Return the address of the volume: `vg0/mail`."""
        return f"{self.group}/{self.name}"

    @property
    def is_active(self) -> bool:
        """Return whether it is active.

        In a cluster, the column begins with `local` or `remote` instead of `active` (lib/metadata/lv.c, lv_active_dup).
        """
        return self.columns.get("lv_active", "").startswith(("active", "local"))

    @property
    def kernel(self) -> str | None:
        """Return its kernel name; None while it is not active."""
        minor = self.number("lv_kernel_minor")
        return f"dm-{minor}" if self.is_active and minor is not None and minor < 1 << 20 else None

    @property
    def dm_name(self) -> str:
        """Return its name below /dev/mapper."""
        return self.columns.get("lv_dm_path", "").removeprefix("/dev/mapper/")

    @property
    def pool(self) -> str | None:
        """Return the name of the hidden volume that caches this volume, or of the pool that provides its space; None
        without one.
        """
        return self.columns.get("pool_lv", "").strip("[]") or None

    @property
    def origin(self) -> str | None:
        """Return the origin of a thick snapshot, which stores changed data in its own space; None for other volumes."""
        if "thicksnapshot" not in self.columns.get("lv_role", "").split(","):
            return None
        return self.columns.get("origin", "").strip("[]") or None

    @property
    def settings(self) -> Mapping[str, str]:
        """Return the cache tunables that were set, by name."""
        return pairs(self.columns.get("cache_settings"))

    @property
    def level(self) -> str:
        """Return the RAID level (`raid1` for `raid,raid1`), or the kind of a volume that is not a RAID."""
        return next((name for name in self.layout if re.fullmatch(r"raid\d{1,2}", name, re.ASCII)), self.kind)

    def number(self, key: str) -> int | None:
        """Return a column as a whole number; None if it has no value or is no number."""
        return whole_number(self.columns.get(key))

    def share(self, key: str) -> float | None:
        """Return a percentage column as a share from 0 to 1; None if it has no value or is no percentage."""
        text = self.columns.get(key, "")
        percent = float(text) if re.fullmatch(r"\d{1,3}(\.\d{1,4})?", text, re.ASCII) else None
        return percent / 100 if percent is not None and percent <= 100 else None

    @property
    def blocks_to_flush(self) -> int | None:
        """Return the number of blocks that a flush still has to write back; None if no flush is running.

        During a flush LVM loads the policy `cleaner` and keeps the configured one in its metadata
        (lv_cache_wait_for_clean).
        """
        dirty = self.number("cache_dirty_blocks")
        return dirty if dirty and self.columns.get("kernel_cache_policy") == "cleaner" else None


def pairs(text: str | None) -> dict[str, str]:
    """Return the values in a list such as `high_watermark=60,low_watermark=40` by name."""
    tuples = (part.partition("=") for part in (text or "").split(","))
    return {key: value for key, equals, value in tuples if equals and re.fullmatch(r"[a-z_]{1,40}", key)}


def parse_lvs(text: str) -> tuple[tuple[LvFacts, ...], int]:
    """Return all volumes, and the number of unparsable rows. A volume has one row per segment.

    If a name has two UUIDs, or a UUID has two names, all volumes of the group count as unparsable, because they depend
    on each other.
    """
    by_address: dict[str, LvFacts] = {}
    names: dict[str, str] = {}
    mixed: set[str] = set()
    strange = 0
    for report in rows(table(document(text)).get("report")):
        for row in rows(report.get("lv"), most=20_000):
            lv_facts = _volume(row)
            if lv_facts is None:
                strange += 1
                continue
            before = by_address.get(lv_facts.address)
            if names.setdefault(lv_facts.uuid, lv_facts.address) != lv_facts.address:
                mixed |= {names[lv_facts.uuid].partition("/")[0], lv_facts.group}
            if before is not None and (before.uuid, before.group_uuid) != (lv_facts.uuid, lv_facts.group_uuid):
                mixed.add(lv_facts.group)
            if before is None:
                by_address[lv_facts.address] = lv_facts
            else:  # segments of a volume may differ in location and stripes
                larger = {key: str(max(lv_facts.number(key) or 0, before.number(key) or 0)) for key in _NUMBERS}
                places = tuple(dict.fromkeys((*before.places, *lv_facts.places)))
                by_address[lv_facts.address] = replace(before, places=places, columns={**before.columns, **larger})
    believed = tuple(volume for volume in by_address.values() if volume.group not in mixed)
    return believed, strange + len(by_address) - len(believed)


def _volume(row: Mapping[str, object]) -> LvFacts | None:
    """Return the volume in a row; None if its names or UUIDs are not valid for LVM."""
    fields = {
        key: text
        for key, value in row.items()
        if value not in _NOTHING  # most columns of a row, which need no cleaning
        and (text := word(value, 4096)) is not None
        and text not in _NOTHING
    }
    shown, group = fields.get("lv_name", ""), fields.get("vg_name", "")
    hidden = shown.startswith("[")
    name = shown.removeprefix("[").removesuffix("]")
    uuids = fields.get("lv_uuid", ""), fields.get("vg_uuid", "")
    if not all(map(LVM_NAME.fullmatch, (name, group))) or not all(map(LVM_UUID.fullmatch, uuids)):
        return None
    return LvFacts(
        group=group,
        name=name,
        hidden=hidden,
        uuid=uuids[0],
        group_uuid=uuids[1],
        kind=fields.get("segtype", "").split("+")[0],
        layout=tuple(fields.get("lv_layout", "").split(",")),
        places=tuple(match[1] for part in fields.get("devices", "").split(",") if (match := _PLACE.fullmatch(part))),
        columns=fields,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedTable:
    """The kernel's table of a volume: its line in `dmsetup table`."""

    kind: str
    """Name of the target."""
    words: tuple[str, ...]
    """Arguments of the target."""

    @property
    def cache_mode(self) -> str | None:
        """Return dm-cache's mode in the kernel's spelling (Documentation/admin-guide/device-mapper/cache.rst)."""
        modes = ("writethrough", "writeback", "passthrough")
        return next((word for word in self.words if word in modes), None) if self.kind == CACHE else None

    @property
    def tunables(self) -> Mapping[str, str]:
        """Return the optional arguments of dm-writecache, with `cleaner` as 1. They follow five other arguments."""
        rest = [word for word in self.words[5:] if word != "cleaner"] if self.kind == WRITECACHE else []
        by_name = dict(zip(rest[::2], rest[1::2], strict=False))
        return by_name | ({"cleaner": "1"} if "cleaner" in self.words[5:] else {})

    @property
    def write_behind(self) -> int | None:
        """Return the maximum number of write-behind requests of dm-raid; None if it is not set."""
        at = self.words.index("max_write_behind") + 1 if "max_write_behind" in self.words else len(self.words)
        return whole_number(self.words[at]) if self.kind == "raid" and at < len(self.words) else None


def parse_tables(text: str) -> Mapping[str, LoadedTable]:
    """Return the kernel's tables by the names below /dev/mapper.

    A volume with several segments is represented by its first one.
    """
    return {
        name: LoadedTable(kind=segments[0].kind, words=segments[0].args)
        for name, segments in parse_segments(text).items()
    }


def lower_volumes(volume: LvFacts, volumes: Mapping[str, LvFacts]) -> Iterable[LvFacts]:
    """Yield the volume and all hidden volumes below it, each once. `volumes`: all volumes of its group by name."""
    waiting, visited = [volume.name], set[str]()
    while waiting:
        name = waiting.pop(0)
        lv_facts = volumes.get(name)
        if lv_facts is None or name in visited:
            continue
        visited.add(name)
        yield lv_facts
        waiting += [lower_name for lower_name in lv_facts.places if not lower_name.startswith(("/", "["))]
        waiting += [lv_facts.pool] if lv_facts.kind in ("thin", VDO) and lv_facts.pool is not None else []


def is_in_use(volume: LvFacts, volumes: Mapping[str, LvFacts]) -> bool:
    """Return whether a volume, or another volume that uses its space, is active.

    `volumes`: all volumes of its group by name.
    """
    if volume.is_active or volume.kind not in POOLS:
        return volume.is_active
    return any(lv_facts.is_active for lv_facts in volumes.values() if lv_facts.pool == volume.name)
