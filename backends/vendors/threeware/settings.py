"""What can be set on a unit of a 3ware card: the values that its row tells, and the words that set them."""

from __future__ import annotations

import re

from backends.settings import Persistence, Risk, Setting

_GUIDE = " (3ware 9650SE/9690SA/9750 CLI Guide)."


def _setting(key: str, label: str, help: str, risk: Risk, risk_text: str) -> Setting:
    return Setting(
        key=key,
        label=label,
        help=help + _GUIDE,
        risk=risk,
        risk_text=risk_text,
        persistence=Persistence.STORED,
        confirmed=False,
    )


WRITE_CACHE = _setting(
    "write_cache",
    "Write cache",
    "write-back: a write is reported done when it is in the card's memory. With a battery that is fitted and not ready "
    "the card turns it off and does not let it be turned on.",
    Risk.POWER_LOSS,
    "A power cut loses writes that were reported done, where no battery keeps the card's memory alive.",
)
READ_CACHE = _setting(
    "read_cache",
    "Read cache",
    "off, basic, or intelligent, which reads on where reads are sequential.",
    Risk.PERFORMANCE,
    "Reading on serves sequential load and may cost random load.",
)
AUTO_VERIFY = _setting(
    "auto_verify",
    "Auto-verify",
    "Whether the card verifies the unit by itself, by its schedule.",
    Risk.PERFORMANCE,
    "A verification slows down what runs beside it; without one, errors of the medium are found late.",
)

UNIT_SETTINGS = (WRITE_CACHE, READ_CACHE, AUTO_VERIFY)
"""Settings of a unit, in the order they are shown."""

WORDS = {"write_cache": "cache", "read_cache": "rdcache", "auto_verify": "autoverify"}
"""By setting: its word behind `set`."""

SAID = {"write-back": "on", "write-through": "off"}
"""Values that tw_cli calls otherwise."""

_CACHE = re.compile(r"(?:R([ib]))?(W)?", re.ASCII)


def values(cache: str, verify: str) -> dict[str, str | None]:
    """Values by setting, from the columns Cache and AVrfy; None where they do not tell.

    `RiW` is intelligent reading and writing, `Rb` basic reading alone, `W` writing alone; `ON` is
    of cards that tell of writing only, `OFF` neither.
    """
    known = "write-back" if cache == "ON" else None
    found = _CACHE.fullmatch("" if cache == "OFF" else cache) if cache else None
    read = None if found is None else {"i": "intelligent", "b": "basic", None: "off"}[found[1]]
    write = None if found is None else "write-back" if found[2] else "write-through"
    return {
        "write_cache": known or write,
        "read_cache": read,
        "auto_verify": {"ON": "on", "OFF": "off"}.get(verify),
    }
