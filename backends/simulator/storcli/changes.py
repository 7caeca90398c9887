"""Commands of storcli that change settings."""

from __future__ import annotations

import re
from typing import Any

from backends.model import Level
from backends.simulator import firmware_rules
from backends.simulator.controller import SimulatedCard
from backends.simulator.rack import Rack
from backends.simulator.volume import SPANNED, Volume

Row = dict[str, Any]

VOLUME_WORDS = {
    "wrcache": ("write_cache", "wrCache", {"wt": "write-through", "wb": "write-back", "awb": "always-write-back"}),
    "rdcache": ("read_ahead", "rdCache", {"nora": "none", "ra": "read-ahead", "adra": "adaptive"}),
    "iopolicy": ("io_policy", "IoPolicy", {"direct": "direct", "cached": "cached"}),
    "pdcache": ("drive_cache", "PdCac", {"on": "on", "off": "off", "default": "default"}),
    "accesspolicy": ("access", "AccPolicy", {"rw": "read-write", "ro": "read-only", "blocked": "blocked"}),
    "autobgi": ("auto_bgi", "AutoBGI", {"on": "on", "off": "off"}),
}
"""By property of a virtual drive: key of the setting, name in the output, and values of the setting by storcli's."""

CARD_WORDS = {
    "rebuildrate": ("rebuild", "Rebuildrate"),
    "bgirate": ("bgi", "BGI Rate"),
    "ccrate": ("cc", "CC Rate"),
    "migraterate": ("migrate", "Migrate Rate"),
    "prrate": ("patrol", "Patrol Read Rate"),
    "cacheflushint": ("flush", "Cache Flush Interval"),
    "perfmode": ("perf", "Perf Mode"),
}
"""Key of the setting and name in the output, by storcli's name of a controller property."""


SWITCHES = {
    "ncq": ("ncq", "NCQ"),
    "cachebypass": ("cache_bypass", "Cache Bypass"),
    "autorebuild": ("auto_rebuild", "AutoRebuild"),
    "loadbalancemode": ("load_balance", "Load Balance Mode"),
}
"""Key of the setting and name in the output, by storcli's name of a property that is on or off."""

COPYBACK = {"ctrl": "copyback", "smarthdd": "copyback_smart_hdd", "smartssd": "copyback_smart_ssd"}
"""Keys of the copyback properties, by the type on the command line."""

_PATROL = {"delay": "patrol_delay", "maxconcurrentpd": "patrol_drives", "includessds": "patrol_ssds"}


class CommandSyntaxError(Exception):
    """Arguments that storcli does not know. storcli reports them as plain text, even if JSON is requested."""


def set_volumes(card: SimulatedCard, volumes: list[Volume], args: list[str]) -> list[Row]:
    """Run a command such as `set wrcache=wt`. Return a row per virtual drive and property.

    Raises CommandSyntaxError for unknown properties.
    """
    rows: list[Row] = []
    if args[0].startswith("cbsize="):
        return _set_bypass(card, volumes, args)
    for word in args:
        name, _, value = word.partition("=")
        if name not in VOLUME_WORDS or value.lower() not in VOLUME_WORDS[name][2]:
            raise CommandSyntaxError(name)
        key, shown, meanings = VOLUME_WORDS[name]
        for volume in volumes:
            row = {"VD": volume.number, "Property": shown, "Value": _value_text(value)}
            rows.append(row | _set_volume(card, volume, key, meanings[value.lower()]))
    return rows


def _set_volume(card: SimulatedCard, volume: Volume, key: str, value: str) -> Row:
    """Set a property of a virtual drive. Return the columns of its row that contain the firmware's result."""
    try:
        firmware_rules.set_volume(card, volume, key, value)
    except firmware_rules.RefusalError as error:
        return {"Status": "Failed", "ErrCd": error.code, "ErrMsg": error.text}
    return {"Status": "Success", "ErrCd": 0, "ErrMsg": "-"}


def _set_bypass(card: SimulatedCard, volumes: list[Volume], args: list[str]) -> list[Row]:
    """Run `set cbsize=0 cbmode=7`, in this order. Raises CommandSyntaxError for other arguments."""
    match = re.fullmatch(r"cbsize=([012]) cbmode=([012347])", " ".join(args))
    if match is None:
        raise CommandSyntaxError(args[-1])
    modes = {"0": "intelligent", "1": "standard", "2": "custom-1", "3": "custom-2", "4": "custom-3"}
    size = ("64k", "128k", "256k")[int(match[1])]
    value = "off" if match[2] == "7" else f"{modes[match[2]]}-{size}"
    return [
        {"VD": volume.number, "Property": "CacheBypass", "Value": value}
        | _set_volume(card, volume, "cache_bypass", value)
        for volume in volumes
    ]


def _value_text(value: str) -> str:
    return value.upper() if len(value) < 5 and value not in ("on", "off") else value.capitalize()


