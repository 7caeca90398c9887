"""Output of `show all` for a controller, virtual drives, drives, battery and CacheVault."""

from __future__ import annotations

from typing import Any

from backends.simulator.controller import FASTPATH, SimulatedCard
from backends.simulator.disk import REBUILD, SimulatedDrive
from backends.simulator.rack import Rack
from backends.simulator.storcli.rows import drive_row, topology, volume_row
from backends.simulator.tool_output import fahrenheit, format_time, size_text, strip_text
from backends.simulator.volume import Volume

Data = dict[str, Any]

DRIVER = ("megaraid_sas", "07.719.03.00-rc1")
"""Kernel driver and its version."""

_BATTERY_SHORT = {"optimal": "Opt", "failed": "Fld", "charging": "Chrg", "learning": "Lrn"}


def yes_no(flag: bool) -> str:
    """Return `Yes` or `No`."""
    return "Yes" if flag else "No"


def overview(cards: list[SimulatedCard]) -> Data:
    """Return the data that `storcli show` prints about all controllers."""
    rows = []
    for card in cards:
        not_optimal = [volume for volume in card.volumes if card.state(volume) != "optimal"]
        is_healthy = not not_optimal and (card.battery is None or card.battery.healthy)
        rows.append(
            {
                "Ctl": card.number,
                "Model": card.product,
                "Ports": 8,
                "PDs": len(card.disks),
                "DGs": len({volume.group for volume in card.volumes}),
                "DNOpt": len({volume.group for volume in not_optimal}),
                "VDs": len(card.volumes),
                "VNOpt": len(not_optimal),
                "BBU": _BATTERY_SHORT[card.battery.state] if card.battery else "Msng",
                "sPR": "On" if card.patrol == "auto" else "Off",
                "DS": "1&2",
                "EHS": "Y",
                "ASOs": len(card.options),
                "Hlth": "Opt" if is_healthy else "NdAtn",
            }
        )
    return {
        "Number of Controllers": len(cards),
        "Host Name": "rack-demo",
        "Operating System ": "Linux 6.1.0-18-amd64",
        "System Overview": rows,
    }


def card_all(rack: Rack, card: SimulatedCard) -> Data:
    """Return the data of `/cN show all`."""
    now = rack.now()
    data: Data = {
        "Basics": {
            "Controller": card.number,
            "Model": card.product,
            "Serial Number": card.serial,
            "Current Controller Date/Time": format_time(now, "%m/%d/%Y, %H:%M:%S"),
            "Current System Date/time": format_time(now, "%m/%d/%Y, %H:%M:%S"),
            "SAS Address": card.sas_address,
            "PCI Address": f"00:{card.bus:02x}:00:00",
            "Mfg Date": "00/00/00",
            "Rework Date": "00/00/00",
            "Revision No": "",
        },
        "Version": {
            "Firmware Package Build": card.package,
            "Firmware Version": card.firmware,
            "Driver Name": DRIVER[0],
            "Driver Version": DRIVER[1],
        },
        "Bus": {
            "Vendor Id": 4096,
            "Device Id": 93 if "93" in card.product else 121,
            "Host Interface": "PCI-E",
            "Device Interface": "SAS-12G" if "93" in card.product else "SAS-6G",
            "Bus Number": card.bus,
            "Device Number": 0,
            "Function Number": 0,
        },
        "Status": _status(card),
        **_supported(card),
        "Advanced Software Option": options(card),
        "Safe ID": f" {safe_id(card)}",
        "HwCfg": {
            "ChipRevision": " C0" if "93" in card.product else " B4",
            "BBU": "Present" if card.battery else "Absent",
            "Alarm": "Off",
            "NVRAM Size": "32KB",
            "Flash Size": "16MB",
            "On Board Memory Size": f"{card.cache_mib}MB",
            "CacheVault Flash Size": "NA",
            "Temperature Sensor for ROC": "Present" if "93" in card.product else "Absent",
            "Temperature Sensor for Controller": "Absent",
            "Current Size of FW Cache (MB)": card.cache_mib * 3 // 4,
            **({"ROC temperature(Degree Celsius)": 58} if "93" in card.product else {}),
        },
        "Policies": {
            "Policies Table": policies(card),
            "Flush Time(Default)": "4s",
            "Auto Rebuild": card.property("auto_rebuild").capitalize(),
            "Load Balance Mode": "Auto" if card.property("load_balance") == "on" else "None",
        },
        "Boot": {"Enable BIOS": "Yes", "Allow Boot with Preserved Cache": "Off"},
        "Defaults": {"Strip Size": "256 KB", "Write Policy": "WB", "Read Policy": "No Read Ahead", "Cached IO": "Off"},
        "Capabilities": {
            "Supported Drives": "SAS, SATA",
            "RAID Level Supported": "RAID0, RAID1(2 or more drives), RAID5, RAID6, RAID00, RAID10(2 or more drives per"
            " span), RAID50, RAID60",
            "Enable JBOD": yes_no(card.jbod),
            "Max Arms Per VD": 32,
            "Max Spans Per VD": 8,
            "Max Arrays": 128,
            "Max Number of VDs": 64,
            "Max Parallel Commands": 928 if "93" in card.product else 1008,
            "Min Strip Size": strip_text(card.strip_minimum),
            "Max Strip Size": strip_text(card.strip_maximum),
        },
        "Scheduled Tasks": {
            "Consistency Check Reoccurrence": f"{card.property('check_delay')} hrs",
            "Patrol Read Reoccurrence": f"{card.property('patrol_delay')} hrs",
            "Next Patrol Read launch": format_time(now + 2.5 * 86400, "%m/%d/%Y, 03:00:00"),
            "Battery learn Reoccurrence": "672 hrs",
            "Next Battery Learn": format_time(now + 11 * 86400, "%m/%d/%Y, %H:00:00"),
        },
    }
    return data | lists(rack, card)


