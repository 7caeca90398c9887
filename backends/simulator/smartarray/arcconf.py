"""Simulated arcconf: its output, and its changes to the controllers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from backends.simulator.smartarray.cards import (
    NO_CHANGE,
    STRIPS,
    SWITCHED,
    Outcome,
    SmartBay,
    SmartCard,
    SmartVolume,
    with_cache_mode,
    with_caching,
    with_drive_cache,
    with_setting,
    with_volume,
    without_volume,
)
from backends.simulator.tool_output import SimulatedOutput

Cards = tuple[SmartCard, ...]

_DONE = "Command completed successfully."
_RULE = "-" * 70
_PART = "   " + "-" * 56
_WRITE = {"wt": "Disabled", "wbb": "On when protected by battery/ZMM", "wb": "Enabled"}
_CREATES = {
    "stripesize": STRIPS,
    "legs": tuple(map(str, range(2, 17))),
    "ldcache": ("lon", "loff"),
    "rcache": ("ron", "roff"),
    "wcache": ("wt", "wb", "wbb"),
    "method": ("build", "clear", "quick"),
}
"""Options of `create` with their legal values, except the option `name`."""
_BARE = ("cacheratio", "waitforcacheroom", "nobatterywritecache", "writecachebypassthreshold")
"""Settings that do not accept `noprompt`, according to arcconf's usage message."""
_MODES = {"1": "Default/Dynamic", "2": "OLTP/Database", "3": "Big Block Bypass"}
_POLICIES = {"0": "default", "1": "enable", "2": "disable"}
USAGE = """ Usage: SETCACHE <Controller#> LOGICALDRIVE <LogicalDrive#> <logical mode> [noprompt] [nologs]
 Usage: SETCACHE <Controller#> DRIVEWRITECACHEPOLICY <DriveType> <CachePolicy> [noprompt] [nologs]
 Usage: SETCACHE <Controller#> CACHERATIO <read#> <write#>
 Usage: SETCACHE <Controller#> WAITFORCACHEROOM <enable | disable>
 Usage: SETCACHE <Controller#> NOBATTERYWRITECACHE <enable | disable>
 Usage: SETCACHE <Controller#> WRITECACHEBYPASSTHRESHOLD <threshold size>
 Logical modes: lon  : enable caching
                loff : disable caching
"""


CREATE_USAGE = """ Usage: CREATE <Controller#> LOGICALDRIVE [Options] <Size> <RAID#> <CHANNEL# ID#> ... [noprompt]
 Options:
    [Stripesize <STRIPE>]   16, 32, 64, 128, 256, 512, 1024 KB; default 256
    [Legs <LEGS>]           RAID 50 and 60: 2 to 16; default 2
    [Name <NAME>]
    [LDcache <LON | LOFF>]
    [Rcache <RON | ROFF>]
    [Wcache <WT | WB | WBB>]
    [Method <BUILD | CLEAR | QUICK>]
 Size: MAX or MB
"""
LOSS = (
    "\nWARNING: Deleting this logical device will result in data being lost.\n\nAre you sure you want to continue?\n"
    "Press y, then ENTER to continue or press ENTER to abort: (y/n) "
)


def answer(cards: Cards, args: Sequence[str], *, old: bool = False) -> tuple[SimulatedOutput, Cards]:
    """Run arcconf. Return its output and the controllers afterwards. An `old` tool cannot access newer controllers."""
    lowered = [word.lower() for word in args]
    match lowered:
        case ["list"]:
            rows = "".join(
                f"   Controller {card.number}:             : Optimal, Slot 1, {_mode_text(card)}, "
                f"{card.model}, {card.serial}\n"
                for card in cards
            )
            return SimulatedOutput(text=f"Controllers found: {len(cards)}\n{rows}\n{_DONE}\n"), cards
        case ["setcache"]:
            return SimulatedOutput(text=USAGE, code=1), cards
        case ["create"]:
            return SimulatedOutput(text=CREATE_USAGE, code=1), cards
        case [verb, number, *rest]:
            card = next((card for card in cards if card.number == number), None)
            if card is None:
                return _abort(cards, "The specified controller does not exist."), cards
            if old and not card.series:
                return _inaccessible_output(cards, verb), cards
            return _answer_card(cards, card, verb, rest, args[2:])
        case _:
            return _abort(cards, "Invalid command."), cards


