"""Physical volumes of the simulated host and their free extents, and pvs, in the shape of what LVM 2.03.16 printed."""

from __future__ import annotations

import json
from collections.abc import Sequence

from backends.racks.lvm.volumes import EXTENT, FIRST_EXTENT, LvmGroup
from backends.racks.printed import Said
from backends.racks.rack import Rack

MISSING = "[unknown]"
"""What stands for the node of a physical volume that is not there."""


def extents(rack: Rack, place: str) -> int:
    """Extents of a physical volume."""
    layout = rack.layout(place)
    return 0 if layout is None else max(0, layout.size_bytes - FIRST_EXTENT) // EXTENT


def free_extents(rack: Rack, group: LvmGroup, place: str) -> int:
    """Those that no volume has."""
    return max(0, extents(rack, place) - sum(volume.taken(place) for volume in group.volumes))


def free_bytes(rack: Rack, group: LvmGroup) -> int:
    """Not given to any volume of a group."""
    return EXTENT * sum(free_extents(rack, group, place) for place in group.places)


def pvs_said(rack: Rack, _words: Sequence[str]) -> Said:
    """The report of all physical volumes in JSON, with the columns of their groups."""
    rows = [_row(rack, group, place) for group in rack.lvm.values() for place in group.places]
    lines = ",\n".join(f"                  {json.dumps(row, separators=(', ', ':'))}" for row in rows)
    text = f'  {{\n      "report": [\n          {{\n              "pv": [\n{lines}\n              ]\n          }}\n'
    return Said(text=f"{text}      ]\n  }}\n", seconds=0.05)


def _row(rack: Rack, group: LvmGroup, place: str) -> dict[str, str]:
    count, free = extents(rack, place), free_extents(rack, group, place)
    in_all = sum(extents(rack, one) for one in group.places)
    return {
        "pv_fmt": "lvm2",
        "pv_uuid": group.uuid_of(place),
        "pv_name": f"/dev/{place}",
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
