"""lvs and dmsetup of the simulated host, in the shape of what LVM 2.03.16 printed in the laboratory."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from backends.simulator.hung_disk import rejected_devices
from backends.simulator.lvm.volumes import (
    CACHED,
    EXTENT,
    FIRST_EXTENT,
    META_BLOCKS,
    META_USED,
    OF_POLICY,
    STRIPED,
    DmNode,
    LvmGroup,
    LvmVolume,
)
from backends.simulator.rack import Rack
from backends.simulator.tool_output import SimulatedOutput

Row = dict[str, str]

_ALL = ("lv_all", "seg_all")
"""Words for all columns."""


def lvs_output(rack: Rack, args: Sequence[str]) -> SimulatedOutput:
    """The report of all volumes in JSON: the columns asked for, each a string."""
    options = dict(pairwise(args))
    wanted = set(options.get("-o", "lv_all").split(","))
    every = not wanted.isdisjoint(_ALL)
    rows = []
    for group in rack.lvm.values():
        left_out = rejected_devices(args).intersection(group.places)
        for row in _rows(group, rack.now(), hidden="-a" in args):
            row |= {"vg_free": str(free_bytes(rack, group))}
            if left_out:
                missing = {"vg_missing_pv_count": str(len(left_out))}
                row = row | missing | {"devices": _without_missing(row["devices"], left_out)}
            rows.append(
                {key: text for key, text in row.items() if key in wanted or (every and not key.startswith("vg_"))}
            )
    return _report("lv", rows)


def _report(kind: str, rows: Sequence[Row]) -> SimulatedOutput:
    """Return rows as LVM reports them in JSON."""
    lines = ",\n".join(f"                  {json.dumps(row, separators=(', ', ':'))}" for row in rows)
    text = f'  {{\n      "report": [\n          {{\n              "{kind}": [\n{lines}\n              ]\n          }}\n'
    return SimulatedOutput(text=f"{text}      ]\n  }}\n", seconds=0.05)


def lvmconfig_output(_rack: Rack, args: Sequence[str]) -> SimulatedOutput:
    """Nothing is configured but what is so by itself."""
    return SimulatedOutput(text="", code=5 if args else 0)


def _without_missing(devices: str, left_out: Collection[str]) -> str:
    """Return the devices of a volume as LVM lists them when some of them are missing."""
    places = (part.partition("(") for part in devices.split(","))
    return ",".join(
        f"{'[unknown]' if name.removeprefix('/dev/') in left_out else name}{bracket}{rest}"
        for name, bracket, rest in places
    )


def _rows(group: LvmGroup, now: float, *, hidden: bool) -> Iterator[Row]:
    for volume in group.volumes:
        nodes = volume.nodes(now)
        names = {node.kernel: node.name for node in nodes}
        for node in nodes:
            own = node is nodes[0]
            if node.ending in ("-cdata", "-cmeta") or (not own and not hidden):
                continue
            yield _common(group, node, names, own) | (_own(volume, now) if own else _part(volume, node))


def _common(group: LvmGroup, node: DmNode, names: dict[str, str], own: bool) -> Row:
    """What a volume and its parts have alike; what does not apply is "" or -1."""
    devices = ",".join(f"{names.get(slave, f'/dev/{slave}')}(0)" for slave in node.slaves)
    return {
        "lv_uuid": group.uuid_of(node.name),
        "lv_name": node.name if own else f"[{node.name}]",
        "lv_path": f"/dev/{group.name}/{node.name}" if own else "",
        "lv_dm_path": f"/dev/mapper/{group.dm_name(node)}",
        "lv_layout": "linear",
        "lv_role": "public" if own else "private",
        "lv_attr": "-wi-a-----" if own else "iwi-aor---",
        "lv_size": str(node.size_bytes),
        "lv_active": "active",
        **dict.fromkeys(("lv_health_status", "lv_suspended"), ""),
        "lv_kernel_major": "254",
        "lv_kernel_minor": str(node.number),
        "lv_read_ahead": "auto",
        "lv_kernel_read_ahead": "131072",
        **dict.fromkeys(("lv_tags", "pool_lv", "origin", "origin_size", "snap_percent"), ""),
        "lv_snapshot_invalid": "unknown",
        **dict.fromkeys(("copy_percent", "data_percent", "metadata_percent", "sync_percent"), ""),
        **dict.fromkeys(("raid_mismatch_count", "raid_sync_action", "raid_write_behind", "raid_min_recovery_rate"), ""),
        **dict.fromkeys(("raid_max_recovery_rate", "cache_total_blocks", "cache_used_blocks"), ""),
        **dict.fromkeys(("cache_dirty_blocks", "cache_read_hits", "cache_read_misses", "cache_write_hits"), ""),
        **dict.fromkeys(("cache_write_misses", "kernel_cache_settings", "kernel_cache_policy"), ""),
        "lv_check_needed": "unknown",
        **dict.fromkeys(("writecache_total_blocks", "writecache_free_blocks", "writecache_writeback_blocks"), ""),
        "writecache_error": "",
        "writecache_block_size": "-1",
        "segtype": "linear",
        "stripes": "1",
        "stripe_size": "0",
        "chunk_size": "0",
        **dict.fromkeys(("cache_mode", "cache_policy", "cache_settings"), ""),
        "devices": devices,
        "vg_name": group.name,
        "vg_uuid": group.uuid,
        "vg_missing_pv_count": "0",
    }


def _part(volume: LvmVolume, node: DmNode) -> Row:
    if node.ending == "-cvol":
        return {"lv_layout": f"{volume.kind},cachevol", "lv_attr": "Cwi-aoC---"}
    if node.ending == "-real":
        return {"lv_attr": "owi-aoC---", "lv_role": "private,cache,origin,cacheorigin"}
    at = int(node.name.rpartition("_")[2])
    spared = "_rimage_" in node.name and volume.places[at] in volume.write_mostly
    health = {"lv_attr": "iwi-aor-w-", "lv_health_status": "writemostly"} if spared else {}
    return {"lv_role": "private,raid,image" if "_rimage_" in node.name else "private,raid,metadata", **health}


def _own(volume: LvmVolume, now: float) -> Row:
    sectors = volume.read_ahead
    row = {
        "lv_read_ahead": {"auto": "auto", "none": "0"}.get(sectors) or str(int(sectors) * 512),
        "lv_kernel_read_ahead": str(volume.queue_sectors * 512),
        "lv_layout": volume.kind,
        "segtype": volume.kind,
        "lv_tags": volume.tag,
        **({"lv_role": "public,origin,thickorigin", "lv_attr": "owi-a-s---"} if volume.snapshot else {}),
    }
    settings = ",".join(f"{key}={value}" for key, value in volume.settings.items())
    if volume.kind in CACHED:
        row |= {"pool_lv": f"[{volume.fast}_cvol]", "lv_attr": "Cwi-a-C---", "cache_settings": settings}
        filled = _percent(volume.used, volume.blocks)
        row |= {"origin": f"[{volume.origin_name}]", "data_percent": filled, "snap_percent": filled}
    if volume.kind == "cache":
        dirty = volume.dirty_now(now) // volume.chunk_bytes
        row |= {
            "devices": f"{volume.origin_name}(0)",
            "chunk_size": str(volume.chunk_bytes),
            "cache_mode": volume.mode,
            "cache_policy": volume.policy,
            "kernel_cache_policy": volume.kernel_policy,
            "kernel_cache_settings": ",".join(
                (f"migration_threshold={volume.threshold}", *(f"{key}=0" for key in OF_POLICY))
            ),
            "metadata_percent": _percent(META_USED, META_BLOCKS),
            **dict.fromkeys(("sync_percent", "copy_percent"), _percent(dirty, volume.used)),  # what is dirty of it
            "cache_total_blocks": str(volume.blocks),
            "cache_used_blocks": str(volume.used),
            "cache_dirty_blocks": str(dirty),
            "cache_read_hits": str(int(volume.counts.read_hits)),
            "cache_read_misses": str(int(volume.counts.read_misses)),
            "cache_write_hits": str(int(volume.counts.write_hits)),
            "cache_write_misses": str(int(volume.counts.write_misses)),
            "lv_check_needed": "",
        }
    elif volume.kind == "writecache":
        row |= {
            "devices": f"{volume.origin_name}(0)",
            "writecache_total_blocks": str(volume.blocks),
            "writecache_free_blocks": str(volume.blocks - volume.used),
            "writecache_writeback_blocks": "0",
            "writecache_error": "0",
            "writecache_block_size": str(volume.chunk_bytes),
        }
    elif volume.kind == "striped":
        row |= {"stripes": str(len(volume.places)), "stripe_size": str(volume.stripe_bytes)}
    elif volume.kind != "linear":
        kind = {"raid5": "raid5_ls", "raid6": "raid6_zr"}.get(volume.kind, volume.kind)
        row |= {
            "lv_layout": f"raid,{volume.kind}" + (f",{kind}" if kind != volume.kind else ""),
            "lv_attr": f"Rwi-a-r-{'s' if volume.reshape_since else '-'}-",
            "segtype": kind,
            "devices": ",".join(f"{volume.name}_rimage_{at}(0)" for at in range(len(volume.places))),
            "stripes": str(len(volume.places)),
            "stripe_size": str(volume.stripe_bytes if volume.kind in STRIPED else 0),
            **dict.fromkeys(("sync_percent", "copy_percent"), f"{volume.reshape_progress(now) * 100:.2f}"),
            "raid_mismatch_count": "0",
            "raid_sync_action": "reshape" if volume.reshape_since else "idle",
            "raid_write_behind": str(volume.write_behind or ""),
            "raid_min_recovery_rate": str(volume.rates.get("min", "")),
            "raid_max_recovery_rate": str(volume.rates.get("max", "")),
        }
    return row


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole if whole else 0:.2f}"


def dmsetup_output(rack: Rack, args: Sequence[str]) -> SimulatedOutput:
    """`dmsetup table` and `dmsetup status` of the volumes."""
    verb = args[0] if args else ""
    if verb not in ("table", "status"):
        return SimulatedOutput(text="Unknown command.\n", code=3)
    lines = []
    for group in rack.lvm.values():
        ends: dict[str, int] = {}  # one after the other, as LVM gives its extents away
        for volume in group.volumes:
            for node in sorted(volume.nodes(rack.now()), key=lambda node: node.ending != "-cmeta"):
                entry, sectors = node.table if verb == "table" else node.status, node.size_bytes // 512
                if verb == "table" and entry == "linear":
                    under = node.slaves[0]
                    start = ends.get(under, 0 if under.startswith("dm-") else 2048)  # 1 MiB of LVM's own comes first
                    ends[under] = start + sectors
                    entry = f"linear {{{under}}} {start}"
                lines.append(f"{group.dm_name(node)}: 0 {sectors} {_with_numbers(entry)}")
    return SimulatedOutput(text="".join(f"{line}\n" for line in lines), seconds=0.02)


def _with_numbers(text: str) -> str:
    """Return the text with device numbers in the place of `{dm-3}` and `{md3}`."""
    tokens = text.split(" ")
    return " ".join(_number(word[1:-1]) if word[:1] == "{" else word for word in tokens)


def _number(name: str) -> str:
    if name.startswith("dm-"):
        return f"254:{name.removeprefix('dm-')}"
    return f"9:{name.removeprefix('md')}" if name.startswith("md") else "259:48"


def extents(rack: Rack, device: str) -> int:
    """Extents of a physical volume."""
    layout = rack.layout(device)
    return 0 if layout is None else max(0, layout.size_bytes - FIRST_EXTENT) // EXTENT


def free_extents(rack: Rack, group: LvmGroup, device: str) -> int:
    """Those that no volume has."""
    return max(0, extents(rack, device) - sum(volume.extents_on(device) for volume in group.volumes))


def free_bytes(rack: Rack, group: LvmGroup) -> int:
    """Not given to any volume of a group."""
    return EXTENT * sum(free_extents(rack, group, device) for device in group.places)


def pvs_output(rack: Rack, _words: Sequence[str]) -> SimulatedOutput:
    """The report of all physical volumes in JSON, with the columns of their groups."""
    rows = [_row(rack, group, device) for group in rack.lvm.values() for device in group.places]
    return _report("pv", rows)


def _row(rack: Rack, group: LvmGroup, device: str) -> dict[str, str]:
    count, free = extents(rack, device), free_extents(rack, group, device)
    in_all = sum(extents(rack, name) for name in group.places)
    return {
        "pv_fmt": "lvm2",
        "pv_uuid": group.uuid_of(device),
        "pv_name": f"/dev/{device}",
        "pv_size": str(count * EXTENT),
        "pv_free": str(free * EXTENT),
        "pv_attr": "a--",
        "pv_allocatable": "allocatable",
        "pv_exported": "",
        "pv_missing": "",
        "pv_pe_count": str(count),
        "pv_pe_alloc_count": str(count - free),
        "pv_in_use": "used",
        "pv_duplicate": "",
        "vg_fmt": "lvm2",
        "vg_uuid": group.uuid,
        "vg_name": group.name,
        "vg_permissions": "writeable",
        "vg_extendable": "extendable",
        "vg_exported": "",
        "vg_partial": "",
        "vg_allocation_policy": "normal",
        "vg_clustered": "",
        "vg_shared": "",
        "vg_lock_type": "",
        "vg_extent_size": str(EXTENT),
        "vg_extent_count": str(in_all),
        "vg_free_count": str(free_bytes(rack, group) // EXTENT),
        "pv_count": str(len(group.places)),
        "vg_missing_pv_count": "0",
        "lv_count": str(len(group.volumes)),
        **group.refuses,
    }
