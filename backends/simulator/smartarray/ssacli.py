"""Simulated ssacli: its output, and its changes to the controllers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from textwrap import wrap

from backends.simulator.smartarray.cards import (
    LEGAL,
    LOCKED,
    STRIPS,
    SWITCHED,
    SWITCHES,
    Outcome,
    SmartBay,
    SmartCard,
    SmartVolume,
    with_caching,
    with_setting,
    with_smart_path,
    with_strip,
    with_volume,
    without_volume,
)
from backends.simulator.tool_output import SimulatedOutput

Cards = tuple[SmartCard, ...]

WARNING = """Warning: Without the proper safety precautions, use of write cache on physical
         drives could cause data loss in the event of power failure.
         Continue? (y/n) """
LOSS = "\nWarning: Deleting the specified device(s) will result in data being lost.\n         Continue? (y/n) "
RENAMED = "\nWarning: Deleting an array can cause other array letters to become renamed.\n\n"
_CACHING = ("caching", "aa", "arrayaccelerator")
_CARD_LINES = (
    ("Rebuild Priority", "rebuildpriority", "{}"),
    ("Expand Priority", "expandpriority", "{}"),
    ("Surface Scan Delay", "surfacescandelay", "{} secs"),
    ("Surface Scan Mode", "surfacescanmode", "{}"),
    ("Current Parallel Surface Scan Count", "parallelsurfacescancount", "{}"),
    ("Queue Depth", "queuedepth", "{}"),
    ("Monitor and Performance Delay", "mnpdelay", "{}  min"),
    ("Elevator Sort", "elevatorsort", "{}"),
    ("Degraded Performance Optimization", "degradedperformanceoptimization", "{}"),
    ("Inconsistency Repair Policy", "inconsistencyrepairpolicy", "{}"),
    ("Write Cache Bypass Threshold Size", "writecachebypassthreshold", "{} KiB"),
    ("Wait for Cache Room", "waitforcacheroom", "{}"),
    ("Configured Drive Write Cache Policy", "drivewritecache configured", "{}"),
    ("Unconfigured Drive Write Cache Policy", "drivewritecache unconfigured", "{}"),
    ("HBA Drive Write Cache Policy", "drivewritecache hba", "{}"),
    ("No-Battery Write Cache", "nobatterywritecache", "{}"),
    ("Current Power Mode", "powermode", "{}"),
    ("Survival Mode", "survivalmode", "{}"),
    ("Spare Activation Mode", "spareactivationmode", "Activate on {} drive failure"),
)
_PRINTED = {
    "minpower": "MinPower",
    "maxperformance": "MaxPerformance",
    "failure": "physical",
    "predictive": "predictive physical",
}
"""Values as ssacli prints them, by the value on the command line, if the two differ."""


def answer(cards: Cards, args: Sequence[str]) -> tuple[SimulatedOutput, Cards]:
    """Run ssacli and return its output and the controllers afterwards."""
    match list(args):
        case ["ctrl", "all", "show"]:
            titles = "".join(
                f"\n{card.model} in Slot {card.number}                (sn: {card.serial})\n" for card in cards
            )
            return (SimulatedOutput(text=titles) if cards else _error("No controllers detected.")), cards
        case ["ctrl", slot, *rest]:
            card = next((card for card in cards if slot == f"slot={card.number}"), None)
            if card is None:
                return _error("The controller identified by the slot was not detected."), cards
            return _answer_card(cards, card, rest)
        case _:
            return _error("Syntax error."), cards


def _error(sentence: str) -> SimulatedOutput:
    return SimulatedOutput(text=f"\nError: {sentence}\n\n", code=1)


def _answer_card(cards: Cards, card: SmartCard, args: list[str]) -> tuple[SimulatedOutput, Cards]:
    match args:
        case ["show", "config", "detail"]:
            return SimulatedOutput(text="\n".join(_detail_lines(card)) + "\n\n", seconds=0.3), cards
        case ["modify", word] if word.endswith("=?"):
            return _options_output(LEGAL.get(word[:-2], ())), cards
        case ["ld", _, "modify", word] if word.endswith("=?"):
            return _options_output(STRIPS if word == "ss=?" else SWITCHES), cards
        case ["modify", word, *rest]:
            return _modify(cards, card, word, rest)
        case ["ld", number, "modify", word, *_] if number.isdigit():
            key, _, value = word.partition("=")
            if key == "ss":
                return _outcome_output(cards, card, with_strip(card, int(number), value))
            if key in _CACHING:
                return _outcome_output(cards, card, with_caching(card, int(number), value == "enable"))
            return _error(f'"{key}" is not a valid parameter.'), cards
        case ["create", "type=ld", *rest]:
            return _create(cards, card, rest)
        case ["ld", number, "delete", *rest] if number.isdigit():
            return _delete(cards, card, int(number), forced="forced" in rest)
        case ["array", group, "modify", word, *_] if word.startswith("ssdsmartpath="):
            return _outcome_output(cards, card, with_smart_path(card, group, word.endswith("=enable")))
        case _:
            return _error("Syntax error."), cards


def _modify(cards: Cards, card: SmartCard, word: str, rest: Sequence[str]) -> tuple[SimulatedOutput, Cards]:
    key, _, value = word.partition("=")
    if key == "drivewritecache":
        usage = next((name.removeprefix("usage=") for name in rest if name.startswith("usage=")), None)
        if usage is None:
            return _error('Parameter "usage" must be specified.'), cards
        if "forced" not in rest and value != "disable":
            return SimulatedOutput(text=WARNING, code=1), cards
        key = f"drivewritecache {usage}"
    if key not in LEGAL:
        return _error(f'"{key}" is not a valid parameter.'), cards
    return _outcome_output(cards, card, with_setting(card, key, value))


def _delete(cards: Cards, card: SmartCard, number: int, *, forced: bool) -> tuple[SimulatedOutput, Cards]:
    if not forced:
        return SimulatedOutput(text=LOSS, code=1), cards
    output, after = _outcome_output(cards, card, without_volume(card, number))
    return (output if output.code else replace(output, text=RENAMED)), after


def _create(cards: Cards, card: SmartCard, args: Sequence[str]) -> tuple[SimulatedOutput, Cards]:
    """Run `create type=ld`. It prints nothing on success."""
    options = dict(word.partition("=")[::2] for word in args if "=" in word)
    parameters = {"drives", "raid", "size", "ss", *_CACHING, "logicaldrivelabel", "numberparitygroups"}
    caching = next((options[word] for word in _CACHING if word in options), "enable")
    if unknown := sorted(options.keys() - parameters):
        return _error(f'"{unknown[0]}" is not a valid parameter.'), cards
    level = options.get("raid", "0").replace("5+0", "50").replace("6+0", "60").replace("10", "1+0")
    if options.get("size", "max") != "max" or not options.get("ss", "256").isdigit():
        return _error("Syntax error."), cards
    if caching not in SWITCHES:
        return _error(f'"{caching}" is not a valid option.'), cards
    if "numberparitygroups" in options and not (level in ("50", "60") and options["numberparitygroups"].isdigit()):
        return _error('"numberparitygroups" is not a valid parameter.'), cards
    label = options.get("logicaldrivelabel", "")
    if any(volume.name == label for card in cards for volume in card.volumes):
        return _error("The logical drive label is in use already."), cards
    new = SmartVolume(
        number=0,
        strip_kib=int(options.get("ss", "256")),
        acceleration="cache" if caching == "enable" else "none",
        name=label,
    )
    groups = int(options.get("numberparitygroups", "2")) if level in ("50", "60") else 0
    outcome = with_volume(card, level, tuple(options.get("drives", "").split(",")), new, groups)
    return _outcome_output(cards, card, outcome)


def _options_output(values: Sequence[str]) -> SimulatedOutput:
    lines = "\n".join(f"       {value}" for value in values)
    return SimulatedOutput(text=f"\nAvailable options are:\n{lines}\n\n") if values else _error("Syntax error.")


def _outcome_output(cards: Cards, card: SmartCard, outcome: Outcome) -> tuple[SimulatedOutput, Cards]:
    if isinstance(outcome, str):
        return _error(outcome), cards
    return SimulatedOutput(text="\n"), tuple(outcome if existing is card else existing for existing in cards)


def _detail_lines(card: SmartCard) -> Iterator[str]:
    yield f"\n{card.model} in Slot {card.number} (Embedded){' (HBA Mode)' if card.hba else ''}"
    if card.cache_problem:
        yield f"\nCACHE STATUS PROBLEM DETECTED: {_wrap_under_heading(LOCKED)}\n"
    domain, bus, device = card.pci.upper().split(":")
    lines = [
        ("Bus Interface", "PCI"),
        ("Slot", card.number),
        ("Serial Number", card.serial),
        ("Controller Status", "OK"),
        ("Firmware Version", card.firmware),
        ("Cache Board Present", "True"),
        ("Cache Status", card.cache_state),
    ]
    if card.cache_state == "Temporarily Disabled":
        lines.append(("Cache Status Details", "Cache disabled; low batteries."))
    if card.cached:
        read, write = card.values["cacheratio"].split("/")
        lines.append(("Cache Ratio", f"{read}% Read / {write}% Write"))
    lines += [("Max Parallel Surface Scan Count", "16"), ("Total Cache Size", "2.0")]
    for label, word, shape in _CARD_LINES:
        value = card.values[word]
        names = {} if "drivewritecache" in word else {**SWITCHED, **_PRINTED}
        value_text = names.get(value, value.capitalize())
        lines.append((label, shape.format(value_text)))
    if card.battery:
        lines += [("Cache Backup Power Source", "Batteries"), ("Battery/Capacitor Count", "1")]
        lines.append(("Battery/Capacitor Status", card.battery))
    lines += [("Driver Name", "smartpqi"), ("Driver Version", "Linux 2.1.18-045")]
    lines.append(("PCI Address (Domain:Bus:Device.Function)", f"{domain}:{bus}:{device}"))
    lines.append(("Controller Mode", "HBA" if card.hba else "Mixed"))
    yield from (f"   {label}: {value}" for label, value in lines)
    yield "   Sensor ID: 0\n      Location: Inlet Ambient\n      Current Value (C): 31"
    yield "   Primary Boot Volume: None\n"
    yield "\n   Internal Drive Cage at Port 2I, Box 1, OK\n\n      Drive Bays: 8\n      Port: 2I\n      Box: 1\n"
    yield "   Physical Drives"
    yield from map(_drive_row, card.bays)
    if not card.bays:
        yield "      None attached\n\n   Port Name: 2I\n         Port ID: 1"
    groups = dict.fromkeys(volume.group for volume in card.volumes)
    for group in groups:
        yield from _array_lines(card, group)
    unassigned = [bay for bay in card.bays if bay.group not in groups]
    if unassigned:
        yield "\n   Unassigned\n"
    for bay in unassigned:
        yield from _drive_lines(card, bay)
    yield "\n\n   SEP (Vendor ID HPE, Model Smart Adapter) 379\n      Device Number: 379\n      Vendor ID: HPE"
    yield "      Model: Smart Adapter"


def _drive_row(bay: SmartBay) -> str:
    port, box, slot = bay.place.split(":")
    kind = "SATA SSD" if bay.ssd else "SAS HDD"
    rest = f"{kind}, {bay.size_gb} GB, {bay.state}{', spare' if bay.spare else ''}"
    return f"      physicaldrive {bay.place} (port {port}:box {box}:bay {slot}, {rest})"


def _wrap_under_heading(sentence: str) -> str:
    """Return a sentence wrapped to about fifty characters under its heading."""
    return "\n".join(wrap(sentence, 50)).replace("\n", f"\n{' ' * 31}")


def _array_lines(card: SmartCard, group: str) -> Iterator[str]:
    volumes = [volume for volume in card.volumes if volume.group == group]
    smart_path = "enable" if all(volume.acceleration == "path" for volume in volumes) else "disable"
    kind = "Solid State SATA" if card.is_flash(group) else "SAS"
    yield f"\n   Array: {group}\n      Interface Type: {kind}\n      Unused Space: 0  MB (0.0%)"
    yield f"      Status: OK\n      Array Type: Data\n      Smart Path: {smart_path}\n"
    for volume in volumes:
        yield from _volume_lines(volume)
    for bay in card.bays:
        if bay.group == group:
            yield from _drive_lines(card, bay)


def _volume_lines(volume: SmartVolume) -> Iterator[str]:
    method = {"cache": "Controller Cache", "path": "Smart Path", "none": "None"}[volume.acceleration]
    lines = (
        ("Size", f"{volume.size_gib:.2f} GB"),
        ("Fault Tolerance", volume.level),
        ("Strip Size", f"{volume.strip_kib} KB"),
        ("Full Stripe Size", f"{volume.full_stripe_kib} KB"),
        ("Status", volume.state),
        ("Caching", f" {'Enabled' if volume.acceleration == 'cache' else 'Disabled'}"),
        ("Unique Identifier", volume.wwn.upper()),
        ("Disk Name", _disk_text(volume)),
        ("Logical Drive Label", volume.name),
        ("Drive Type", "Data"),
        ("LD Acceleration Method", method),
        *((("Number of Parity Groups", str(volume.parity_groups)),) if volume.parity_groups else ()),
    )
    yield f"\n      Logical Drive: {volume.number}"
    yield from (f"         {label}: {value}" for label, value in lines)
    yield ""


def _disk_text(volume: SmartVolume) -> str:
    """Return the value of `Disk Name`. As in the real tool, there is no line break after the name of a mounted disk."""
    if volume.content is None or volume.content.mount is None:
        return f"{volume.device or 'None'} "
    return f"{volume.device}      Mount Points: {volume.size_gib:.1f} GiB Partition   2 {volume.content.mount}"


def _drive_lines(card: SmartCard, bay: SmartBay) -> Iterator[str]:
    port, box, slot = bay.place.split(":")
    is_member = any(bay.group == volume.group for volume in card.volumes)
    lines = (
        ("Port", port),
        ("Box", box),
        ("Bay", slot),
        ("Status", bay.state),
        ("Drive Type", "Spare Drive" if bay.spare else "Data Drive" if is_member else "Unassigned Drive"),
        ("Interface Type", "Solid State SATA" if bay.ssd else "SAS"),
        ("Size", f"{bay.size_gb} GB"),
        ("Logical/Physical Block Size", "512/4096"),
        ("Firmware Revision", "HPD1"),
        ("Serial Number", bay.serial),
        ("WWID", bay.wwn.upper()),
        ("Model", bay.model),
        ("Current Temperature (C)", str(bay.temperature)),
        *((("Usage remaining", f"{100 - bay.used_percent:.2f}%"),) if bay.ssd else ()),
        *((("SSD Smart Trip Wearout", str(bay.fails_soon)),) if bay.ssd else ()),
        ("PHY Count", "1"),
        ("PHY Transfer Rate", "6.0Gbps"),
    )
    yield f"\n      physicaldrive {bay.place}"
    yield from (f"         {label}: {value}" for label, value in lines)