def set_card(card: SimulatedCard, args: list[str]) -> list[Row]:
    """Run a command such as `set rebuildrate=60` or `set cc=off`.

    Raises CommandSyntaxError for unknown arguments, and RefusalError if the firmware refuses the value.
    """
    name, sign, value = args[0].partition("=")
    if name in SWITCHES or name in ("copyback", "smartpollinterval") or (not sign and name in ("patrolread", "cc")):
        return _set_property(card, name, value, args[1:])
    if name == "patrolread":
        modes = [word.partition("=")[2] for word in args[1:] if word.startswith("mode=")]
        mode = "off" if value == "off" else (modes or ["auto"])[0]
        if mode not in ("off", "auto", "manual"):
            raise CommandSyntaxError(mode)
        firmware_rules.set_card(card, "patrol_mode", mode)
        return [{"Ctrl_Prop": "Patrol Read Mode", "Value": mode}]
    if name in ("cc", "consistencycheck"):
        mode = {"off": "off", "seq": "sequential", "conc": "concurrent"}.get(value, "")
        if not mode:
            raise CommandSyntaxError(value)
        firmware_rules.set_card(card, "check_mode", mode)
        return [{"Ctrl_Prop": "CC Mode", "Value": value.upper()}]
    if name not in CARD_WORDS:
        raise CommandSyntaxError(name)
    key, shown = CARD_WORDS[name]
    firmware_rules.set_card(card, key, value)
    unit = {"flush": " sec", "perf": ""}.get(key, "%")
    return [{"Ctrl_Prop": shown, "Value": f"{value}{unit}"}]


def _set_property(card: SimulatedCard, name: str, value: str, more_args: list[str]) -> list[Row]:
    """Run a command such as `set ncq=on` or `set copyback=on type=ctrl`.

    Raises CommandSyntaxError for unknown arguments, and RefusalError if the firmware refuses the value.
    """
    if name in SWITCHES and not more_args:
        key, shown = SWITCHES[name]
    elif name == "smartpollinterval" and not more_args:
        key, shown = "smart_poll", "SmartPollInterval"
    elif len(more_args) != 1:
        raise CommandSyntaxError((more_args or ["$end"])[-1])
    elif name == "copyback":
        key, shown = COPYBACK.get(more_args[0].removeprefix("type="), ""), "Copyback"
    else:
        word, _, value = more_args[0].partition("=")
        key = "check_delay" if (name, word) == ("cc", "delay") else _PATROL.get(word, "") if name != "cc" else ""
        shown = word
    if not key or (key not in ("patrol_ssds",) and not value.isdigit() and value not in ("on", "off")):
        raise CommandSyntaxError(value or name)
    firmware_rules.set_card(card, key, "only-mixed" if value == "onlymixed" else value)
    return [{"Ctrl_Prop": shown, "Value": value.upper()}]


def add_volume(rack: Rack, card: SimulatedCard, args: list[str]) -> Volume:
    """Create a virtual drive with `add vd r5 size=all name=... drives=245:1-3 ... wt nora direct strip=64`.

    Raises CommandSyntaxError for unknown arguments, and RefusalError if the firmware refuses the virtual drive.
    """
    volume = Volume(number=0, group=0, write_cache="write-back", read_ahead="none", strip_bytes=256 * 1024)
    share: int | None = None
    plain = {
        word: (key, value)
        for name in ("wrcache", "rdcache", "iopolicy")
        for word, value in VOLUME_WORDS[name][2].items()
        for key in (VOLUME_WORDS[name][0],)
    }
    for word in args:
        name, sign, value = word.partition("=")
        if name == "type" or (not sign and re.fullmatch(r"r(aid)?\d+", name)):
            volume.level = _level((value if sign else name).removeprefix("raid").removeprefix("r"))
        elif name in ("drives", "pdperarray", "strip", "size") and value:
            if name == "drives":
                volume.places = _places(value)
            elif name == "size":
                share = _share(value)
            elif not value.isdigit():
                raise CommandSyntaxError(word)
            elif name == "strip":
                volume.strip_bytes = int(value) * 1024
            else:
                volume.per_span = int(value)
        elif name == "name" and len(value) <= 15:
            volume.name = value
        elif name == "pdcache" and value in VOLUME_WORDS["pdcache"][2]:
            volume.drive_cache = value
        elif word in plain:
            setattr(volume, *plain[word])
        else:
            raise CommandSyntaxError(word)
    if not volume.places:
        raise CommandSyntaxError("$end")
    if volume.level in SPANNED and not volume.per_span:
        text = "operation not possible for current RAID level, Cannot create configuration with 1 span"
        raise firmware_rules.RefusalError(firmware_rules.INVALID, text)
    return firmware_rules.create(rack, card, volume, share=share)


def _level(digits: str) -> Level:
    try:
        return Level(f"raid{int(digits)}")
    except ValueError:
        raise CommandSyntaxError(digits) from None


def _places(text: str) -> tuple[str, ...]:
    """Return the positions of the drives in a list such as `245:1-3,246:0`, in the order of the list."""
    positions: list[str] = []
    enclosure = ""
    for part in text.split(","):
        match = re.fullmatch(r"(?:(\d*):)?(\d+)(?:-(\d+))?", part)
        if match is None:
            raise CommandSyntaxError(part)
        enclosure = match[1] if match[1] is not None else enclosure
        positions += [f"{enclosure}:{slot}" for slot in range(int(match[2]), int(match[3] or match[2]) + 1)]
    return tuple(positions)


def _share(text: str) -> int | None:
    if text in ("all", "remaining"):  # each build of storcli supports only one of these
        return None
    match = re.fullmatch(r"(\d+)(mb|gb|tb)", text.lower())
    if match is None:
        raise CommandSyntaxError(text)
    return int(match[1]) << {"mb": 20, "gb": 30, "tb": 40}[match[2]]