def _abort(cards: Cards, sentence: str) -> SimulatedOutput:
    return SimulatedOutput(text=f"Controllers found: {len(cards)}\n{sentence}\n\nCommand aborted.\n", code=1)


def _inaccessible_output(cards: Cards, verb: str) -> SimulatedOutput:
    """Return the output for a controller that is newer than the tool. `getconfig` nevertheless reports success."""
    if verb != "getconfig":
        return _abort(cards, "The specified controller is inaccessible.")
    lines = [f"Controllers found: {len(cards)}", *_heading_lines("Controller information")]
    lines += [*_fields(("Controller Status", "Inaccessible")), "", *_heading_lines("Logical device information")]
    lines += ["   No logical devices configured", "", *_heading_lines("Physical Device information"), "", "", _DONE]
    return SimulatedOutput(text="\n".join(lines) + "\n")


def _answer_card(
    cards: Cards, card: SmartCard, verb: str, args: list[str], given: Sequence[str]
) -> tuple[SimulatedOutput, Cards]:
    """Run a command on one controller. `args` are in lower case, `given` as typed."""
    outcome: Outcome
    if verb == "setcache" and args[:1] and args[0] in _BARE and "noprompt" in args:
        return _abort(cards, "Invalid command."), cards
    match [verb, *(word for word in args if word != "noprompt")]:
        case ["getconfig", "al"]:
            text = "\n".join((f"Controllers found: {len(cards)}", *_config_lines(card), "", "", _DONE))
            return SimulatedOutput(text=text, seconds=0.3), cards
        case ["getstatus"]:
            return SimulatedOutput(
                text=f"Controllers found: {len(cards)}\nCurrent operation              : None\n{_DONE}\n"
            ), cards
        case ["delete", *_] if "noprompt" not in args:
            return SimulatedOutput(text=LOSS, code=1), cards
        case ["create" | "delete", *rest]:
            outcome = _change_volumes(card, verb, rest, [word for word in given if word != "noprompt"])
        case ["setcache", "logicaldrive", number, mode] if card.series:
            outcome = with_cache_mode(card, int(number), mode)
        case ["setcache", "logicaldrive", number, ("lon" | "loff") as mode]:
            outcome = with_caching(card, int(number), mode == "lon")
        case ["setcache", "device", _, device, ("wb" | "wt") as mode] if card.series:
            outcome = with_drive_cache(card, device, mode == "wb")
        case ["setperform", mode] if card.series and mode in _MODES:
            outcome = NO_CHANGE if card.performance == mode else replace(card, performance=mode)
        case ["setpriority", level] if card.series:
            outcome = NO_CHANGE if card.priority == level else replace(card, priority=level)
        case ["setcache", "cacheratio", read, write] if not card.series:
            outcome = with_setting(card, "cacheratio", f"{read}/{write}")
        case ["setcache", "drivewritecachepolicy", which, policy] if not card.series and policy in _POLICIES:
            outcome = with_setting(card, f"drivewritecache {which}", _POLICIES[policy])
        case ["setcache", ("nobatterywritecache" | "waitforcacheroom" | "writecachebypassthreshold") as word, value]:
            outcome = with_setting(card, word, value)
        case _:
            outcome = "The requested feature is not supported on this controller."
    if isinstance(outcome, str):
        return _abort(cards, outcome), cards
    after = tuple(outcome if existing is card else existing for existing in cards)
    return SimulatedOutput(text=f"Controllers found: {len(cards)}\n\n{_DONE}\n"), after


