"""What the simulated Linux host has to tell as real Linux does: one table of questions with their answers, for both.

`tests/backends/simulator/test_linux_alike.py` asks the rack, `tests/lab/test_alike.py` real Linux in the guest, both by
the same `Host`. The answers are those of Linux 6.1 and LVM 2.03.16 in the laboratory (of a zvol: by the source of
OpenZFS 2.1, os/linux/zfs/zvol_os.c; the guest is asked where ZFS was built for it), told without what may differ from
machine to machine: `N` stands for every number, and limits are told as those of the members.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from backends.host import Command, Host
from backends.json_text import document
from backends.vendors.lvm.facts import LVS

KINDS = ("array", "volume", "cached", "writecached", "bcache", "multipath", "zvol")
"""What is built on other disks: md on hard disks, LVM on that, the rest on what each has."""

VOLUMES = ("volume", "cached", "writecached")
"""Those of them that are LVM's."""

_OWN, _NONE = "one of its own", "none of its own"
_MUTE = "there, and cannot be read"
_MEMBERS = "that of its members"
_ANY = "2147483647"
_GONE = "not there"

_KERNEL: Mapping[str, Sequence[str]] = {
    "queue/iostats": ("1", "0", "0", "0", "0", "1", "1"),
    "queue/rotational": ("1", "1", "1", "1", "0", "0", "0"),
    "queue/scheduler": (_NONE, _NONE, _NONE, _NONE, _NONE, _OWN, _NONE),
    "queue/rq_affinity": ("0", "0", "0", "0", "0", "1", "0"),
    "queue/nomerges": ("0", "0", "0", "0", "0", "0", "2"),
    "queue/add_random": ("0",) * 7,
    "queue/write_cache": ("write back",) * 7,
    "queue/zoned": ("none",) * 7,
    "queue/logical_block_size": (_MEMBERS, _MEMBERS, _MEMBERS, "4096", "4096", _MEMBERS, "512"),
    "queue/physical_block_size": (_MEMBERS, _MEMBERS, _MEMBERS, "4096", "4096", _MEMBERS, "8192"),
    "queue/wbt_lat_usec": (_MUTE, _MUTE, _MUTE, _MUTE, _MUTE, "2000", _MUTE),
    "queue/read_ahead_kb": (*(_MEMBERS,) * 6, "128"),
    "queue/max_sectors_kb": (_MEMBERS, _MEMBERS, _MEMBERS, _MEMBERS, _ANY, _MEMBERS, "1280"),
    "queue/max_hw_sectors_kb": (_MEMBERS, _MEMBERS, _MEMBERS, _MEMBERS, _ANY, _MEMBERS, "16384"),
    "mq/0/nr_tags": (_GONE, _GONE, _GONE, _GONE, _GONE, "2048", _GONE),
}
"""By file below `/sys/block/NAME`: what each of `KINDS` has there."""

_MEMBERS_DECIDE = {
    **{f"queue/{key}": max for key in ("read_ahead_kb", "logical_block_size", "physical_block_size")},
    **{f"queue/{key}": min for key in ("max_sectors_kb", "max_hw_sectors_kb")},
}
"""Files that follow what lies beneath, and how."""

