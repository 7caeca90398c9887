"""Output of MegaCli's read-only commands: adapter, virtual drives, drives, battery and options. No I/O."""

from __future__ import annotations

from backends.model import Level, Media
from backends.simulator.controller import SimulatedCard
from backends.simulator.disk import REBUILD, SimulatedDrive
from backends.simulator.rack import Rack
from backends.simulator.tool_output import fahrenheit, format_time, size_text, strip_text
from backends.simulator.volume import Volume

WRITE = {"write-through": "WriteThrough", "write-back": "WriteBack", "always-write-back": "WriteBack"}
READ = {"none": "ReadAheadNone", "read-ahead": "ReadAhead", "adaptive": "ReadAdaptive"}
IO = {"direct": "Direct", "cached": "Cached"}
ACCESS = {"read-write": "Read/Write", "read-only": "Read Only", "blocked": "Blocked"}
CACHE = {"on": "Enabled", "off": "Disabled", "default": "Disk's Default"}
LEVELS = {
    Level.RAID0: "Primary-0, Secondary-0, RAID Level Qualifier-0",
    Level.RAID1: "Primary-1, Secondary-0, RAID Level Qualifier-0",
    Level.RAID5: "Primary-5, Secondary-0, RAID Level Qualifier-3",
    Level.RAID6: "Primary-6, Secondary-0, RAID Level Qualifier-3",
    Level.RAID10: "Primary-1, Secondary-3, RAID Level Qualifier-0",
    Level.RAID50: "Primary-5, Secondary-3, RAID Level Qualifier-3",
    Level.RAID60: "Primary-6, Secondary-3, RAID Level Qualifier-3",
}
STATES = {
    "online": "Online, Spun Up",
    "rebuild": "Rebuild",
    "failed": "Failed",
    "good": "Unconfigured(good), Spun Up",
    "spare": "Hotspare, Spun Up",
    "foreign": "Unconfigured(good), Spun Up",
    "jbod": "JBOD",
}
"""MegaCli's names of drive states, by simulated state."""


_RULE = "                ================"


def _yes_no(card: SimulatedCard, key: str) -> str:
    return "Yes" if card.property(key) == "on" else "No"


def _heading(title: str) -> tuple[str, ...]:
    return "", f"{' ' * 16}{title}", _RULE


def adapter(card: SimulatedCard) -> list[str]:
    """Return the lines of `-AdpAllInfo` for one controller."""
    states = [card.state(volume) for volume in card.volumes]
    failed_drives = sum(disk.state == "failed" for disk in card.disks)
    rates = card.rates
    return [
        "",
        f"Adapter #{card.number}",
        "",
        "=" * 78,
        "                    Versions",
        _RULE,
        f"Product Name    : {card.product}",
        f"Serial No       : {card.serial}",
        f"FW Package Build: {card.package}",
        *_heading("Image Versions in Flash:"),
        f"FW Version         : {card.firmware}",
        *_heading("HW Configuration"),
        f"SAS Address      : {card.sas_address}",
        f"BBU              : {'Present' if card.battery else 'Absent'}",
        "Alarm            : Present",
        "NVRAM            : Present",
        f"Memory           : {'Present'}",
        f"Memory Size      : {card.cache_mib}MB",
        *_heading("Settings"),
        f"Predictive Fail Poll Interval    : {card.property('smart_poll')}sec",
        f"Rebuild Rate                     : {rates['rebuild']}%",
        f"PR Rate                          : {rates['patrol']}%",
        f"BGI Rate                         : {rates['bgi']}%",
        f"Check Consistency Rate           : {rates['cc']}%",
        f"Reconstruction Rate              : {rates['migrate']}%",
        f"Cache Flush Interval             : {rates['flush']}s",
        f"Auto Rebuild                     : {'Enabled' if card.property('auto_rebuild') == 'on' else 'Disabled'}",
        f"Load Balance Mode                : {'Auto' if card.property('load_balance') == 'on' else 'None'}",
        f"Disable Copyback                 : {'No' if card.property('copyback') == 'on' else 'Yes'}",
        f"Enable Copyback on SMART         : {_yes_no(card, 'copyback_smart_hdd')}",
        f"Enable Copyback to SSD on SMART error   : {_yes_no(card, 'copyback_smart_ssd')}",
        *_heading("Limitations"),
        "Max Arms Per VD          : 32",
        "Max Spans Per VD         : 8",
        "Max Arrays               : 128",
        "Max Number of VDs        : 64",
        f"Min Strip Size           : {strip_text(card.strip_minimum)}",
        f"Max Strip Size           : {strip_text(card.strip_maximum)}",
        *_heading("Status"),
        f"Any Offline VD Cache Preserved   : {'Yes' if card.pinned else 'No'}",
        *_heading("Device Present"),
        f"Virtual Drives    : {len(card.volumes)}",
        f"  Degraded        : {states.count('degraded') + states.count('partially degraded')}",
        f"  Offline         : {states.count('offline')}",
        f"Physical Devices  : {len(card.disks) + 1}",
        f"  Disks           : {len(card.disks)}",
        "  Critical Disks  : 0",
        f"  Failed Disks    : {failed_drives}",
        *_heading("Supported Adapter Operations"),
        "Rebuild Rate                    : Yes",
        "CC Rate                         : Yes",
        *([] if card.blocks_ssd_cache else ["Block SSD Write Disk Cache Change : No"]),
        *_heading("Supported VD Operations"),
        "Read Policy          : Yes",
        "Write Policy         : Yes",
        "IO Policy            : Yes",
        "Access Policy        : Yes",
        "Disk Cache Policy    : Yes",
        *_heading("Supported PD Operations"),
        "Force Online                            : Yes",
        f"Enable JBOD                             : {'Yes' if card.jbod else 'No'}",
    ]