def _change_volumes(card: SmartCard, verb: str, args: Sequence[str], given: Sequence[str]) -> Outcome:
    """Run `create C logicaldrive ...` or `delete C logicaldrive NUMBER`."""
    if args[:1] != ["logicaldrive"]:
        return "Invalid command."
    if verb == "create":
        return _create(card, args[1:], given[1:])
    return without_volume(card, int(args[1])) if len(args) == 2 and args[1].isdigit() else "Invalid command."


def _create(card: SmartCard, args: Sequence[str], given: Sequence[str]) -> Outcome:
    """Run `create` with `[OPTION VALUE]... max LEVEL CHANNEL ID ...`."""
    if "max" not in args:
        return "Invalid command."
    max_index = args.index("max")
    fields = dict(zip(args[:max_index:2], given[:max_index:2] and given[1:max_index:2], strict=False))
    level, pairs = args[max_index + 1] if len(args) > max_index + 1 else "", list(args[max_index + 2 :])
    invalid = [key for key, value in fields.items() if key != "name" and value.lower() not in _CREATES.get(key, ())]
    has_groups = level in ("50", "60")
    if max_index % 2 or len(pairs) % 2 or not pairs or invalid or ("legs" in fields and not has_groups):
        return "Invalid arguments."
    unsupported = ("rcache", "wcache") if not card.series else ("ldcache",)
    if option := next((word for word in unsupported if word in fields), None):
        return f"{option} is not supported on this controller."
    if fields.get("name") in {volume.name for volume in card.volumes}:
        return "A logical device of this name exists already."
    new = SmartVolume(
        number=0,
        strip_kib=int(fields.get("stripesize", "256")),
        name=fields.get("name", f"LogicalDrv {len(card.volumes)}"),
        acceleration="none" if fields.get("ldcache") == "loff" else "cache",
        read_cache=fields.get("rcache") != "roff",
        write_cache=fields.get("wcache", "wbb"),
    )
    groups = int(fields.get("legs", "2")) if has_groups else 0
    places = tuple(f"{channel}:{device}" for channel, device in zip(pairs[::2], pairs[1::2], strict=True))
    return with_volume(card, "1+0" if level == "10" else level, places, new, groups)


def _mode_text(card: SmartCard) -> str:
    return "HBA" if card.hba else "Mixed"


def _fields(*pairs: tuple[str, str], indent: int = 3) -> Iterator[str]:
    for label, value in pairs:
        yield f"{' ' * indent}{label.ljust(46 - indent)}: {value}"


def _heading_lines(title: str) -> Iterator[str]:
    yield from (_RULE, title, _RULE)


def _part_lines(title: str) -> Iterator[str]:
    yield from (_PART, f"   {title}", _PART)


def _config_lines(card: SmartCard) -> Iterator[str]:
    yield from _heading_lines("Controller information")
    yield from _fields(
        ("Controller Status", "Optimal"), ("Controller Mode", _mode_text(card)), ("Controller Model", card.model)
    )
    yield from _fields(("Controller Serial Number", card.serial), ("Temperature", "54 C/ 129 F (Normal)"))
    yield from _series_lines(card) if card.series else _smart_lines(card)
    yield from _heading_lines("Logical device information")
    if not card.volumes:
        yield "   No logical devices configured"
    for volume in card.volumes:
        yield from _volume_lines(card, volume)
    yield from _heading_lines("Physical Device information")
    yield "   Channel #0:"
    for bay in card.bays:
        yield from _drive_lines(card, bay)


