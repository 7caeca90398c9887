"""Properties of a simulated MegaRAID controller that its tools set one by one, and what they may be."""

from __future__ import annotations

from collections.abc import Mapping

DEFAULTS: Mapping[str, str] = {
    "ncq": "on",
    "cache_bypass": "on",
    "auto_rebuild": "on",
    "copyback": "on",
    "copyback_smart_hdd": "off",
    "copyback_smart_ssd": "off",
    "load_balance": "on",
    "patrol_ssds": "off",
    "patrol_delay": "168",
    "patrol_drives": "255",
    "check_delay": "168",
    "smart_poll": "300",
}
"""Values of a new controller."""

_MOST = {"patrol_delay": 65535, "patrol_drives": 255, "check_delay": 65535, "smart_poll": 65535}
_WORDS = {"patrol_ssds": ("on", "only-mixed", "off")}


def allows(key: str, value: str) -> bool:
    """Return whether the firmware takes this value of a property."""
    if key in _MOST:
        return value.isascii() and value.isdigit() and len(value) < 6 and int(value) <= _MOST[key]
    return key in DEFAULTS and value in _WORDS.get(key, ("on", "off"))
