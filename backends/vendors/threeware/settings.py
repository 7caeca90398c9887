"""What can be set on a unit of a 3ware card: the values that its row tells, and the words that set them."""

from __future__ import annotations

import re

from backends.settings import Risk, unconfirmed

_GUIDE = " (3ware 9650SE/9690SA/9750 CLI Guide)."


WRITE_CACHE = unconfirmed(
    key="write_cache",
    label="Write cache",
    help="write-back: a write is reported done when it is in the card's memory. With a battery that is fitted and "
    "not ready "
    "the card turns it off and does not let it be turned on." + _GUIDE,
    risk=Risk.POWER_LOSS,
    risk_text="A power cut loses writes that were reported done, where no battery keeps the card's memory alive.",
)
READ_CACHE = unconfirmed(
    key="read_cache",
    label="Read cache",
    help="off, basic, or intelligent, which reads on where reads are sequential." + _GUIDE,
    risk=Risk.PERFORMANCE,
    risk_text="Reading on serves sequential load and may cost random load.",
)
AUTO_VERIFY = unconfirmed(
    key="auto_verify",
    label="Auto-verify",
    help="Whether the card verifies the unit by itself, by its schedule." + _GUIDE,
    risk=Risk.PERFORMANCE,
    risk_text="A verification slows down what runs beside it; without one, errors of the medium are found late.",
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
