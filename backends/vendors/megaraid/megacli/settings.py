"""Parsers for the settings that MegaCli reports, and the arguments that set them. No I/O.

The arguments are those of `MegaCli -h` (8.07.14): -AdpSetProp, -AdpAutoRbld, -AdpPR, -AdpCcSched. A setting that is not
reported in the expected form cannot be changed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeVar

from backends.errors import InvalidValueError
from backends.text import clean
from backends.vendors._cards import ReportedValue, reported_only
from backends.vendors.megaraid.dialect import NewVolume
from backends.vendors.megaraid.megacli import commands
from backends.vendors.megaraid.megacli.text import amount, lines, pairs, word

_ON_OFF = {"enabled": "on", "disabled": "off", "yes": "on", "no": "off"}
_OFF_ON = {"yes": "off", "no": "on", "enabled": "off", "disabled": "on"}
_BALANCE = {"auto": "on", "none": "off"}

WORDS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "ncq": {"on": ("-AdpSetProp", "NCQEnbl"), "off": ("-AdpSetProp", "NCQDsbl")},
    "auto_rebuild": {"on": ("-AdpAutoRbld", "-Enbl"), "off": ("-AdpAutoRbld", "-Dsbl")},
    "copyback": {"on": ("-AdpSetProp", "-CopyBackDsbl", "-0"), "off": ("-AdpSetProp", "-CopyBackDsbl", "-1")},
    "copyback_smart_hdd": {
        "on": ("-AdpSetProp", "SMARTCpyBkEnbl", "-1"),
        "off": ("-AdpSetProp", "SMARTCpyBkEnbl", "-0"),
    },
    "copyback_smart_ssd": {
        "on": ("-AdpSetProp", "SSDSMARTCpyBkEnbl", "-1"),
        "off": ("-AdpSetProp", "SSDSMARTCpyBkEnbl", "-0"),
    },
    "patrol_read_ssds": {"on": ("-AdpPR", "-SSDPatrolReadEnbl"), "off": ("-AdpPR", "-SSDPatrolReadDsbl")},
    "patrol_read": {"off": ("-AdpPR", "-Dsbl"), "auto": ("-AdpPR", "-EnblAuto"), "manual": ("-AdpPR", "-EnblMan")},
    "consistency_check": {
        "off": ("-AdpCcSched", "-Dsbl"),
        "sequential": ("-AdpCcSched", "-ModeSeq"),
        "concurrent": ("-AdpCcSched", "-ModeConc"),
    },
}
"""Settings of a controller with named values: the arguments before `-aN`, by setting key and value."""

LARGEST = 65535
"""Largest number that raidbench sends to MegaCli."""

NUMBERS: Mapping[str, tuple[str, int, int]] = {
    "rebuild_rate": ("-AdpSetProp RebuildRate -{}", 0, 100),
    "bgi_rate": ("-AdpSetProp BgiRate -{}", 0, 100),
    "cc_rate": ("-AdpSetProp CCRate -{}", 0, 100),
    "migrate_rate": ("-AdpSetProp ReconRate -{}", 0, 100),
    "patrol_read_rate": ("-AdpSetProp PatrolReadRate -{}", 0, 100),
    "cache_flush_interval": ("-AdpSetProp CacheFlushInterval -{}", 1, 255),
    "patrol_read_delay": ("-AdpPR -SetDelay {}", 0, LARGEST),
    "consistency_check_delay": ("-AdpCcSched -SetDelay {}", 0, LARGEST),
    "smart_poll_interval": ("-AdpSetProp PredFailPollInterval -{}", 0, LARGEST),
}
"""Numeric settings of a controller: the arguments before `-aN`, the smallest and the largest value, by setting key."""

_SETTINGS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "auto rebuild": ("auto_rebuild", _ON_OFF),
    "load balance mode": ("load_balance", _BALANCE),
    "disable copyback": ("copyback", _OFF_ON),
    "enable copyback on smart": ("copyback_smart_hdd", _ON_OFF),
    "enable copyback to ssd on smart error": ("copyback_smart_ssd", _ON_OFF),
}
"""Setting key and values by label of the section Settings in -AdpAllInfo."""

_NCQ = re.compile(r"NCQ Status is ?:? ?(?:NCQ )?(Enabled|Disabled)\.?$", re.ASCII | re.IGNORECASE)


def section_settings(section: Mapping[str, str]) -> dict[str, ReportedValue]:
    """Return the settings in the section Settings of -AdpAllInfo, by key."""
    by_key = {key: word(section.get(label, ""), meanings) for label, (key, meanings) in _SETTINGS.items()}
    by_key["smart_poll_interval"] = amount(section.get("predictive fail poll interval", ""), "s", "sec", "seconds")
    return reported_only(by_key)


def patrol_read_settings(text: str) -> dict[str, ReportedValue]:
    """Return the settings of -AdpPR -Info in addition to the mode, by key."""
    fields = pairs(text)
    by_key = {
        "patrol_read_delay": amount(fields.get("patrol read execution delay", ""), "hours", "hour"),
        "patrol_read_ssds": word(fields.get("patrol read on ssd devices", ""), _ON_OFF),
    }
    return reported_only(by_key)


def check_settings(text: str) -> dict[str, ReportedValue]:
    """Return the settings of -AdpCcSched -Info in addition to the mode, by key."""
    delay = amount(pairs(text).get("execution delay", ""), "hours", "hour")
    return {} if delay is None else {"consistency_check_delay": delay}


def ncq_setting(text: str) -> dict[str, ReportedValue]:
    """Return the NCQ setting from -AdpGetProp NCQDsply, which prints `Adapter 0: NCQ Status is Enabled`."""
    for line in lines(text):
        status = _NCQ.search(line.value)
        if status is not None:
            return {"ncq": ReportedValue(value=_ON_OFF[status[1].lower()], raw=status[1])}
    return {}


VOLUME_WORDS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "write_cache": {
        "write-through": ("WT",),
        "write-back": ("NoCachedBadBBU", "WB"),
        "always-write-back": ("WB", "CachedBadBBU"),
    },
    "read_ahead": {"none": ("NORA",), "read-ahead": ("RA",), "adaptive": ("ADRA",)},
    "io_policy": {"direct": ("Direct",), "cached": ("Cached",)},
    "drive_cache": {"on": ("-EnDskCache",), "off": ("-DisDskCache",)},
    "access_policy": {"read-write": ("-RW",), "read-only": ("-RO",)},
}
"""Arguments of -LDSetProp, one command each, in this order. If one of the commands fails, write-back without a battery
never remains active unless it was requested and set completely. Write-through keeps the battery policy. `ForcedWB` is
not used, because the lists show only CachedBadBBU. MegaCli cannot set `drive_cache` to `default`. `blocked` is left
out, because its undo needs a command that not every version has."""

_BACKGROUND = {"on": "-Enbl", "off": "-Dsbl"}
_PLAIN = {"raid0": 0, "raid1": 1, "raid5": 5, "raid6": 6}
_SPANNED = {"raid10": 10, "raid50": 50, "raid60": 60}
LEVELS = {**_PLAIN, **_SPANNED}
"""Numbers that MegaCli's arguments use for the levels, as in `-R5`."""

