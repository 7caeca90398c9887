"""Commands of MegaCli that change settings. Each function returns the lines of output."""

from __future__ import annotations

import re
from collections.abc import Sequence

from backends.model import Level
from backends.simulator import firmware_rules
from backends.simulator.controller import SimulatedCard
from backends.simulator.rack import Rack
from backends.simulator.volume import Volume

_POLICIES = {
    "WT": ("write_cache", "write-through", "Set Write Policy to WriteThrough"),
    "WB": ("write_cache", "write-back", "Set Write Policy to WriteBack"),
    "ForcedWB": ("write_cache", "always-write-back", "Set Write Policy to Forced WriteBack"),
    "NORA": ("read_ahead", "none", "Set Read Policy to ReadAheadNone"),
    "RA": ("read_ahead", "read-ahead", "Set Read Policy to ReadAhead"),
    "ADRA": ("read_ahead", "adaptive", "Set Read Policy to ReadAdaptive"),
    "Direct": ("io_policy", "direct", "Set Cache Policy to Direct"),
    "Cached": ("io_policy", "cached", "Set Cache Policy to Cached"),
    "-EnDskCache": ("drive_cache", "on", "Set Disk Cache Policy to Enabled"),
    "-DisDskCache": ("drive_cache", "off", "Set Disk Cache Policy to Disabled"),
    "-RW": ("access", "read-write", "Set Access Policy to ReadWrite"),
    "-RO": ("access", "read-only", "Set Access Policy to ReadOnly"),
    "-Blocked": ("access", "blocked", "Set Access Policy to Blocked"),
}
"""Key and value of the setting, and MegaCli's message, by argument of `-LDSetProp`."""

_RATES = {
    "RebuildRate": ("rebuild", "rebuild rate"),
    "BgiRate": ("bgi", "background initialization rate"),
    "CCRate": ("cc", "check consistency rate"),
    "ReconRate": ("migrate", "reconstruction rate"),
    "PatrolReadRate": ("patrol", "patrol read rate"),
    "CacheFlushInterval": ("flush", "cache flush interval"),
}
"""Key of the setting, and its name in the output, by MegaCli's name of a controller property."""

_LEVELS = {"0": Level.RAID0, "1": Level.RAID1, "5": Level.RAID5, "6": Level.RAID6}
_SPANNED = {"10": Level.RAID10, "50": Level.RAID50, "60": Level.RAID60}


_SWITCHES = {
    ("-AdpSetProp", "NCQEnbl"): ("ncq", "on", "NCQ is enabled success."),
    ("-AdpSetProp", "NCQDsbl"): ("ncq", "off", "NCQ is disabled success."),
    ("-AdpSetProp", "-CopyBackDsbl", "-0"): ("copyback", "on", "Set CopyBack to Enabled success."),
    ("-AdpSetProp", "-CopyBackDsbl", "-1"): ("copyback", "off", "Set CopyBack to Disabled success."),
    ("-AdpSetProp", "SMARTCpyBkEnbl", "-1"): ("copyback_smart_hdd", "on", "Set copyback on SMART to Yes success."),
    ("-AdpSetProp", "SMARTCpyBkEnbl", "-0"): ("copyback_smart_hdd", "off", "Set copyback on SMART to No success."),
    ("-AdpSetProp", "SSDSMARTCpyBkEnbl", "-1"): (
        "copyback_smart_ssd",
        "on",
        "Set copyback to SSD on SMART error to Yes success.",
    ),
    ("-AdpSetProp", "SSDSMARTCpyBkEnbl", "-0"): (
        "copyback_smart_ssd",
        "off",
        "Set copyback to SSD on SMART error to No success.",
    ),
    ("-AdpAutoRbld", "-Enbl"): ("auto_rebuild", "on", "AutoRebuild is Enabled."),
    ("-AdpAutoRbld", "-Dsbl"): ("auto_rebuild", "off", "AutoRebuild is Disabled."),
    ("-AdpPR", "-SSDPatrolReadEnbl"): ("patrol_ssds", "on", "Patrol Read on SSD Devices is set to Enabled."),
    ("-AdpPR", "-SSDPatrolReadDsbl"): ("patrol_ssds", "off", "Patrol Read on SSD Devices is set to Disabled."),
}
"""Key and value of the setting, and MegaCli's message, by the arguments that turn a property on or off."""