def _series_lines(card: SmartCard) -> Iterator[str]:
    yield from _fields(("Installed memory", "512 MB"), ("Global task priority", card.priority.capitalize()))
    yield from _fields(("Performance Mode", _MODES[card.performance]))
    yield from _part_lines("Controller Version Information")
    yield from _fields(("Firmware", card.firmware), ("Driver", "1.2-1 (50877)"))
    if card.capacitor:
        yield from _part_lines("Controller ZMM Information")
        yield from _fields(("Status", "ZMM Optimal" if card.protected else "ZMM not installed"))
        return
    yield from _part_lines("Controller Battery Information")
    state = {"OK": "Optimal", "": "Not Installed"}.get(card.battery, card.battery.partition(" ")[0])
    yield from _fields(("Status", state), ("Over temperature", "No"))


def _smart_lines(card: SmartCard) -> Iterator[str]:
    value = card.values
    domain, bus, device = card.pci.split(":")
    yield from _fields(
        ("PCI Address (Domain:Bus:Device:Function)", f"{int(domain, 16):x}:{bus}:{int(device[:2], 16):x}:0")
    )
    yield from _fields(("Queue Depth", value["queuedepth"].capitalize()), ("Driver Name", "smartpqi"))
    yield from _fields(("Elevator Sort", SWITCHED[value["elevatorsort"]]))
    yield from _part_lines("Cache Properties")
    read, write = value["cacheratio"].split("/")
    yield from _fields(("Cache Status", card.cache_state.replace("OK", "Ok")), ("Cache memory", "3644 MB"))
    yield from _fields(
        ("Read Cache Percentage", f"{read} percent" if card.cached else "Not Applicable"),
        ("Write Cache Percentage", f"{write} percent" if card.cached else "Not Applicable"),
        ("No-Battery Write Cache", SWITCHED[value["nobatterywritecache"]]),
        ("Wait for Cache Room", SWITCHED[value["waitforcacheroom"]]),
        ("Write Cache Bypass Threshold Size", f"{value['writecachebypassthreshold']} KB"),
    )
    if card.battery:
        yield from _part_lines("Green Backup Information")
        yield from _fields(("Backup Power Status", card.battery.replace("OK", "Ok")))
    yield from _part_lines("Physical Drive Write Cache Policy Information")
    for label, word in (("Configured", "configured"), ("Unconfigured", "unconfigured"), ("HBA", "hba")):
        policy = value[f"drivewritecache {word}"]
        yield from _fields((f"{label} Drives", SWITCHED.get(policy, "Default")))
    yield from _part_lines("Controller Version Information")
    yield from _fields(("Firmware", card.firmware), ("Driver", "Linux 2.1.18-045"))
    yield from _heading_lines("Array Information")
    for number, group in enumerate(dict.fromkeys(volume.group for volume in card.volumes)):
        has_bypass = all(volume.acceleration == "path" for volume in card.volumes if volume.group == group)
        yield f"Array Number {number}"
        yield from _fields(
            ("Name", group), ("Status", "Ok"), ("Interface", "SATA SSD" if card.is_flash(group) else "SAS")
        )
        yield from _fields(("Unused Size", "0 MB"), ("SSD I/O Bypass", "Enabled" if has_bypass else "Disabled"))


