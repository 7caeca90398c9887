"""Addresses: `/slot0`, `/slot0/ld1`, `/slot0/2I:1:1` (ssacli); `/arc1`, `/arc1/ld0`, `/aac1/0:3`. No I/O.

`aac` is a controller of Adaptec's series 2 to 8, and `arc` is a SmartRAID that arcconf manages. Their settings differ.
"""

from __future__ import annotations

import re

from backends.model import Scope, Target
from backends.values import dataclass
from backends.vendors.smartarray.facts import Family

NAME = "smartarray"
"""Prefix of the targets of this backend."""

SLOT = r"[0-9]{1,6}[A-Za-z]{0,2}"
"""Slot in the format that ssacli prints and accepts: `0`, `0b`, `2085`."""

_ADDRESS = re.compile(
    r"(?P<card>/(?P<kind>slot|arc|aac)[0-9A-Za-z]{1,8})(?:/ld(?P<volume>\d{1,5})|/(?P<drive>[A-Za-z0-9]{1,6}(?::[A-Za-z0-9]{1,6}){1,3}))?",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class SmartArrayAddress:
    """Parsed address of a target."""

    card: str
    """Address of the controller: `/slot0`."""
    family: Family
    """Firmware family, on which the settings depend."""
    volume: int | None = None
    """Number of the logical drive; None for other targets."""
    drive: str | None = None
    """Place of the drive; None for other targets."""


def parse(target: Target) -> SmartArrayAddress | None:
    """Return the parsed address of a target, or None if it is not an address of this backend."""
    match = _ADDRESS.fullmatch(target.address)
    if target.backend != NAME or match is None:
        return None
    family = Family.SERIES if match["kind"] == "aac" else Family.SMART
    number = match["volume"]
    return SmartArrayAddress(
        match["card"], family, volume=int(number) if number is not None else None, drive=match["drive"]
    )


def card_target(card: str) -> Target:
    """Return the target of a controller."""
    return Target(backend=NAME, address=card, scope=Scope.CONTROLLER)


def volume_target(card: str, number: int) -> Target:
    """Return the target of a logical drive."""
    return Target(backend=NAME, address=f"{card}/ld{number}", scope=Scope.ARRAY)


def drive_target(card: str, bay: str) -> Target:
    """Return the target of the drive at the place `bay`."""
    return Target(backend=NAME, address=f"{card}/{bay}")
