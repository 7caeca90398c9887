"""Properties of a controller that storcli 7 reports separately: commands to read and set them, and parsers. No I/O.

The arguments are those of `storcli help` (7.2707, and 1.x where it has them). Values are read from rows `{"Ctrl_Prop":
"NCQ", "Value": "ON"}`. A setting under an unexpected name counts as not reported, and an unexpected value as unknown.
Neither can be changed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from backends.vendors._cards import UNKNOWN, ReportedValue, reported_only, reported_word
from backends.vendors.megaraid.storcli.cards import properties
from backends.vendors.megaraid.storcli.fields import Fields, number_value

SHOWN = ("ncq", "copyback", "cachebypass")
"""Properties that each need a command of their own: `/cN show ncq`. The others are in `show all`, `show patrolread` or
`show cc`."""

SWITCHES = {
    "ncq": "ncq",
    "cache_bypass": "cachebypass",
    "auto_rebuild": "autorebuild",
    "load_balance": "loadbalancemode",
}
"""Settings that are on or off, with the tool's names for them."""

_COPYBACK_TYPES = {"copyback": "ctrl", "copyback_smart_hdd": "smarthdd", "copyback_smart_ssd": "smartssd"}

NUMBERS: Mapping[str, tuple[str, ...]] = {
    "patrol_read_delay": ("patrolread", "delay={}"),
    "patrol_read_drives": ("patrolread", "maxconcurrentpd={}"),
    "consistency_check_delay": ("cc", "delay={}"),
    "smart_poll_interval": ("smartpollinterval={}",),
}
"""Numeric settings: the arguments after `set`."""

_SSDS = {"on": "on", "only-mixed": "onlymixed", "off": "off"}

WORDS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    **{key: {value: (f"{name}={value}",) for value in ("on", "off")} for key, name in SWITCHES.items()},
    **{
        key: {value: (f"copyback={value}", f"type={kind}") for value in ("on", "off")}
        for key, kind in _COPYBACK_TYPES.items()
    },
    "patrol_read_ssds": {value: ("patrolread", f"includessds={word}") for value, word in _SSDS.items()},
}
"""Settings with named values: the arguments after `set`, by value."""

BYPASS_MODES = {"intelligent": "0", "standard": "1", "custom-1": "2", "custom-2": "3", "custom-3": "4"}
BYPASS_SIZES = {"64k": "0", "128k": "1", "256k": "2"}
"""Numbers of `cbmode` and `cbsize` by cache bypass mode and size (12Gb/s StorCLI manual)."""

BYPASS_WORDS: Mapping[str, tuple[str, str]] = {
    **{
        f"{mode}-{size}": (f"cbsize={small}", f"cbmode={number}")
        for mode, number in BYPASS_MODES.items()
        for size, small in BYPASS_SIZES.items()
    },
    "off": ("cbsize=0", "cbmode=7"),
}
"""Arguments by value of `cache_bypass_mode`. The tool requires both numbers together, but ignores the size if the mode
is 7."""

_BYPASS_MODE = re.compile(
    r"cachebypass[ -]?(intelligent|standard|custom ?-?[123]|disabled?|off)", re.ASCII | re.IGNORECASE
)
_BYPASS_SIZE = re.compile(r"cachebypass[ -]?(64|128|256) ?k(?:i?b)?", re.ASCII | re.IGNORECASE)

_ON_OFF = {
    "on": "on",
    "off": "off",
    "yes": "on",
    "no": "off",
    "enabled": "on",
    "disabled": "off",
    "enable": "on",
    "disable": "off",
}
_PATROL_SSDS = _ON_OFF | {"onlymixed": "only-mixed", "only mixed": "only-mixed"}
_BALANCE = {"auto": "on", "none": "off"}
_SQUEEZED = re.compile(r"[^a-z0-9]", re.ASCII)


def _by_name(data: Mapping[str, object]) -> dict[str, str]:
    """Return the values by name. Builds spell names differently, so only lower-case letters and digits are kept."""
    return {_SQUEEZED.sub("", name): value for name, value in properties(data).items()}


def policy_settings(fields: Fields) -> dict[str, ReportedValue]:
    """Return the settings that `show all` has under Policies (version 8: Properties), by key."""
    lines = fields.fields("policies")
    rows = lines.rows("policies table") or fields.rows("policies table")
    poll = next((row for row in rows if (row.text("policy") or "").lower() == "predictive fail poll interval"), None)
    return reported_only(
        {
            "auto_rebuild": reported_word(
                lines.text("auto rebuild") or fields.fields("properties").text("auto rebuild"), _ON_OFF
            ),
            "load_balance": reported_word(lines.text("load balance mode"), _BALANCE),
            "smart_poll_interval": number_value(poll.text("current") if poll is not None else None),
        }
    )


def patrol_read_settings(data: Mapping[str, object]) -> dict[str, ReportedValue]:
    """Return the settings of `show patrolread` in addition to its mode, by key."""
    by_name = _by_name(data)
    return reported_only(
        {
            "patrol_read_delay": number_value(by_name.get("prexecutiondelay")),
            "patrol_read_ssds": reported_word(by_name.get("pronssd"), _PATROL_SSDS),
            "patrol_read_drives": number_value(by_name.get("prmaxconcurrentpd")),
        }
    )


def check_settings(data: Mapping[str, object]) -> dict[str, ReportedValue]:
    """Return the settings of `show cc` in addition to its mode, by key."""
    return reported_only({"consistency_check_delay": number_value(_by_name(data).get("ccexecutiondelay"))})


def property_settings(name: str, data: Mapping[str, object]) -> dict[str, ReportedValue]:
    """Return the settings from `/cN show NAME` for one of `SHOWN`, by key."""
    by_name = _by_name(data)
    if name == "copyback":
        keys: dict[str, tuple[str, ...]] = {
            "copyback": ("copyback", "copybackctrl"),
            "copyback_smart_hdd": ("copybacksmarthdd", "smarthdd"),
            "copyback_smart_ssd": ("copybacksmartssd", "smartssd"),
        }
    else:
        keys = {"ncq": ("ncq",)} if name == "ncq" else {"cache_bypass": ("cachebypass",)}
    fields = {key: next((by_name[name] for name in names if name in by_name), None) for key, names in keys.items()}
    return reported_only({key: reported_word(text, _ON_OFF) for key, text in fields.items()})


def cache_bypass(fields: Fields) -> ReportedValue | None:
    """Return the cache bypass mode from a virtual drive's properties: `Cachebypass Intelligent`, `Cachebypass-64k`."""
    mode, size = fields.text("cachebypass mode"), fields.text("cachebypass size")
    if mode is None:
        return None
    raw = ", ".join(filter(None, (mode, size)))
    kind, small = _BYPASS_MODE.fullmatch(mode), _BYPASS_SIZE.fullmatch(size or "")
    if kind is None:
        return ReportedValue(value=UNKNOWN, raw=raw)
    name = kind[1].lower()
    if name.startswith(("disable", "off")):
        return ReportedValue(value="off", raw=raw)
    name = f"custom-{name[-1]}" if name.startswith("custom") else name
    return ReportedValue(value=UNKNOWN if small is None else f"{name}-{small[1]}k", raw=raw)