def lists(rack: Rack, card: SimulatedCard) -> Data:
    """Return the lists at the end of the output, which `show` and `show all` have in common."""
    data: Data = {}
    if card.volumes:
        data |= {"Drive Groups": len({volume.group for volume in card.volumes}), "TOPOLOGY": topology(card)}
        data |= {
            "Virtual Drives": len(card.volumes),
            "VD LIST": [volume_row(card, volume) for volume in card.volumes],
        }
    data |= {"Physical Drives": len(card.disks), "PD LIST": [drive_row(disk) for disk in card.disks]}
    if card.battery is not None:
        data |= _battery_row(rack, card)
    return data


def _battery_row(rack: Rack, card: SimulatedCard) -> Data:
    battery = card.battery
    assert battery is not None
    row = {"Model": "CVPM02", "State": battery.state.capitalize()}
    if battery.kind == "cachevault":
        row |= {"Temp": f"{battery.temperature}C", "Mode": "-", "MfgDate": "2015/11/16"}
        return {"Cachevault_Info": [row]}
    row["Model"] = "iBBU08"
    row |= {"RetentionTime": "48 hours +" if battery.healthy else "0 hour(s)", "Temp": f"{battery.temperature}C"}
    row |= {
        "Mode": "4",
        "MfgDate": "2012/06/21",
        "Next Learn": format_time(rack.now() + 11 * 86400, "%Y/%m/%d  %H:00:00"),
    }
    return {"BBU_Info": [row]}


def _status(card: SimulatedCard) -> Data:
    has_degraded = any(card.state(volume) != "optimal" for volume in card.volumes)
    battery_failed = card.battery is not None and not card.battery.healthy
    return {
        "Controller Status": "Needs Attention" if has_degraded or battery_failed else "Optimal",
        **dict.fromkeys(("Memory Correctable Errors", "Memory Uncorrectable Errors", "ECC Bucket Count"), 0),
        "Any Offline VD Cache Preserved": "Yes" if card.pinned else "No",
        "BBU Status": 0 if card.battery and card.battery.healthy else 4,
        "Controller must be rebooted to complete security operation": "No",
        "Controller has booted into safe mode": "No",
        "Controller shutdown required": "No",
    }


def _supported(card: SimulatedCard) -> Data:
    return {
        "Supported Adapter Operations": {
            **dict.fromkeys(("Rebuild Rate", "CC Rate", "BGI Rate ", "Reconstruct Rate", "Patrol Read Rate"), "Yes"),
            **dict.fromkeys(("Alarm Control", "BBU", "Spanning", "Dedicated Hot Spare"), "Yes"),
            **dict.fromkeys(("Foreign Config Import", "Global Hot Spares"), "Yes"),
            # A controller may refuse such changes without announcing it: this one leaves the row out.
            **({} if card.blocks_ssd_cache else {"Block SSD Write Disk Cache Change": "No"}),
            "Support JBOD": yes_no(card.jbod),
            "Support Perf Tuning": yes_no("93" in card.product),
            "Support SSD PatrolRead": "Yes",
        },
        "Supported PD Operations": {"Force Online": "Yes", "Force Offline": "Yes", "Force Rebuild": "Yes"},
        "Supported VD Operations": {
            **dict.fromkeys(("Read Policy", "Write Policy", "IO Policy", "Access Policy"), "Yes"),
            **dict.fromkeys(("Disk Cache Policy", "Reconstruction"), "Yes"),
            "Support FastPath": yes_no(card.can_fastpath and FASTPATH in card.options),
        },
    }


