"""Simulated lvs, pvs and dmsetup, with output in the format of LVM 2.03.16 (recorded)."""

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
"""Column names that select all columns."""


def lvs_output(rack: Rack, args: Sequence[str]) -> SimulatedOutput:
    """Return the JSON report of all volumes with the requested columns, all as strings."""
    options = dict(pairwise(args))
    columns = set(options.get("-o", "lv_all").split(","))
    has_all = not columns.isdisjoint(_ALL)
    rows = []
    for group in rack.lvm.values():
        rejected = rejected_devices(args).intersection(group.places)
        free = str(free_bytes(rack, group))
        for row in _rows(group, rack.now(), hidden="-a" in args):
            row |= {"vg_free": free}
            if rejected:
                missing = {"vg_missing_pv_count": str(len(rejected))}
                row = row | missing | {"devices": _without_missing(row["devices"], rejected)}
            chosen = [key for key in row if key in columns or (has_all and not key.startswith("vg_"))]
            rows.append({key: row[key] for key in chosen})
    return _report("lv", rows)


def _report(kind: str, rows: Sequence[Row]) -> SimulatedOutput:
    """Return rows as a JSON report of LVM."""
    lines = ",\n".join(f"                  {json.dumps(row, separators=(', ', ':'))}" for row in rows)
    text = f'  {{\n      "report": [\n          {{\n              "{kind}": [\n{lines}\n              ]\n          }}\n'
    return SimulatedOutput(text=f"{text}      ]\n  }}\n", seconds=0.05)


def _without_missing(devices: str, missing: Collection[str]) -> str:
    """Return the devices of a volume as LVM lists them, with `[unknown]` for missing ones."""
    devices_by_name = (part.partition("(") for part in devices.split(","))
    return ",".join(
        f"{'[unknown]' if name.removeprefix('/dev/') in missing else name}{bracket}{rest}"
        for name, bracket, rest in devices_by_name
    )


def _rows(group: LvmGroup, now: float, *, hidden: bool) -> Iterator[Row]:
    for volume in group.volumes:
        nodes = volume.nodes(now)
        names = {node.kernel: node.name for node in nodes}
        for node in nodes:
            is_visible = node is nodes[0]
            if node.ending in ("-cdata", "-cmeta") or (not is_visible and not hidden):
                continue
            yield _common(group, node, names, is_visible) | (
                _volume_columns(volume, now) if is_visible else _part_columns(volume, node)
            )


def _common(group: LvmGroup, node: DmNode, names: dict[str, str], is_visible: bool) -> Row:
    """Return the columns that exist for volumes and sub-volumes. A column that does not apply is "" or -1."""
    devices = ",".join(f"{names.get(slave, f'/dev/{slave}')}(0)" for slave in node.slaves)
    return {
        "lv_uuid": group.uuid_of(node.name),
        "lv_name": node.name if is_visible else f"[{node.name}]",
        "lv_path": f"/dev/{group.name}/{node.name}" if is_visible else "",
        "lv_dm_path": f"/dev/mapper/{group.dm_name(node)}",
        "lv_layout": "linear",
        "lv_role": "public" if is_visible else "private",
        "lv_attr": "-wi-a-----" if is_visible else "iwi-aor---",
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


def _part_columns(volume: LvmVolume, node: DmNode) -> Row:
    if node.ending == "-cvol":
        return {"lv_layout": f"{volume.kind},cachevol", "lv_attr": "Cwi-aoC---"}
    if node.ending == "-real":
        return {"lv_attr": "owi-aoC---", "lv_role": "private,cache,origin,cacheorigin"}
    index = int(node.name.rpartition("_")[2])
    is_write_mostly = "_rimage_" in node.name and volume.places[index] in volume.write_mostly
    health = {"lv_attr": "iwi-aor-w-", "lv_health_status": "writemostly"} if is_write_mostly else {}
    return {"lv_role": "private,raid,image" if "_rimage_" in node.name else "private,raid,metadata", **health}


def _volume_columns(volume: LvmVolume, now: float) -> Row:
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
        filled = _percent_text(volume.used, volume.blocks)
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
            "metadata_percent": _percent_text(META_USED, META_BLOCKS),
            **dict.fromkeys(
                ("sync_percent", "copy_percent"), _percent_text(dirty, volume.used)
            ),  # LVM reports the share of dirty blocks here
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


def _percent_text(part: int, total: int) -> str:
    return f"{100 * part / total if total else 0:.2f}"


def dmsetup_output(rack: Rack, args: Sequence[str]) -> SimulatedOutput:
    """Return the output of `dmsetup table` or `dmsetup status`."""
    verb = args[0] if args else ""
    if verb not in ("table", "status"):
        return SimulatedOutput(text="Unknown command.\n", code=3)
    lines = []
    for group in rack.lvm.values():
        ends: dict[str, int] = {}  # next free sector by device: LVM assigns extents in order
        for volume in group.volumes:
            for node in sorted(volume.nodes(rack.now()), key=lambda node: node.ending != "-cmeta"):
                entry, sectors = node.table if verb == "table" else node.status, node.size_bytes // 512
                if verb == "table" and entry == "linear":
                    under = node.slaves[0]
                    # LVM's metadata are in the first 1 MiB of a physical volume.
                    start = ends.get(under, 0 if under.startswith("dm-") else 2048)
                    ends[under] = start + sectors
                    entry = f"linear {{{under}}} {start}"
                lines.append(f"{group.dm_name(node)}: 0 {sectors} {_with_numbers(entry)}")
    return SimulatedOutput(text="".join(f"{line}\n" for line in lines), seconds=0.02)


def _with_numbers(text: str) -> str:
    """Return a table entry or status with placeholders such as `{dm-3}` and `{md3}` replaced by device numbers."""
    tokens = text.split(" ")
    return " ".join(_device_number(word[1:-1]) if word[:1] == "{" else word for word in tokens)


def _device_number(name: str) -> str:
    if name.startswith("dm-"):
        return f"254:{name.removeprefix('dm-')}"
    return f"9:{name.removeprefix('md')}" if name.startswith("md") else "259:48"


def extents(rack: Rack, device: str) -> int:
    """Return the number of extents of a physical volume."""
    layout = rack.layout(device)
    return 0 if layout is None else max(0, layout.size_bytes - FIRST_EXTENT) // EXTENT


def free_extents(rack: Rack, group: LvmGroup, device: str) -> int:
    """Return the number of free extents of a physical volume."""
    return max(0, extents(rack, device) - sum(volume.extents_on(device) for volume in group.volumes))


def free_bytes(rack: Rack, group: LvmGroup) -> int:
    """Return the free bytes of a volume group."""
    return EXTENT * sum(free_extents(rack, group, device) for device in group.places)


def pvs_output(rack: Rack, _args: Sequence[str]) -> SimulatedOutput:
    """Return the JSON report of all physical volumes, including the columns of their volume groups."""
    rows = [_pv_row(rack, group, device) for group in rack.lvm.values() for device in group.places]
    return _report("pv", rows)


def _pv_row(rack: Rack, group: LvmGroup, device: str) -> dict[str, str]:
    count, free = extents(rack, device), free_extents(rack, group, device)
    total = sum(extents(rack, name) for name in group.places)
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
        "vg_extent_count": str(total),
        "vg_free_count": str(free_bytes(rack, group) // EXTENT),
        "pv_count": str(len(group.places)),
        "vg_missing_pv_count": "0",
        "lv_count": str(len(group.volumes)),
        **group.refuses,
    }
