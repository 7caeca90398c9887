"""Parser for pvs: volume groups, their physical volumes, and free extents for a new volume. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from backends.array_planning import Candidate
from backends.json_text import document, rows, table, whole_number, word
from backends.model import Media, Scope, Target
from backends.subject import find_repeated
from backends.text import clean
from backends.tool_output import CompletenessCheck
from backends.topology import Topology
from backends.topology.device_identity import interface, medium, model
from backends.values import dataclass
from backends.vendors.lvm.facts import LVM_NAME, LVM_UUID
from backends.vendors.lvm.inventory import NAME, kernel_name_of

WHOLE_PVS = CompletenessCheck(
    tool="pvs",
    mark="a complete JSON document with `report`",
    missing=lambda text: "" if "report" in table(document(text)) else "the JSON document is incomplete",
    statuses=frozenset(),
)
"""The exit status is not checked: like lvs, pvs also fails if a group lacks a disk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PvFacts:
    """One physical volume of a group."""

    name: str
    """Node of the physical volume; `[unknown]` if it is missing."""
    uuid: str
    """LVM's UUID of the physical volume."""
    group: str
    """Name of its volume group."""
    group_uuid: str
    """LVM's UUID of the group."""
    columns: Mapping[str, str]
    """All columns that have a value, including those of the group."""

    @property
    def free_extents(self) -> int:
        """Return the number of free extents of the physical volume; 0 if it is not reported."""
        count, taken = (
            whole_number(self.columns.get("pv_pe_count")),
            whole_number(self.columns.get("pv_pe_alloc_count")),
        )
        return 0 if count is None or taken is None else max(0, count - taken)

    @property
    def extent_bytes(self) -> int:
        """Return the size of an extent in bytes; 0 if it is not reported."""
        return whole_number(self.columns.get("vg_extent_size")) or 0


def parse_pvs(text: str) -> tuple[tuple[PvFacts, ...], int]:
    """Return all physical volumes that are in a group, and the number of unparsable rows. Never raises."""
    pv_facts: list[PvFacts] = []
    strange = 0
    for report in rows(table(document(text)).get("report")):
        for row in rows(report.get("pv"), most=20_000):
            fields = {key: text_value for key, value in row.items() if (text_value := word(value, 4096))}
            group = fields.get("vg_name", "")
            if not group:
                continue
            uuids = (fields.get(key, "") for key in ("pv_uuid", "vg_uuid"))
            if LVM_NAME.fullmatch(group) is None or not all(map(LVM_UUID.fullmatch, uuids)):
                strange += 1
                continue
            pv_facts.append(
                PvFacts(
                    name=fields.get("pv_name", ""),
                    uuid=fields["pv_uuid"],
                    group=group,
                    group_uuid=fields["vg_uuid"],
                    columns=fields,
                )
            )
    twice = find_repeated(pv.uuid for pv in pv_facts)
    believed = tuple(pv for pv in pv_facts if pv.uuid not in twice)
    return believed, strange + len(pv_facts) - len(believed)


def no_volume_reason(pv: PvFacts) -> tuple[str, ...]:
    """Return the reasons why no volume can be created in the volume group of `pv`, as clauses; empty if there
    are none.
    """
    fields, reasons = pv.columns, list[str]()
    missing = whole_number(fields.get("vg_missing_pv_count")) or 0
    if missing or fields.get("vg_partial"):
        reasons.append(f"the group {pv.group} lacks {missing or 'some'} of its physical volumes")
    if fields.get("vg_exported"):
        reasons.append(f"the group {pv.group} is exported, so it belongs to the host that imports it")
    if fields.get("vg_clustered") or fields.get("vg_shared") or fields.get("vg_lock_type", "none") != "none":
        kind = clean(fields.get("vg_lock_type", "clustered"), 20)
        reasons.append(f"the group {pv.group} is shared with other hosts ({kind})")
    if fields.get("vg_permissions") != "writeable":
        reasons.append(f"the group {pv.group} is read-only")
    if not pv.extent_bytes:
        reasons.append(f"LVM does not report how large an extent of {pv.group} is")
    return tuple(reasons)


def candidates_in(volumes: Iterable[PvFacts], picture: Topology) -> tuple[Candidate, ...]:
    """Return all physical volumes as candidates for a new volume, with their free extents and the reasons against using
    them.
    """
    return tuple(_candidate(pv, picture) for pv in volumes)


def _candidate(pv: PvFacts, picture: Topology) -> Candidate:
    kernel = kernel_name_of(pv.name, picture)
    disk = picture.tree.nodes.get(picture.tree.disk_of(kernel)) if kernel is not None else None
    reasons = [*no_volume_reason(pv)]
    if pv.columns.get("pv_missing") or disk is None:
        reasons.append("it is missing")
    elif disk.attributes.get("ro") == "1":
        reasons.append("it is read-only")
    if pv.columns.get("pv_duplicate"):
        reasons.append("another device has the same LVM identifier")
    if pv.columns.get("pv_allocatable") != "allocatable":
        reasons.append("its extents are not allocatable (pvchange --allocatable n)")
    if not pv.free_extents:
        reasons.append("none of its extents is free")
    kind = interface(disk) if disk is not None else None
    block = disk.attributes.get("queue/logical_block_size", "") if disk is not None else ""
    return Candidate(
        drive=Target(backend=NAME, address=f"{pv.group}:{clean(pv.name.removeprefix('/dev/'), 200)}"),
        controller=Target(backend=NAME, address=pv.group, scope=Scope.CONTROLLER),
        place=pv.name,
        model=model(disk) if disk is not None else None,
        serial=pv.uuid,
        media=medium(disk, kind) if disk is not None else Media.UNKNOWN,
        interface=kind,
        size_bytes=pv.free_extents * pv.extent_bytes,
        free_extents=pv.free_extents,
        sector_bytes=whole_number(block),
        why_not=tuple(reasons),
    )


def nodes_sharing_disk(places: Sequence[str], picture: Topology) -> tuple[str, ...]:
    """Return those of the nodes in `places` that are on the same disk as an earlier node in `places`."""
    first_places: dict[str, str] = {}
    twice = []
    for node_name in places:
        kernel = kernel_name_of(node_name, picture)
        disk = picture.tree.disk_of(kernel) if kernel is not None else node_name
        if disk in first_places:
            twice.append(node_name)
        first_places.setdefault(disk, node_name)
    return tuple(twice)