def volumes(rack: Rack, card: SimulatedCard, *, members: bool) -> list[str]:
    """Return the lines of `-LDInfo -LALL`, or of `-LdPdInfo` with members."""
    heading = [f"Adapter #{card.number}", "", f"Number of Virtual Disks: {len(card.volumes)}"]
    lines = heading if members else ["", f"Adapter {card.number} -- Virtual Drive Information:"]
    for volume in card.volumes:
        lines += _volume(rack, card, volume)
        if members:
            lines += _members(rack, card, volume)
        else:
            lines += ["", ""]
    return lines


def _volume(rack: Rack, card: SimulatedCard, volume: Volume) -> list[str]:
    bad_battery = "Write Cache OK if Bad BBU" if volume.write_cache == "always-write-back" else None
    last = bad_battery or "No Write Cache if Bad BBU"
    rest = f"{READ[volume.read_ahead]}, {IO[volume.io_policy]}, {last}"
    now = "WriteBack" if volume.writes_back(card.protected) else "WriteThrough"
    parity = {Level.RAID1: 1, Level.RAID10: 1}.get(volume.level)
    lines = [
        f"Virtual Drive: {volume.number} (Target Id: {volume.number})",
        f"Name                :{volume.name}",
        f"RAID Level          : {LEVELS[volume.level]}",
        f"Size                : {size_text(volume.size_bytes)}",
        "Sector Size         : 512",
        *([f"Mirror Data         : {size_text(volume.size_bytes)}"] if parity else []),
        f"State               : {card.state(volume).title()}",
        f"Strip Size          : {strip_text(volume.strip_bytes).replace('1.000', '1.0')}",
        f"Number Of Drives{' per span:' if volume.spans > 1 else '    : '}{volume.per_span}",
        f"Span Depth          : {volume.spans}",
        f"Default Cache Policy: {WRITE[volume.write_cache]}, {rest}",
        f"Current Cache Policy: {now}, {rest}",
        f"Default Access Policy: {ACCESS[volume.access]}",
        f"Current Access Policy: {ACCESS[volume.access]}",
        f"Disk Cache Policy   : {CACHE[volume.drive_cache]}",
    ]
    done = volume.initialised_share(rack.now())
    if done is not None:
        minutes = int((rack.now() - (volume.bgi_since or 0.0)) / 60)
        lines += [
            "Ongoing Progresses:",
            f"  Background Initialization: Completed {int(done * 100)}%, Taken {minutes} min.",
        ]
    return [*lines, "Encryption Type     : None", "Is VD Cached: No"]


def _members(rack: Rack, card: SimulatedCard, volume: Volume) -> list[str]:
    lines = [f"Number of Spans: {volume.spans}"]
    disks = card.members(volume)
    for span in range(volume.spans):
        rows = disks[span * volume.per_span : (span + 1) * volume.per_span]
        lines += [f"Span: {span} - Number of PDs: {len(rows)}", ""]
        for number, disk in enumerate(rows):
            lines += [f"PD: {number} Information", *_drive(rack, disk, f"{volume.group}, Span: {span}, Arm: {number}")]
            lines += ["", "", ""]
    return lines


def drives(rack: Rack, card: SimulatedCard) -> list[str]:
    """Return the lines of `-PDList`."""
    position_in_group: dict[str, str] = {}
    for volume in card.volumes:
        for number, position in enumerate(volume.places):
            span, arm = divmod(number, volume.per_span)
            position_in_group.setdefault(position, f"{volume.group}, Span: {span}, Arm: {arm}")
    lines = ["", f"Adapter #{card.number}", ""]
    for disk in card.disks:
        lines += [*_drive(rack, disk, position_in_group.get(disk.place)), "", "", ""]
    return lines


