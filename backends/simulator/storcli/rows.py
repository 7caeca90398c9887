"""Rows of storcli's tables: virtual drives, drives and topology."""

from __future__ import annotations

from typing import Any

from backends.model import Media
from backends.simulator.controller import SimulatedCard
from backends.simulator.disk import SimulatedDrive
from backends.simulator.tool_output import size_text
from backends.simulator.volume import SPANNED, Volume

Row = dict[str, Any]

WRITE = {"write-through": "WT", "write-back": "WB", "always-write-back": "AWB"}
READ = {"none": "NR", "read-ahead": "R", "adaptive": "AR"}
IO = {"direct": "D", "cached": "C"}
ACCESS = {"read-write": "RW", "read-only": "RO", "blocked": "B"}
STATES = {"optimal": "Optl", "degraded": "Dgrd", "partially degraded": "Pdgd", "offline": "OfLn"}
DRIVE_STATES = {
    "online": "Onln",
    "rebuild": "Rbld",
    "failed": "Failed",
    "good": "UGood",
    "spare": "GHS",
    "foreign": "UGood",
    "jbod": "JBOD",
}
PDC = {"on": "enbl", "off": "dsbl", "default": "dflt"}
"""storcli's abbreviations of drive cache policies, by policy."""


def volume_row(card: SimulatedCard, volume: Volume) -> Row:
    """Return a row of `VD LIST`. Its cache column has the configured policies."""
    state = card.state(volume)
    cache = READ[volume.read_ahead] + WRITE[volume.write_cache] + IO[volume.io_policy]
    return {
        "DG/VD": f"{volume.group}/{volume.number}",
        "TYPE": volume.level.value.upper(),
        "State": STATES[state],
        "Access": ACCESS[volume.access],
        "Consist": "Yes" if volume.bgi_since is None and state == "optimal" else "No",
        "Cache": cache,
        "Cac": "-",
        "sCC": "OFF" if card.check == "off" else "ON",
        "Size": size_text(volume.size_bytes),
        "Name": volume.name,
    }


def drive_row(disk: SimulatedDrive) -> Row:
    """Return a row of `PD LIST`."""
    group: int | str = "F" if disk.state == "foreign" else "-" if disk.group is None else disk.group
    return {
        "EID:Slt": disk.place if disk.enclosure is not None else f" :{disk.slot}",
        "DID": disk.did,
        "State": DRIVE_STATES[disk.state],
        "DG": group,
        "Size": size_text(disk.coerced_bytes),
        "Intf": disk.type.interface.upper(),
        "Med": "HDD" if disk.type.media is Media.HDD else "SSD",
        "SED": "N",
        "PI": "N",
        "SeSz": "512B",
        "Model": disk.model,
        "Sp": "U",
        "Type": "-",
    }


def topology(card: SimulatedCard) -> list[Row]:
    """Return the rows of `TOPOLOGY`: groups, spans and drives."""
    rows: list[Row] = []
    for group in sorted({volume.group for volume in card.volumes}):
        volume = next(volume for volume in card.volumes if volume.group == group)
        members = card.members(volume)
        full_size = volume.data_drives * min(disk.coerced_bytes for disk in members)
        used = sum(other.size_bytes for other in card.volumes if other.group == group)
        free = "Y" if full_size - used > 1 << 30 else "N"
        state = STATES[card.state(volume)]
        kind, inner = (level.value.upper() for level in (volume.level, SPANNED.get(volume.level, volume.level)))
        row: Row = {
            "DG": volume.group,
            "Arr": "-",
            "Row": "-",
            "EID:Slot": "-",
            "DID": "-",
            "Type": kind,
            "State": state,
            "BT": "N",
            "Size": size_text(full_size),
            "PDC": PDC[volume.drive_cache],
            "PI": "N",
            "SED": "N",
            "DS3": "none",
            "FSpace": free,
            "TR": "N",
        }
        rows.append(row)
        for span in range(volume.spans):
            drives = members[span * volume.per_span : (span + 1) * volume.per_span]
            state = STATES["optimal" if all(disk.state == "online" for disk in drives) else "degraded"]
            size = size_text(full_size // volume.spans)
            rows.append(row | {"Arr": span, "Type": inner, "State": state, "Size": size})
            for number, disk in enumerate(drives):
                position = {"Arr": span, "Row": number, "EID:Slot": disk.place, "DID": disk.did, "Type": "DRIVE"}
                size, state = size_text(disk.coerced_bytes), DRIVE_STATES[disk.state]
                rows.append(row | position | {"State": state, "Size": size, "FSpace": "-"})
    return rows
