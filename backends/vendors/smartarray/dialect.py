"""Interface of ssacli and arcconf; the backend does not need to know which tool it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Protocol

from backends.host import Completed
from backends.model import Level
from backends.values import dataclass
from backends.vendors.smartarray.facts import BayDrive, CardText, Family, LogicalDrive, RaidCard


@dataclass(frozen=True, slots=True, kw_only=True)
class CardList:
    """Controllers that a tool sees."""

    numbers: tuple[str, ...]
    """Numbers of the controllers, as the tool's commands expect them."""
    cut: str = ""
    """Clause, without a full stop, that says why controllers may be missing; "" if the list is complete."""


Lines = tuple[tuple[str, ...], ...]
"""Command lines, in the order in which they run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLogical:
    """Definition of a logical drive to create."""

    level: Level
    """RAID level."""
    places: tuple[str, ...]
    """Places of the members, in order."""
    strip_bytes: int
    """Strip size in bytes."""
    parity_groups: int | None = None
    """Number of parity groups of RAID 50 and 60."""
    policies: Mapping[str, str] = field(default_factory=dict)
    """Cache policies by setting key, chosen from `ArrayTool.creation_choices`."""
    name: str
    """Label of the logical drive."""


class ArrayTool(Protocol):
    """ssacli or arcconf at one path of one host. It runs one command at a time, because a second instance fails."""

    tool: str
    """Path of the program."""
    lock_name: str
    """Name of the lock between processes. It covers all controllers, because a tool serves only one caller at a
    time."""

    async def cards(self) -> CardList:
        """Return the controllers that the tool sees.

        Raises ToolFailedError if the output is unusable, ToolTimeoutError if the tool does not finish in time.
        """
        ...

    async def read(self, number: str) -> CardText:
        """Read everything about a controller. Raises as `cards` does."""
        ...

    def address(self, number: str, family: Family) -> str:
        """Return the address of a controller."""
        ...

    async def legal_values(self, text: CardText, volume: LogicalDrive | None) -> Mapping[str, tuple[str, ...]]:
        """Return the legal values that are reported for a logical drive (None: the controller), by setting key.

        They are read only once.
        """
        ...

    async def query_all_values(self, text: CardText, volume: LogicalDrive | None) -> int:
        """Query the legal values of every setting, so that a recording contains them. Return the number of queries."""
        ...

    def set_card(self, text: CardText, key: str, value: str) -> Lines:
        """Return the commands for a controller's setting. Raises InvalidValueError for an unknown value."""
        ...

    def set_volume(self, text: CardText, volume: LogicalDrive, key: str, value: str) -> Lines:
        """Return the commands for a logical drive's setting. Raises InvalidValueError for an unknown value."""
        ...

    def set_drive(self, text: CardText, bay: str, key: str, value: str) -> Lines:
        """Return the commands for a drive's setting. Raises InvalidValueError for an unknown value."""
        ...

    def is_free(self, drive: BayDrive) -> bool:
        """Return whether the tool reports that a drive is unused and healthy."""
        ...

    async def creation_usage(self) -> str:
        """Return the usage text of the creation command; "" if raidbench needs none. Raises as `cards` does."""
        ...

    def creation_choices(self, text: CardText, usage: str) -> Mapping[str, tuple[str, ...]]:
        """Return the legal policies at creation by setting key. `usage`: result of `creation_usage`."""
        ...

    def create(self, text: CardText, new: NewLogical, usage: str) -> Lines:
        """Return the commands that create a logical drive over whole drives. `usage`: result of `creation_usage`.

        Raises InvalidValueError if the tool does not support the layout.
        """
        ...

    def delete(self, text: CardText, number: int) -> Lines:
        """Return the commands that delete a logical drive without a confirmation prompt."""
        ...

    def is_creation_or_deletion(self, number: str, argv: tuple[str, ...]) -> bool:
        """Return whether a command only creates or deletes a single logical drive on this controller."""
        ...

    async def change(self, argv: tuple[str, ...]) -> Completed:
        """Run a command that changes something; it is never killed."""
        ...

    def refusal_reason(self, done: Completed) -> str | None:
        """Return the tool's reason for refusing a change, or None if it did not refuse."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PartView:
    """A controller, or one logical drive or drive of it, as just read."""

    text: CardText
    """State of the whole controller."""
    tool: ArrayTool
    """The tool that manages it."""
    why_not: str | None = None
    """Reason that blocks every change (no root privileges, or read-only mode), or None."""
    legal: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Legal values that the controller reports, by setting key."""
    volume: LogicalDrive | None = None
    """The logical drive that is viewed; None for a controller or a drive."""
    drive: BayDrive | None = None
    """The drive that is viewed; None for a controller or a logical drive."""

    @property
    def card(self) -> RaidCard:
        """Return the controller itself."""
        return self.text.card