_COLUMNS: Mapping[str, Sequence[str]] = {
    "lv_name": ("VOLUME",) * 3,
    "vg_name": ("GROUP",) * 3,
    "lv_path": ("/dev/GROUP/VOLUME",) * 3,
    "lv_dm_path": ("/dev/mapper/GROUP-VOLUME",) * 3,
    "lv_kernel_minor": ("N",) * 3,
    "lv_layout": ("linear", "cache", "writecache"),
    "segtype": ("linear", "cache", "writecache"),
    "lv_role": ("public",) * 3,
    "lv_attr": ("-wi-a-----", "Cwi-a-C---", "Cwi-a-C---"),
    "lv_active": ("active",) * 3,
    "lv_health_status": ("",) * 3,
    "lv_suspended": ("",) * 3,
    "lv_check_needed": ("unknown", "", "unknown"),
    "lv_snapshot_invalid": ("unknown",) * 3,
    "lv_read_ahead": ("auto",) * 3,
    "devices": ("/dev/DISK(N)", "VOLUME_corig(N)", "VOLUME_wcorig(N)"),
    "pool_lv": ("", "[CACHE_cvol]", "[CACHE_cvol]"),
    "origin": ("", "[VOLUME_corig]", "[VOLUME_wcorig]"),
    "origin_size": ("",) * 3,
    "data_percent": ("", "N.N", "N.N"),
    "snap_percent": ("", "N.N", "N.N"),
    "metadata_percent": ("", "N.N", ""),
    "sync_percent": ("", "N.N", ""),
    "copy_percent": ("", "N.N", ""),
    "chunk_size": ("N",) * 3,
    "stripes": ("N",) * 3,
    "stripe_size": ("N",) * 3,
    "cache_mode": ("", "writethrough", ""),
    "cache_policy": ("", "smq", ""),
    "cache_settings": ("",) * 3,
    "kernel_cache_policy": ("", "mq", ""),
    "kernel_cache_settings": (
        "",
        "migration_threshold=N,random_threshold=N,sequential_threshold=N,discard_promote_adjustment=N,"
        "read_promote_adjustment=N,write_promote_adjustment=N",
        "",
    ),
    **{f"cache_{what}": ("", "N", "") for what in ("total_blocks", "used_blocks", "dirty_blocks")},
    **{f"cache_{what}": ("", "N", "") for what in ("read_hits", "read_misses", "write_hits", "write_misses")},
    "writecache_block_size": ("-N", "-N", "N"),
    **{f"writecache_{what}": ("", "", "N") for what in ("total_blocks", "free_blocks", "writeback_blocks", "error")},
    **{f"raid_{what}": ("",) * 3 for what in ("min_recovery_rate", "max_recovery_rate", "write_behind")},
    **{f"raid_{what}": ("",) * 3 for what in ("mismatch_count", "sync_action")},
    "vg_missing_pv_count": ("N",) * 3,
}
"""By column of `lvs`, asked as raidbench asks it: what each of `VOLUMES` has there."""

_PARTS = {
    "volume": ("",),
    "cached": ("_corig", "_cvol", "_cvol-cdata", "_cvol-cmeta"),
    "writecached": ("_wcorig", "_cvol"),
}
_TABLES = {
    **{f"{kind}{part}": "N N linear N:N N" for kind, parts in _PARTS.items() for part in parts},
    "cached": "N N cache N:N N:N N:N N N metadataN writethrough mq N",
    "writecached": "N N writecache s N:N N:N N N",
}
_STATES = {
    **{f"{kind}{part}": "N N linear " for kind, parts in _PARTS.items() for part in parts},
    "cached": "N N cache N N/N N N/N N N N N N N N N metadataN writethrough N migration_threshold N mq N "
    "random_threshold N sequential_threshold N discard_promote_adjustment N read_promote_adjustment N "
    "write_promote_adjustment N rw - ",
    "writecached": "N N writecache N N N N N N N N N N N N N N",
}
"""By volume and part: what `dmsetup table` and `dmsetup status` say of it."""

_LAID = "dmsetup table: extents"

ALIKE: Mapping[str, str] = {
    **{f"{kind}: {file}": told for file, row in _KERNEL.items() for kind, told in zip(KINDS, row, strict=True)},
    **{f"lvs {key}: {kind}": told for key, row in _COLUMNS.items() for kind, told in zip(VOLUMES, row, strict=True)},
    **{f"dmsetup table: {part}": told for part, told in _TABLES.items()},
    **{f"dmsetup status: {part}": told for part, told in _STATES.items()},
    _LAID: "one after the other",
}
"""Every question with its answer."""


@dataclass(frozen=True)
class Place:
    """Where things of each kind are on one machine."""

    disks: Mapping[str, str]
    """Kernel name by kind; a machine may lack some of `KINDS`."""
    volumes: Mapping[str, str] = field(default_factory=dict)
    """`vg0/mail` by kind."""
    caches: Mapping[str, str] = field(default_factory=dict)
    """Name of the volume that caches, by kind."""

    def named(self, kind: str) -> tuple[str, str, str]:
        """Group, volume and cache, which is the volume itself where it has none."""
        group, _, volume = self.volumes[kind].partition("/")
        return group, volume, self.caches.get(kind, volume)


