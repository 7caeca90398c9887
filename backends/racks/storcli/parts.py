"""`show all` of volumes, of drives, of battery and CacheVault."""

from __future__ import annotations

from typing import Any

from backends.racks.card import SimulatedCard
from backends.racks.disk import REBUILD, SimulatedDrive
from backends.racks.printed import day, fahrenheit, size_text, strip_text
from backends.racks.rack import Rack
from backends.racks.storcli.rows import drive_row, volume_row
from backends.racks.storcli.whole import BATTERY, yes
from backends.racks.volume import Volume

Data = dict[str, Any]

WRITE_LONG = {"write-through": "WriteThrough", "write-back": "WriteBack", "always-write-back": "AlwaysWriteBack"}
PDC_LONG = {"on": "Enabled", "off": "Disabled", "default": "Disk's Default"}
"""Words of storcli for ours."""


def volume_all(rack: Rack, card: SimulatedCard, volume: Volume) -> Data:
    """`/cN/vV show all`."""
    number, now = volume.number, rack.now()
    done = volume.initialised(now)
    data: Data = {
        f"/c{card.number}/v{number}": [volume_row(card, volume)],
        f"PDs for VD {number}": [drive_row(disk) for disk in card.members(volume)],
        f"VD{number} Properties": {
            "Strip Size": strip_text(volume.strip_bytes),
            "Number of Blocks": volume.size_bytes // 512,
            "VD has Emulated PD": "No",
            "Span Depth": volume.spans,
            "Number of Drives Per Span": volume.per_span,
            "Write Cache(initial setting)": WRITE_LONG[volume.write_cache],
            "Disk Cache Policy": PDC_LONG[volume.drive_cache],
            "Encryption": "None",
            "Data Protection": "Disabled",
            "Active Operations": "None" if done is None else f"Background Initialization ({int(done * 100)}%)",
            "Exposed to OS": "Yes",
            "OS Drive Name": f"/dev/{volume.device}",
            "Creation Date": day(volume.created, "%d-%m-%Y"),
            "Creation Time": day(volume.created, "%I:%M:%S %p"),
            "Emulation type": "default",
            **_bypass(volume.cache_bypass),
            "Is LD Ready for OS Requests": "Yes",
            "SCSI NAA Id": volume.naa,
        },
    }
    return data


def _bypass(value: str) -> Data:
    mode, _, size = value.rpartition("-")
    words = {"": "Disabled", "intelligent": "Intelligent", "standard": "Standard"}.get(
        mode, mode.replace("-", " ").title()
    )
    return {"Cachebypass size": f"Cachebypass-{size if mode else '64k'}", "Cachebypass Mode": f"Cachebypass {words}"}


def drive_all(card: SimulatedCard, disk: SimulatedDrive) -> Data:
    """`/cN/eE/sS show all`."""
    path = drive_path(card, disk)
    kind = disk.type
    name = f"Drive {path}"
    return {
        name: [drive_row(disk)],
        f"{name} - Detailed Information": {
            f"{name} State": {
                "Shield Counter": 0,
                "Media Error Count": disk.media_errors,
                "Other Error Count": disk.other_errors,
                "Drive Temperature": f" {fahrenheit(disk.temperature)}",
                "Predictive Failure Count": disk.predictive_errors,
                "S.M.A.R.T alert flagged by drive": "Yes" if disk.alert else "No",
            },
            f"{name} Device attributes": {
                "SN": disk.serial,
                "Manufacturer Id": f"{kind.vendor:<8}",
                "Model Number": kind.model,
                "NAND Vendor": "NA",
                "WWN": disk.wwn.upper(),
                "Firmware Revision": kind.firmware,
                "Raw size": f"{size_text(kind.size_bytes)} [0x{kind.size_bytes // 512:x} Sectors]",
                "Coerced size": f"{size_text(disk.coerced_bytes)} [0x{disk.coerced_bytes // 512:x} Sectors]",
                "Device Speed": kind.link,
                "Link Speed": kind.link,
                "NCQ setting": "Enabled" if kind.interface == "sata" else "N/A",
                "Write Cache": "N/A",
                "Logical Sector Size": "512B",
                "Physical Sector Size": "512B",
            },
            f"{name} Policies/Settings": {"Commissioned Spare": "No", "Emergency Spare": "No", "Locked": "No"},
        },
    }


def drive_path(card: SimulatedCard, disk: SimulatedDrive) -> str:
    """`/c0/e245/s1`, `/c0/s1` without an enclosure."""
    enclosure = "" if disk.enclosure is None else f"/e{disk.enclosure}"
    return f"/c{card.number}{enclosure}/s{disk.slot}"


def rebuilds(rack: Rack, card: SimulatedCard) -> list[Data]:
    """`show rebuild` of all drives."""
    rows = []
    for disk in card.disks:
        row: Data = {"Drive-ID": drive_path(card, disk), "Progress%": "-", "Status": "Not in progress"}
        row["Estimated Time Left"] = "-"
        if disk.state == REBUILD:
            done = disk.rebuilt(rack.now())
            minutes = int((1 - done) * disk.rebuild_seconds / 60)
            row |= {"Progress%": int(done * 100), "Status": "In progress"}
            row |= {"Estimated Time Left": f"{minutes // 60} Hours {minutes % 60} Minutes"}
        rows.append(row)
    return rows


def battery_all(rack: Rack, card: SimulatedCard, kind: str) -> Data | None:
    """`/cN/bbu show all`, `/cN/cv show all`; None if the card has none of that kind."""
    battery = card.battery
    if battery is None or battery.kind != {"bbu": "bbu", "cv": "cachevault"}[kind]:
        return None
    pairs = [("Type", "CVPM02" if kind == "cv" else "iBBU08"), ("Temperature", f"{battery.temperature} C")]
    pairs += [("State" if kind == "cv" else "Battery State", BATTERY[battery.state])]
    learning = [
        ("Learn Cycle Requested", "No"),
        ("Learn Cycle Active", yes(battery.state == "learning")),
        ("Battery Pack Missing", "No"),
        ("Replacement required", yes(battery.state == "failed")),
    ]
    next_learn = [("Next Learn time", day(rack.now() + 11 * 86400, "%Y/%m/%d  %H:00:00"))]
    if kind == "cv":
        return {
            "Cachevault_Info": table("Property", pairs),
            "Firmware_Status": table("Property", learning),
            "GasGaugeStatus": table("Property", [("Pack Energy", "294 J"), ("Capacitance", "108 %")]),
            "Properties": table("Property", next_learn),
        }
    return {
        "BBU_Info": table("Property", [*pairs[:1], ("Voltage", "4059 mV"), *pairs[1:]]),
        "BBU_Firmware_Status": table("Property", learning),
        "BBU_Properties": table("Property", [("Auto Learn Period", "27d (2412000 seconds)"), *next_learn]),
    }


def table(column: str, pairs: list[tuple[str, Any]]) -> list[Data]:
    """Pairs as rows of a property and its value."""
    return [{column: key, "Value": value} for key, value in pairs]
