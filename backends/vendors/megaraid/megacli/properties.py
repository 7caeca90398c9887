"""Properties of a controller that MegaCli reports and sets one by one. Pure; never raises on any text.

The words are those of `MegaCli -h` (8.07.14): -AdpSetProp, -AdpAutoRbld, -AdpPR, -AdpCcSched. What is not reported in
the form that is read here stays locked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from backends.vendors.megaraid.facts import UNKNOWN, Word
from backends.vendors.megaraid.megacli.text import given, lines, whole, word

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
}
"""Settings that are words, by value, as the words before `-aN`."""

NUMBERS: Mapping[str, tuple[str, str]] = {
    "patrol_read_delay": ("-AdpPR", "-SetDelay {}"),
    "consistency_check_delay": ("-AdpCcSched", "-SetDelay {}"),
    "smart_poll_interval": ("-AdpSetProp", "PredFailPollInterval -{}"),
}
"""Settings that are numbers, as the words before `-aN`."""

LARGEST = 65535
"""The largest number that is ever sent."""

_SETTINGS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "auto rebuild": ("auto_rebuild", _ON_OFF),
    "load balance mode": ("load_balance", _BALANCE),
    "disable copyback": ("copyback", _OFF_ON),
    "enable copyback on smart": ("copyback_smart_hdd", _ON_OFF),
    "enable copyback to ssd on smart error": ("copyback_smart_ssd", _ON_OFF),
}
"""Labels of the section Settings of -AdpAllInfo: our key, meanings."""

_NCQ = re.compile(r"NCQ Status is ?:? ?(?:NCQ )?(Enabled|Disabled)\.?$", re.ASCII | re.IGNORECASE)


def of_settings(section: Mapping[str, str]) -> dict[str, Word]:
    """Return the properties of the section Settings of -AdpAllInfo, by our keys."""
    found = {key: word(section.get(label, ""), meanings) for label, (key, meanings) in _SETTINGS.items()}
    found["smart_poll_interval"] = _number(section.get("predictive fail poll interval", ""), "s", "sec", "seconds")
    return {key: said for key, said in found.items() if said is not None}


def of_patrol_read(text: str) -> dict[str, Word]:
    """Return the properties of -AdpPR -Info besides the mode, by our keys."""
    own = _pairs(text)
    found = {
        "patrol_read_delay": _number(own.get("patrol read execution delay", ""), "hours", "hour"),
        "patrol_read_ssds": word(own.get("patrol read on ssd devices", ""), _ON_OFF),
    }
    return {key: said for key, said in found.items() if said is not None}


def of_check(text: str) -> dict[str, Word]:
    """Return the properties of -AdpCcSched -Info besides the mode, by our keys."""
    delay = _number(_pairs(text).get("execution delay", ""), "hours", "hour")
    return {} if delay is None else {"consistency_check_delay": delay}


def of_ncq(text: str) -> dict[str, Word]:
    """Return what -AdpGetProp NCQDsply says: `Adapter 0: NCQ Status is Enabled`."""
    for line in lines(text):
        said = _NCQ.search(line.value)
        if said is not None:
            return {"ncq": Word(value=_ON_OFF[said[1].lower()], raw=said[1])}
    return {}


def _pairs(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in lines(text):
        if line.key and line.value:
            found.setdefault(line.key, line.value)
    return found


def _number(text: str, *units: str) -> Word | None:
    if given(text) is None:
        return None
    number = whole(text, *units)
    return Word(value=UNKNOWN if number is None else str(number), raw=text)
