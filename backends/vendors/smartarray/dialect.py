"""What a tool must be able to say and do, so that the backend need not know which it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Protocol

from backends.host import Completed
from backends.model import Level
from backends.values import dataclass
from backends.vendors.smartarray.facts import BayDrive, CardText, Family, LogicalDrive, RaidCard


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenCards:
    """Which cards a tool sees."""

    numbers: tuple[str, ...]
    """As it wants them named."""
    cut: str = ""
    """What says that there may be more of them, without a full stop; "" where these are all."""


Lines = tuple[tuple[str, ...], ...]
"""Command lines, in their order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLogical:
    """A logical drive that is to be made."""

    level: Level
    """Its level."""
    places: tuple[str, ...]
    """What it is made of, in order."""
    strip_bytes: int
    """Bytes on one drive before the next one follows."""
    parity_groups: int | None = None
    """Groups with a parity of their own, of RAID 50 and 60."""
    policies: Mapping[str, str] = field(default_factory=dict)
    """What is said of its caches, by the keys of its settings: of what `ArrayTool.creation_choices` has."""
    name: str
    """Its label."""


class ArrayTool(Protocol):
    """ssacli or arcconf at one path of one host. One command at a time: the tools lock each other out."""

    @property
    def tool(self) -> str:
        """Path of the program."""
        ...

    @property
    def lock_name(self) -> str:
        """What serialises changes between programs: the tool serves one caller at a time, whichever card it is for."""
        ...

    async def cards(self) -> SeenCards:
        """The cards it sees. Raises ToolFailedError, ToolTimeoutError."""
        ...

    async def read(self, number: str) -> CardText:
        """Everything about a card. Raises as `cards`."""
        ...

    def address(self, number: str, family: Family) -> str:
        """The card's address."""
        ...

    async def legal(self, text: CardText, volume: LogicalDrive | None) -> Mapping[str, tuple[str, ...]]:
        """Legal values, by the keys of settings, of which the card itself tells; asked for once."""
        ...

    async def ask_all(self, text: CardText, volume: LogicalDrive | None) -> int:
        """Ask for the legal values of every setting, for a recording; how many were asked for."""
        ...

    def set_card(self, text: CardText, key: str, value: str) -> Lines:
        """What sets a card's setting. Raises InvalidValueError for what the tool has no words for."""
        ...

    def set_volume(self, text: CardText, volume: LogicalDrive, key: str, value: str) -> Lines:
        """What sets a logical drive's setting. Raises InvalidValueError."""
        ...

    def set_drive(self, text: CardText, bay: str, key: str, value: str) -> Lines:
        """What sets a physical drive's setting. Raises InvalidValueError."""
        ...

    def is_free(self, drive: BayDrive) -> bool:
        """Whether the tool's own words say that nothing uses a drive, and that it is well."""
        ...

    async def making(self) -> str:
        """What it says of its words for making a logical drive; "" where these are known. Raises as `cards`."""
        ...

    def creation_choices(self, text: CardText, usage: str) -> Mapping[str, tuple[str, ...]]:
        """What can be said of a logical drive when it is made: values by the keys of its settings.

        `usage`: what `making` said.
        """
        ...

    def create(self, text: CardText, new: NewLogical, usage: str) -> Lines:
        """What makes a logical drive over all of these drives. Raises InvalidValueError for what it has no words for.

        `usage`: what `making` said.
        """
        ...

    def delete(self, text: CardText, number: int) -> Lines:
        """What deletes a logical drive, without a question."""
        ...

    def makes(self, number: str, argv: tuple[str, ...]) -> bool:
        """Whether a line makes a logical drive on a card, or deletes a single one, and does nothing else."""
        ...

    async def change(self, argv: tuple[str, ...]) -> Completed:
        """Run a line that changes something; it is never killed."""
        ...

    def refusal(self, done: Completed) -> str | None:
        """The tool's own words where it says no to a command that changes something; None where it does not."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PartView:
    """A card, or a part of it, as read just now."""

    text: CardText
    """All of the card."""
    tool: ArrayTool
    """The tool that speaks to it."""
    why_not: str | None = None
    """What stands against any change: no root, read-only mode."""
    legal: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Legal values that the card itself tells, by the keys of settings."""
    volume: LogicalDrive | None = None
    """The logical drive looked at."""
    drive: BayDrive | None = None
    """The physical drive looked at."""

    @property
    def card(self) -> RaidCard:
        """The card itself."""
        return self.text.card