def _volume_lines(card: SmartCard, volume: SmartVolume) -> Iterator[str]:
    yield f"Logical Device number {volume.number}"
    yield from _fields(("Logical Device name", volume.name), ("RAID level", volume.level.replace("1+0", "10")))
    state = "Optimal" if volume.state == "OK" else volume.state
    yield from _fields(("Status of Logical Device", state), ("Size", f"{volume.size_gib * 1024:.0f} MB"))
    yield from _fields(("Stripe-unit size", f"{volume.strip_kib} KB"))
    if card.series:
        status = "On" if card.writes_back(volume) else "Off"
        yield from _fields(("Read-cache setting", "Enabled" if volume.read_cache else "Disabled"))
        yield from _fields(("Read-cache status", "On" if volume.read_cache else "Off"))
        yield from _fields(("Write-cache setting", _WRITE[volume.write_cache]), ("Write-cache status", status))
    else:
        groups = list(dict.fromkeys(volume.group for volume in card.volumes))
        method = {"cache": "Controller Cache", "path": "SSD I/O Bypass", "none": "None"}[volume.acceleration]
        yield from _fields(("Array", str(groups.index(volume.group))), ("Disk Name", volume.device or "Not Applicable"))
        yield from _fields(("Full Stripe Size", f"{volume.full_stripe_kib} KB"))
        yield from _fields(("Caching", "Enabled" if volume.acceleration == "cache" else "Disabled"))
        yield from _fields(("LD Acceleration Method", method), ("Volume Unique Identifier", volume.wwn.upper()))
    yield from _part_lines("Logical Device segment information")
    members = card.members(volume.group)
    width = len(members) // (volume.parity_groups or 1)
    for number, bay in enumerate(members):
        segment = f"Group {number // width}, Segment {number % width}" if volume.parity_groups else f"Segment {number}"
        kind = "SSD" if bay.ssd else "HDD"
        drive_text = f"({_megabytes(bay)}MB, SATA, {kind}, Connector:0, Device:{bay.place.rpartition(':')[2]})"
        yield from _fields((segment, f"Present {drive_text} {bay.serial}"))


def _megabytes(bay: SmartBay) -> int:
    return bay.size_gb * 10**9 >> 20


def _drive_lines(card: SmartCard, bay: SmartBay) -> Iterator[str]:
    device = bay.place.rpartition(":")[2]
    is_member = any(bay.group == volume.group for volume in card.volumes)
    yield f"      Device #{device}\n         Device is a Hard drive"
    yield from _fields(
        ("State", bay.state if bay.state != "OK" else "Hot Spare" if bay.spare else "Online" if is_member else "Ready"),
        ("Block Size", "512 Bytes"),
        ("Transfer Speed", "SATA 6.0 Gb/s"),
        ("Reported Channel,Device(T:L)", f"0,{device}({device}:0)"),
        ("Reported Location", f"Connector 0, Device {device}"),
        ("Vendor", "ATA"),
        ("Model", bay.model),
        ("Firmware", "HPD1"),
        ("Serial number", bay.serial),
        ("World-wide name", bay.wwn.upper()),
        ("Total Size", f"{_megabytes(bay)} MB"),
        ("S.M.A.R.T.", "Yes" if bay.fails_soon else "No"),
        ("S.M.A.R.T. warnings", str(int(bay.fails_soon))),
        ("SSD", "Yes" if bay.ssd else "No"),
        indent=9,
    )
    if card.series:
        cache = "Enabled (write-back)" if bay.own_cache else "Disabled (write-through)"
        yield from _fields(("Write Cache", cache), indent=9)
    else:
        yield from _fields(("Current Temperature", f"{bay.temperature} deg C"), indent=9)
        yield from _fields(("Threshold Temperature", "70 deg C"), indent=9)
        if bay.ssd:
            yield from _fields(("Usage Remaining", f"{100 - bay.used_percent:.0f} percent"), indent=9)
            yield from _fields(("SSD Smart Trip Wearout", str(bay.fails_soon)), indent=9)
    yield from _error_lines(card, bay)


def _error_lines(card: SmartCard, bay: SmartBay) -> Iterator[str]:
    rule = f"      {'-' * 64}"
    title = "Runtime Error Counters" if card.series else "Device Error Counters"
    counts = (
        {
            "Hardware Error Count": 0,
            "Medium Error Count": bay.media_errors,
            "Parity Error Count": 0,
            "Link Failure Count": bay.other_errors,
            "Aborted Command Count": 0,
            "SMART Warning Count": int(bay.fails_soon),
        }
        if card.series
        else {
            "Aborted Commands": 0,
            "Hardware Errors": 0,
            "Media Failures": bay.media_errors,
            "Other Time Out Errors": bay.other_errors,
            "Predictive Failures": int(bay.fails_soon),
        }
    )
    yield from (rule, f"      {title}", rule)
    yield from _fields(*((label, str(count)) for label, count in counts.items()), indent=9)