def _drive(rack: Rack, disk: SimulatedDrive, position: str | None) -> list[str]:
    kind = disk.type
    raw, coerced = kind.size_bytes, disk.coerced_bytes
    lines = [
        f"Enclosure Device ID: {'N/A' if disk.enclosure is None else disk.enclosure}",
        f"Slot Number: {disk.slot}",
        *([f"Drive's position: DiskGroup: {position}"] if position is not None else []),
        "Enclosure position: 1",
        f"Device Id: {disk.did}",
        f"WWN: {disk.wwn.upper()}",
        "Sequence Number: 2",
        f"Media Error Count: {disk.media_errors}",
        f"Other Error Count: {disk.other_errors}",
        f"Predictive Failure Count: {disk.predictive_errors}",
        "Last Predictive Failure Event Seq Number: 0",
        f"PD Type: {kind.interface.upper()}",
        "",
        f"Raw Size: {size_text(raw)} [0x{raw // 512:x} Sectors]",
        f"Non Coerced Size: {size_text(raw - (1 << 29))} [0x{(raw - (1 << 29)) // 512:x} Sectors]",
        f"Coerced Size: {size_text(coerced)} [0x{coerced // 512:x} Sectors]",
        "Sector Size:  0",
        f"Firmware state: {STATES[disk.state]}",
    ]
    if disk.state == REBUILD:
        minutes = disk.rebuild_minutes(rack.now())
        done = int(disk.rebuild_share(rack.now()) * 100)
        lines += ["Ongoing Progresses:", f"  Rebuild: Completed {done}%, Taken {minutes} min."]
    return [
        *lines,
        f"Device Firmware Level: {kind.firmware}",
        "Shield Counter: 0",
        "Successful diagnostics completion on :  N/A",
        f"SAS Address(0): 0x{disk.wwn}",
        "Connected Port Number: 0(path0)",
        f"Inquiry Data: {_inquiry(disk)}",
        "FDE Capable: Not Capable",
        "FDE Enable: Disable",
        "Secured: Unsecured",
        "Locked: Unlocked",
        "Needs EKM Attention: No",
        f"Foreign State: {'Foreign' if disk.state == 'foreign' else 'None'}",
        f"Device Speed: {kind.link}",
        f"Link Speed: {kind.link}",
        f"Media Type: {'Hard Disk Device' if kind.media is Media.HDD else 'Solid State Device'}",
        f"Drive Temperature :{fahrenheit(disk.temperature)}",
        "PI Eligibility:  No",
        "Drive is formatted for PI information:  No",
        "PI: No PI",
        f"Drive has flagged a S.M.A.R.T alert : {'Yes' if disk.alert else 'No'}",
    ]


def _inquiry(disk: SimulatedDrive) -> str:
    """Return the inquiry string in fields of fixed width: SATA begins with the serial number, SAS with the vendor."""
    kind = disk.type
    if kind.interface == "sata":
        return f"{disk.serial:>20}{kind.model:<40}{kind.firmware:<8}"
    return f"{kind.vendor:<8}{kind.model:<16}{kind.firmware:<4}{disk.serial:<20}"


def battery(rack: Rack, card: SimulatedCard) -> list[str]:
    """Return the lines of `-AdpBbuCmd`."""
    unit = card.battery
    assert unit is not None
    bad = "Yes" if unit.state == "failed" else "No"
    return [
        f"BBU status for Adapter: {card.number}",
        "",
        f"BatteryType: {'CVPM02' if unit.kind == 'cachevault' else 'iBBU08'}",
        "Voltage: 4059 mV",
        "Current: 0 mA",
        f"Temperature: {unit.temperature} C",
        f"Battery State: {unit.state.capitalize()}",
        "BBU Firmware Status:",
        "",
        "  Charging Status              : None",
        "  Voltage                                 : OK",
        "  Temperature                             : OK",
        "  Learn Cycle Requested                   : No",
        f"  Learn Cycle Active                      : {'Yes' if unit.state == 'learning' else 'No'}",
        "  Learn Cycle Status                      : OK",
        "  Learn Cycle Timeout                     : No",
        "  I2c Errors Detected                     : No",
        "  Battery Pack Missing                    : No",
        f"  Battery Replacement required            : {bad}",
        "  Remaining Capacity Low                  : No",
        "  Periodic Learn Required                 : No",
        "  Transparent Learn                       : No",
        "  No space to cache offload               : No",
        "  Pack is about to fail & should be replaced : No",
        "",
        "BBU GasGauge Status: 0x0128",
        f"  Relative State of Charge: {'12' if unit.state == 'failed' else '97'} %",
        "  Cycle Count: 41",
        "",
        f"BBU Properties for Adapter: {card.number}",
        "",
        "  Auto Learn Period: 28 Days",
        f"  Next Learn time: {format_time(rack.now() + 11 * 86400, '%a %b %d %H:00:00 %Y')}",
        "  Learn Delay Interval:0 Hours",
        "  Auto-Learn Mode: Enabled",
    ]


def options(card: SimulatedCard) -> list[str]:
    """Return the lines of `-ELF -ControllerFeatures`."""
    lines = ["", f"Activated Advanced Software Options of Adapter {card.number}", ""]
    for name in card.options:
        lines += [f"Advanced Software Option    : {name}", "Time Remaining              : Unlimited", ""]
    return lines