_FEWEST = {0: 1, 1: 2, 5: 3, 6: 3, 10: 2, 50: 3, 60: 3}
"""Minimum number of drives in a span, by level."""

_STRIPS = (8, 16, 32, 64, 128, 256, 512, 1024)
"""Legal values of -strpsz in KiB."""

_MOST_SPANS = 8
_LONGEST_NAME = 15
T = TypeVar("T")


def volume_commands(card: int, volume: int, key: str, value: str) -> tuple[tuple[str, ...], ...]:
    """Return the arguments that set a virtual drive's `key`. Raises InvalidValueError for an unknown key or value."""
    if key == "auto_bgi":
        return (commands.on_volume(card, volume, ("-LDBI", _meaning(_BACKGROUND, key, value))),)
    if key not in VOLUME_WORDS:
        raise InvalidValueError(f"MegaCli cannot set {clean(key)} of a virtual drive.")
    arguments = _meaning(VOLUME_WORDS[key], key, value)
    return tuple(commands.on_volume(card, volume, ("-LDSetProp", word)) for word in arguments)


def card_commands(card: int, key: str, value: str) -> tuple[tuple[str, ...], ...]:
    """Return the arguments that set a controller's `key`. Raises InvalidValueError for an unknown key or value."""
    if key in WORDS:
        return (commands.on_card(card, _meaning(WORDS[key], key, value)),)
    if key not in NUMBERS:
        raise InvalidValueError(f"MegaCli cannot set {clean(key)} of a controller.")
    template, smallest, largest = NUMBERS[key]
    return (commands.on_card(card, template.format(_number(key, value, smallest, largest)).split()),)


