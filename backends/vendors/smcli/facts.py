"""What SMcli tells of a disk system. Values only; what it does not say is missing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field

from backends.sizes import read_size
from backends.values import dataclass
from backends.vendors.smcli.words import Nouns

_WWN = re.compile(r"[0-9a-z]{2}(?::[0-9a-z]{2}){7,15}|[0-9a-z]{16}(?:[0-9a-z]{16})?", re.ASCII)
"""Any letters: what stands for one in a recording is not hexadecimal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemPart:
    """A controller, an array, a logical drive or a drive, with its rows."""

    name: str
    """Its name, or its place."""
    rows: Mapping[str, str] = field(default_factory=dict)
    """What it says, by labels in small letters; the first of a label counts."""
    members: tuple[str, ...] = ()
    """Places of the drives of an array."""

    def said(self, *labels: str) -> str | None:
        """The first row of one of these labels; its unit may follow in brackets."""
        rows = self.rows.items()
        return next(
            (text for label in labels for key, text in rows if key == label or key.startswith(f"{label} (")), None
        )

    def size(self, *labels: str) -> int | None:
        """Bytes in such a row."""
        return read_size(self.said(*labels))

    def wwn(self, *labels: str) -> str | None:
        """World wide name in such a row, in small letters without colons."""
        found = _WWN.match((self.said(*labels) or "").lower())
        return None if found is None else found[0].replace(":", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemProfile:
    """A whole disk system."""

    name: str
    """Its name."""
    nouns: Nouns
    """What its dialect calls things."""
    summary: SystemPart
    """What holds for all of it."""
    controllers: tuple[SystemPart, ...] = ()
    """Its controllers, by place."""
    arrays: tuple[SystemPart, ...] = ()
    """Arrays, each with the drives it is made of."""
    volumes: tuple[SystemPart, ...] = ()
    """Logical drives."""
    drives: tuple[SystemPart, ...] = ()
    """Drives, by place."""
    batteries: tuple[str, ...] = ()
    """State of each battery in its own words."""
    serials: tuple[str, ...] = ()
    """Serial numbers of enclosures and what is in them."""
    cut: str = ""
    """Why it is only the beginning, as a sentence; "" where it is all. No section of it is half of one."""

    misnamed: str = ""
    """Why nothing of it is believed, as a clause; "" where it is about one disk system."""
    twice: str = ""
    """Why nothing is believed of something in it, as a clause; "" where nothing is there twice."""

    @property
    def wwn(self) -> str | None:
        """World wide name of the disk system."""
        return self.summary.wwn(*_SYSTEM_ID)

    @property
    def protected(self) -> bool | None:
        """Whether cached writes outlive a power cut; None if no battery is told of."""
        return all(battery.startswith("Optimal") for battery in self.batteries) if self.batteries else None

    @property
    def offline(self) -> SystemPart | None:
        """A controller that is not online."""
        told = (controller for controller in self.controllers if controller.said("status") is not None)
        return next((one for one in told if not (one.said("status") or "").startswith(("Online", "Optimal"))), None)

    def volume(self, name: str) -> SystemPart | None:
        """The logical drive of a name; None if none or several have it."""
        found = [volume for volume in self.volumes if volume.name == name]
        return found[0] if len(found) == 1 else None

    def array_of(self, volume: SystemPart) -> SystemPart | None:
        """The array that a logical drive lies on."""
        name = volume.said("associated array", "associated volume group", "associated disk group")
        return next((array for array in self.arrays if name is not None and array.name == name), None)


_SYSTEM_ID = tuple(
    f"storage {system} {name}"
    for system in ("subsystem", "array")
    for name in ("world-wide identifier", "worldwide identifier", "worldwide name", "world-wide name")
)
VOLUME_ID = ("logical drive id", "volume world-wide identifier", "volume id", "virtual disk world-wide identifier")
"""Labels of a logical drive's world wide name."""