_NUMBERS = {
    ("-AdpPR", "-SetDelay"): ("patrol_delay", "Patrol Read delay is set to {} hours."),
    ("-AdpCcSched", "-SetDelay"): ("check_delay", "Scheduled CC execution delay is set to {} hours."),
    ("-AdpSetProp", "PredFailPollInterval"): ("smart_poll", "Set predictive fail poll interval to {} sec success."),
}
"""Key of the setting, and MegaCli's message, by the arguments that precede a number."""


class UsageError(Exception):
    """Arguments that MegaCli does not know."""


def set_volumes(card: SimulatedCard, volumes: Sequence[Volume], args: Sequence[str]) -> list[str]:
    """Run `-LDSetProp VALUE` on virtual drives.

    Raises UsageError if the value is unknown, and RefusalError if the firmware refuses it.
    """
    lines: list[str] = []
    for volume in volumes:
        on_volume = f"on Adapter {card.number}, VD {volume.number} (target id: {volume.number})"
        match list(args):
            case ["-Name", name] if 0 < len(name) <= 15:
                volume.name = name
                lines.append(f"Set VD name to {name} {on_volume} success")
            case [("CachedBadBBU" | "NoCachedBadBBU") as word]:
                lines.append(_set_bad_battery(card, volume, word == "CachedBadBBU", on_volume))
            case [word] if word in _POLICIES:
                lines += _set_policy(card, volume, word, on_volume)
            case _:
                raise UsageError
    return lines


def _set_policy(card: SimulatedCard, volume: Volume, word: str, on_volume: str) -> list[str]:
    key, value, sentence = _POLICIES[word]
    if word == "WB" and volume.write_cache == "always-write-back":
        value = "always-write-back"  # `WB` does not change the separate battery option
    firmware_rules.set_volume(card, volume, key, value)
    if word == "WB" and not card.protected and value == "write-back":
        missing = f"Adapter {card.number}: Get BBU Status Failed."
        note = "So policy Change to WB will not come into effect immediately"
        return [missing, "", note, "", f"{sentence} {on_volume} success"]
    return [f"{sentence} {on_volume} success"]


def _set_bad_battery(card: SimulatedCard, volume: Volume, caches: bool, on_volume: str) -> str:
    if volume.write_cache != "write-through":
        firmware_rules.set_volume(card, volume, "write_cache", "always-write-back" if caches else "write-back")
    return f"Set {'Write Cache OK' if caches else 'No Write Cache'} if bad BBU {on_volume} success"


def set_card(card: SimulatedCard, args: Sequence[str]) -> list[str]:
    """Run `-AdpSetProp`, `-AdpPR` or `-AdpCcSched`. Raises UsageError if unknown, RefusalError if refused."""
    if tuple(args) in _SWITCHES:
        key, value, sentence = _SWITCHES[tuple(args)]
        firmware_rules.set_card(card, key, value)
        return [f"Adapter {card.number}: {sentence}"]
    if len(args) == 3 and (args[0], args[1]) in _NUMBERS:
        key, sentence = _NUMBERS[args[0], args[1]]
        number = args[2].removeprefix("-") if args[0] == "-AdpSetProp" else args[2]
        firmware_rules.set_card(card, key, number)
        return [f"Adapter {card.number}: {sentence.format(number)}"]
    match list(args):
        case ["-AdpSetProp", name, value] if name in _RATES:
            key, shown = _RATES[name]
            firmware_rules.set_card(card, key, value.removeprefix("-"))
            unit = " seconds" if key == "flush" else "%"
            return [f"Adapter {card.number}: Set {shown} to {value.removeprefix('-')}{unit} success."]
        case ["-AdpPR", ("-EnblAuto" | "-EnblMan" | "-Dsbl") as word]:
            mode = {"-EnblAuto": "auto", "-EnblMan": "manual", "-Dsbl": "off"}[word]
            firmware_rules.set_card(card, "patrol_mode", mode)
            shown = {"auto": "Automatic", "manual": "Manual", "off": "Disable"}[mode]
            return [f"Adapter {card.number}: Patrol Read Mode is set to {shown}."]
        case ["-AdpCcSched", ("-ModeConc" | "-ModeSeq" | "-Dsbl") as word]:
            mode = {"-ModeConc": "concurrent", "-ModeSeq": "sequential", "-Dsbl": "off"}[word]
            firmware_rules.set_card(card, "check_mode", mode)
            shown = {"off": "Disabled"}.get(mode, mode.title())
            return [f"Adapter {card.number}: Scheduled CC mode is set to {shown}."]
        case _:
            raise UsageError