def recreate_commands(card: int, volume: int, new: NewVolume) -> tuple[tuple[str, ...], ...]:
    """Return the command lines (without the program) that delete the virtual drive, create it, and set the rest.

    Raises InvalidValueError for a layout that the tool cannot express, before anything is deleted.
    """
    add = _add(card, new)
    after: list[tuple[str, ...]] = []
    if new.drive_cache not in (None, "default"):
        after += volume_commands(card, volume, "drive_cache", new.drive_cache or "")
    if new.name:
        after.append(commands.on_volume(card, volume, ("-LDSetProp", "-Name", _name(new.name))))
    return (commands.delete(card, volume), add, *after)


def _add(card: int, new: NewVolume) -> tuple[str, ...]:
    options = _policy_options(new)
    drives = tuple(_place(slot) for slot in new.drives)
    if len(set(drives)) != len(drives):
        raise InvalidValueError("A drive is given twice.")
    if new.level in _PLAIN:
        level = _PLAIN[new.level]
        if new.drives_per_span not in (None, len(drives)):
            raise InvalidValueError(f"MegaCli does not support {new.level} with several spans.")
        if len(drives) < _FEWEST[level] or (level == 1 and len(drives) % 2):
            raise InvalidValueError(f"{len(drives)} drives cannot form {new.level}.")
        return commands.add(card, level, drives, options)
    if new.level not in _SPANNED:
        raise InvalidValueError(f"raidbench cannot create {clean(new.level)} with MegaCli.")
    level, drives_each = _SPANNED[new.level], new.drives_per_span or 0
    if drives_each < _FEWEST[level] or len(drives) % drives_each or not 2 <= len(drives) // drives_each <= _MOST_SPANS:
        raise InvalidValueError(f"{len(drives)} drives, {drives_each} in each span, cannot form {new.level}.")
    if level == 10 and drives_each % 2:
        raise InvalidValueError(f"{drives_each} drives in each span cannot form {new.level}.")
    spans = [drives[start : start + drives_each] for start in range(0, len(drives), drives_each)]
    return commands.add_spanned(card, level, spans, options)


def _policy_options(new: NewVolume) -> tuple[str, ...]:
    strip = new.strip_bytes // 1024
    if new.strip_bytes % 1024 or strip not in _STRIPS:
        raise InvalidValueError(
            f"MegaCli does not support a strip of {new.strip_bytes} bytes.", hint=f"KiB: {_STRIPS}."
        )
    write = _meaning(VOLUME_WORDS["write_cache"], "write_cache", new.write_cache)
    read = _meaning(VOLUME_WORDS["read_ahead"], "read_ahead", new.read_ahead)
    io = _meaning(VOLUME_WORDS["io_policy"], "io_policy", new.io_policy)
    battery = tuple(word for word in write if word.endswith("BadBBU"))
    return (*(word for word in write if word not in battery), *read, *io, *battery, f"-strpsz{strip}")


def _place(slot_address: str) -> str:
    enclosure, colon, slot = slot_address.partition(":")
    if not colon or not _digits(slot) or (enclosure and not _digits(enclosure)):
        raise InvalidValueError(f"{clean(slot_address)} is not an enclosure and slot.")
    return slot_address


def _name(name: str) -> str:
    if len(name) > _LONGEST_NAME or not name.isascii() or not name.isprintable() or name.startswith("-"):
        raise InvalidValueError(
            f"MegaCli does not accept the name {clean(name)!r}.",
            hint=f"Use at most {_LONGEST_NAME} ASCII characters, not beginning with a dash.",
        )
    return name


def _meaning(table: Mapping[str, T], key: str, value: str) -> T:
    if value not in table:
        raise InvalidValueError(
            f"MegaCli cannot set {clean(key)} to {clean(value)!r}.", hint=f"It has: {', '.join(table)}."
        )
    return table[value]


def _number(key: str, value: str, smallest: int, largest: int) -> int:
    if not _digits(value) or not smallest <= int(value) <= largest:
        raise InvalidValueError(f"{key} must be a whole number from {smallest} to {largest}, not {clean(value)!r}.")
    return int(value)


def _digits(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 9
