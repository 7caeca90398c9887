"""Addresses of MegaRAID targets: `/c0`, `/c0/v1`, `/c0/e245/s1`, `/c0/s3`. No I/O."""

from __future__ import annotations

import re

from backends.model import Scope, Target
from backends.values import dataclass

NAME = "megaraid"
"""Prefix of the targets of this backend."""

_ADDRESS = re.compile(
    r"(?P<card>(?:/[A-Za-z][A-Za-z0-9_.-]{0,31})?/c\d{1,4})"
    r"(?:/v(?P<volume>\d{1,5})|(?:/e(?P<enclosure>\d{1,6}))?/s(?P<slot>\d{1,6}|\?))?",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class MegaRaidAddress:
    """Parsed address of a target."""

    card: str
    """Address of the controller: `/c0`, or `/storcli2/c0` if two tools use the same number for different
    controllers."""
    volume: int | None = None
    """Number of the virtual drive; None for other targets."""
    drive: str | None = None
    """Enclosure and slot of the drive: `245:1`, or `:3` without an enclosure; None for other targets."""


def parse(target: Target) -> MegaRaidAddress | None:
    """Return the parsed address of a target, or None if it is not an address of this backend."""
    match = _ADDRESS.fullmatch(target.address)
    if target.backend != NAME or match is None:
        return None
    if match["volume"] is not None:
        return MegaRaidAddress(match["card"], volume=int(match["volume"]))
    if match["slot"] is not None:
        return MegaRaidAddress(match["card"], drive=f"{match['enclosure'] or ''}:{match['slot']}")
    return MegaRaidAddress(match["card"])


def card_target(card: str) -> Target:
    """Return the target of a controller."""
    return Target(backend=NAME, address=card, scope=Scope.CONTROLLER)


def volume_target(card: str, number: int) -> Target:
    """Return the target of a virtual drive."""
    return Target(backend=NAME, address=f"{card}/v{number}", scope=Scope.ARRAY)


def drive_target(card: str, slot_address: str) -> Target:
    """Return the target of a drive at `245:1` or, without an enclosure, `:3`."""
    enclosure, _, slot = slot_address.partition(":")
    return Target(backend=NAME, address=f"{card}/e{enclosure}/s{slot}" if enclosure else f"{card}/s{slot}")