def background(card: SimulatedCard, volumes: Sequence[Volume], word: str) -> list[str]:
    """Run `-LDBI -Enbl` or `-LDBI -Dsbl` (`word`), which switch the automatic background initialisation."""
    lines = []
    for volume in volumes:
        volume.auto_bgi = word == "-Enbl"
        state = "Enabled" if volume.auto_bgi else "Disabled"
        lines.append(f"Adapter {card.number}, VD {volume.number}: Auto Background Initialization is {state} success")
    return lines


def delete(rack: Rack, card: SimulatedCard, number: int, *, force: bool) -> list[str]:
    """Run `-CfgLdDel`, which deletes a virtual drive. Raises RefusalError if the firmware refuses this."""
    firmware_rules.delete(rack, card, number, force=force)
    return [f"Adapter {card.number}: Deleted Virtual Drive-{number}(target id-{number})"]


def add(rack: Rack, card: SimulatedCard, verb: str, args: Sequence[str]) -> list[str]:
    """Create a virtual drive with `-CfgLDAdd -R5[245:1,...] WT ...` or `-CfgSpanAdd -R10 -Array0[...] ...`.

    Raises UsageError for unknown arguments, and RefusalError if the firmware refuses the virtual drive.
    """
    # MegaCli uses the firmware's defaults: 64 KiB strips here.
    volume = Volume(number=0, group=0, strip_bytes=64 * 1024)
    share: int | None = None
    arrays: list[tuple[str, ...]] = []
    for word in args:
        if match := re.fullmatch(r"-?[rR](\d+)(?:\[([^\]]*)\])?", word):
            levels = _SPANNED if verb == "-CfgSpanAdd" else _LEVELS
            if match[1] not in levels:
                raise UsageError
            volume.level = levels[match[1]]
            arrays += [tuple(match[2].split(","))] if match[2] else []
        elif match := re.fullmatch(r"-Array\d+\[([^\]]*)\]", word, re.IGNORECASE):
            arrays.append(tuple(match[1].split(",")))
        elif match := re.fullmatch(r"-strpsz(\d+)", word):
            volume.strip_bytes = int(match[1]) * 1024
        elif match := re.fullmatch(r"-sz(\d+)", word):
            share = int(match[1]) << 20
        elif word == "CachedBadBBU" and volume.write_cache == "write-back":
            volume.write_cache = "always-write-back"
        elif word in _POLICIES and not word.startswith("-"):
            key, value, _ = _POLICIES[word]
            setattr(volume, key, value)
        elif word != "NoCachedBadBBU":
            raise UsageError
    if not arrays:
        raise UsageError
    volume.places = tuple(position for array in arrays for position in array)
    volume.per_span = len(arrays[0])
    created = firmware_rules.create(rack, card, volume, share=share)
    return [
        f"Adapter {card.number}: Created VD {created.number}",
        "",
        f"Adapter {card.number}: Configured the Adapter!!",
    ]