def options(card: SimulatedCard) -> list[Data]:
    """Return the advanced software options. As in the real output, their keys begin with blanks."""
    return [{"Adv S/W Opt": name, " Time Remaining": " Unlimited", " Mode": " -"} for name in card.options]


def safe_id(card: SimulatedCard) -> str:
    """Return the safe id, to which activation keys are bound."""
    return "".join(chr(ord("A") + ord(char) * 7 % 26) for char in (card.serial * 4))[:40]


def policies(card: SimulatedCard) -> list[Data]:
    """Return the rows of the policies table with the background rates."""
    names = {"rebuild": "Rebuild", "patrol": "PR", "bgi": "BGI", "cc": "Check Consistency", "migrate": "Reconstruction"}
    rows = [{"Policy": f"{names[key]} Rate", "Current": f"{card.rates[key]} %", "Default": "30%"} for key in names]
    poll = {"Policy": "Predictive Fail Poll Interval", "Current": f"{card.property('smart_poll')} sec", "Default": ""}
    return [poll, *rows, {"Policy": "Cache Flush Interval", "Current": f"{card.rates['flush']}s", "Default": ""}]


WRITE_LONG = {"write-through": "WriteThrough", "write-back": "WriteBack", "always-write-back": "AlwaysWriteBack"}
PDC_LONG = {"on": "Enabled", "off": "Disabled", "default": "Disk's Default"}
"""storcli's long names of drive cache policies, by policy."""


def volume_all(rack: Rack, card: SimulatedCard, volume: Volume) -> Data:
    """Return the data of `/cN/vV show all`."""
    number, now = volume.number, rack.now()
    done = volume.initialised_share(now)
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
            "Creation Date": format_time(volume.created, "%d-%m-%Y"),
            "Creation Time": format_time(volume.created, "%I:%M:%S %p"),
            "Emulation type": "default",
            **_bypass(volume.cache_bypass),
            "Is LD Ready for OS Requests": "Yes",
            "SCSI NAA Id": volume.naa,
        },
    }
    return data


def _bypass(value: str) -> Data:
    mode, _, size = value.rpartition("-")
    text = {"": "Disabled", "intelligent": "Intelligent", "standard": "Standard"}.get(
        mode, mode.replace("-", " ").title()
    )
    return {"Cachebypass size": f"Cachebypass-{size if mode else '64k'}", "Cachebypass Mode": f"Cachebypass {text}"}


def drive_all(card: SimulatedCard, disk: SimulatedDrive) -> Data:
    """Return the data of `/cN/eE/sS show all`."""
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
    """Return the path of a drive: `/c0/e245/s1`, or `/c0/s1` without an enclosure."""
    enclosure = "" if disk.enclosure is None else f"/e{disk.enclosure}"
    return f"/c{card.number}{enclosure}/s{disk.slot}"


def rebuilds(rack: Rack, card: SimulatedCard) -> list[Data]:
    """Return the rows of `show rebuild` for all drives."""
    rows = []
    for disk in card.disks:
        row: Data = {"Drive-ID": drive_path(card, disk), "Progress%": "-", "Status": "Not in progress"}
        row["Estimated Time Left"] = "-"
        if disk.state == REBUILD:
            done = disk.rebuild_share(rack.now())
            minutes = int((1 - done) * disk.rebuild_seconds / 60)
            row |= {"Progress%": int(done * 100), "Status": "In progress"}
            row |= {"Estimated Time Left": f"{minutes // 60} Hours {minutes % 60} Minutes"}
        rows.append(row)
    return rows


def battery_all(rack: Rack, card: SimulatedCard, kind: str) -> Data | None:
    """Return the data of `/cN/bbu show all` or `/cN/cv show all`; None if the controller has none of that kind."""
    battery = card.battery
    if battery is None or battery.kind != {"bbu": "bbu", "cv": "cachevault"}[kind]:
        return None
    pairs = [("Type", "CVPM02" if kind == "cv" else "iBBU08"), ("Temperature", f"{battery.temperature} C")]
    pairs += [("State" if kind == "cv" else "Battery State", battery.state.capitalize())]
    learning = [
        ("Learn Cycle Requested", "No"),
        ("Learn Cycle Active", yes_no(battery.state == "learning")),
        ("Battery Pack Missing", "No"),
        ("Replacement required", yes_no(battery.state == "failed")),
    ]
    next_learn = [("Next Learn time", format_time(rack.now() + 11 * 86400, "%Y/%m/%d  %H:00:00"))]
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
    """Return rows that each have a property and its value. `column`: heading above the properties."""
    return [{column: key, "Value": value} for key, value in pairs]