async def unlike(host: Host, place: Place) -> dict[str, tuple[str, str]]:
    """Questions about what is there to which a machine has another answer: its own, and that of `ALIKE`."""
    own = await answers(host, place)
    lacking = tuple(f"{kind}: " for kind in KINDS if kind not in place.disks)
    asked = [question for question in ALIKE if not question.startswith(lacking or ("-",))]
    told = {question: own.get(question, _GONE) for question in asked}
    return {question: (text, ALIKE[question]) for question, text in told.items() if text != ALIKE[question]}


async def answers(host: Host, place: Place) -> dict[str, str]:
    """What one machine says to every question."""
    found = {
        f"{kind}: {file}": await _of_the_kernel(host, name, file)
        for kind, name in place.disks.items()
        for file in _KERNEL
    }
    report: Any = document(await _said(host, "lvs", *LVS))
    rows = {f"{row['vg_name']}/{row['lv_name']}": row for row in report["report"][0]["lv"]}
    for kind in VOLUMES:
        for column, text in rows[place.volumes[kind]].items():
            found[f"lvs {column}: {kind}"] = _shape(text, place.named(kind))
    for verb in ("table", "status"):
        said = await _said(host, "dmsetup", verb)
        found |= {f"dmsetup {verb}: {part}": text for part, text in _lines(said, place)}
        if verb == "table":
            found[_LAID] = "; ".join(_overlapping(said)) or ALIKE[_LAID]
    return found


async def _of_the_kernel(host: Host, name: str, file: str) -> str:
    path = f"/sys/block/{name}/{file}"
    text = await host.read(path)
    if text is None:
        return _MUTE if await host.list(path) else _GONE
    if file == "queue/scheduler":  # which ones there are, and with which a queue begins, is the modules' affair
        return _NONE if text == "none" else _OWN
    members = await host.list(f"/sys/block/{name}/slaves/*") if file in _MEMBERS_DECIDE else ()
    below = [await host.read(f"/sys/block/{path.rpartition('/')[2]}/{file}") for path in members]
    return _MEMBERS if below and text == str(_MEMBERS_DECIDE[file](int(one or 0) for one in below)) else text


def _lines(said: str, place: Place) -> Iterator[tuple[str, str]]:
    """Those of the volumes and their parts."""
    for line in said.splitlines():
        name, _, rest = line.partition(": ")
        for kind in place.volumes:
            group, volume, cache = place.named(kind)
            own = next((one for one in (volume, cache) if name.startswith(f"{group}-{one}")), None)
            if own is not None:
                yield kind + name.removeprefix(f"{group}-{own}"), _shape(rest, (group, volume, cache))


def _shape(text: str, names: tuple[str, str, str]) -> str:
    """A text with `N` for every number, and what things are for their names."""
    group, volume, cache = names
    for name, word in ((cache, "CACHE" if cache != volume else "VOLUME"), (volume, "VOLUME"), (group, "GROUP")):
        text = re.sub(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", word, text)
    return re.sub(r"\d+", "N", re.sub(r"/dev/(?!mapper|GROUP)\w+", "/dev/DISK", text))


def _overlapping(table: str) -> Iterator[str]:
    """Linear volumes that begin within another one on the same disk."""
    ends: dict[str, int] = {}
    parts = [line.split() for line in table.splitlines() if line.split()[3:4] == ["linear"]]
    for name, _, length, _, disk, start in sorted(parts, key=lambda words: (words[4], int(words[5]))):
        if int(start) < ends.get(disk, 0):
            yield f"{name} begins within another one"
        ends[disk] = int(start) + int(length)


async def _said(host: Host, tool: str, *words: str) -> str:
    path = host.which((tool,))
    assert path is not None
    return (await host.run(Command(argv=(path, *words), timeout=60))).stdout
