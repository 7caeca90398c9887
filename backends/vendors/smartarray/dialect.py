"""What a tool must be able to say and do, so that the backend need not know which it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from backends.host import Completed
from backends.vendors.smartarray.facts import CardText, Family, LogicalDrive

Lines = tuple[tuple[str, ...], ...]
"""Command lines, in their order."""


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

    async def numbers(self) -> tuple[str, ...]:
        """The cards it sees, as it wants them named. Raises ToolFailedError, ToolTimeoutError."""
        ...

    async def read(self, number: str) -> CardText:
        """Everything about a card. Raises as `numbers`."""
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

    def set_drive(self, text: CardText, place: str, key: str, value: str) -> Lines:
        """What sets a physical drive's setting. Raises InvalidValueError."""
        ...

    async def change(self, argv: tuple[str, ...]) -> Completed:
        """Run a line that changes something; it is never killed."""
        ...

    def refusal(self, done: Completed) -> str | None:
        """The tool's own words where it says no to a command that changes something; None where it does not."""
        ...
