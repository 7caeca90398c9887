"""What a MegaRAID command line tool must be able to say and do, so that the backend need not know which it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from backends.host import Command, Completed
from backends.subject import refused_text, refused_words
from backends.values import dataclass
from backends.vendors.megaraid.facts import Card, Part, PhysicalDrive, VirtualDrive


@dataclass(frozen=True, slots=True, kw_only=True)
class CardSnapshot:
    """All of one card."""

    card: Card
    """The card itself."""
    volumes: tuple[VirtualDrive, ...] = ()
    """Virtual drives."""
    drives: tuple[PhysicalDrive, ...] = ()
    """Physical drives, spares and foreign ones included."""
    problems: tuple[str, ...] = ()
    """What could not be read, each a sentence."""
    cut: str = ""
    """Which answer about it was cut, as a sentence: what it does not tell is unknown. "" where all are whole."""

    def volume(self, number: int | None) -> VirtualDrive | None:
        """Return the virtual drive with this number; None if there is none."""
        return next((volume for volume in self.volumes if volume.number == number), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a tool answered to a command that changes something."""

    ok: bool
    """Every object's own row says success; the exit status decides nothing."""
    message: str = ""
    """The tool's own words, cleaned; a sentence when it failed."""
    pending: str = ""
    """`reboot` or `controller reset` when the tool says that it takes effect then; "" otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewVolume:
    """A virtual drive to be made over all of its drives."""

    level: str
    """`raid0`, `raid1`, `raid5`, `raid6`, `raid10`, `raid50`, `raid60`."""
    drives: tuple[str, ...]
    """Members as `enclosure:slot`, in span order."""
    drives_per_span: int | None
    """For spanned levels."""
    strip_bytes: int
    """Strip size."""
    write_cache: str
    """Common vocabulary."""
    read_ahead: str
    """Common vocabulary."""
    io_policy: str
    """Common vocabulary."""
    drive_cache: str | None
    """Common vocabulary, None to leave it."""
    name: str | None
    """Given name."""


class Dialect(Protocol):
    """One tool (storcli 7, storcli 8, MegaCli) at one path on one host."""

    @property
    def tool(self) -> str:
        """Path of the program."""
        ...

    @property
    def version(self) -> str | None:
        """Version, as the tool says."""
        ...

    async def cards(self) -> tuple[int, ...]:
        """Numbers of the cards it sees; empty if it sees none. Raises ToolFailedError, ToolTimeoutError."""
        ...

    async def read(self, card: int) -> CardSnapshot:
        """Everything about a card. What cannot be read becomes problems. Raises as `cards`."""
        ...

    async def reread(self, before: CardSnapshot, volume: int | None, key: str | None = None) -> CardSnapshot:
        """What the settings of one virtual drive (of the card itself when None) depend on, read again.

        `key`: at least what this setting of it depends on.

        The rest is as it was before; a virtual drive that is gone is left out. Raises as `cards`.
        """
        ...

    async def locate(self, card: int) -> str | None:
        """PCI address as the tool writes it, None if it does not say. Raises as `cards`."""
        ...

    def set_volume(self, card: int, volume: int, key: str, value: str) -> tuple[Command, ...]:
        """Commands that set a virtual drive's setting (`write_cache`, `read_ahead`, `io_policy`, `drive_cache`,
        `access_policy`, `auto_bgi`). Raises InvalidValueError for what the tool has no word for."""
        ...

    def set_card(self, card: int, key: str, value: str) -> tuple[Command, ...]:
        """Commands that set a card's setting (keys of `Card.values`). Raises InvalidValueError."""
        ...

    def recreate(self, card: int, volume: int, new: NewVolume) -> tuple[Command, ...]:
        """Commands that delete a virtual drive and make it anew. DESTROYS DATA: only after the guard's word.

        Raises InvalidValueError for a shape the tool cannot be told exactly.
        """
        ...

    def delete(self, card: int, volume: int) -> tuple[Command, ...]:
        """Commands that delete a virtual drive. DESTROYS DATA: only after the guard's word."""
        ...

    @property
    def names_on_create(self) -> bool:
        """Whether a virtual drive has its name from the command that makes it; else it is nameless for a moment."""
        ...

    def begin_making(self, card: int, lines: Sequence[tuple[str, ...]]) -> None:
        """These lines are about to be run on a card, to make a virtual drive or to delete one; () when they are over.

        What they make has to get the number that lines after it name: `judge` fails it otherwise. Raises RefusedError
        for a line that does anything else.
        """
        ...

    def apply_key(self, card: int, key: str, *, preview: bool) -> tuple[Command, ...]:
        """Commands that apply an activation key; the key is in `Command.secret`, never shown or logged."""
        ...

    def judge(self, command: Command, done: Completed) -> Answer:
        """The tool's verdict on a command that changes something: per object, whatever the exit status."""
        ...

    def again(self, command: Command, done: Completed) -> Command | None:
        """The line to give instead, when this one was not understood and therefore did nothing; else None."""
        ...

    def flatten(self, commands: Sequence[Command]) -> tuple[tuple[str, ...], ...]:
        """The argument lists, secrets masked, for the dialog."""
        ...


def with_refusals(command: str, parts: tuple[Part, ...], problems: list[str]) -> tuple[Part, ...]:
    """Return what a command listed, with the command in the reason of each refused part.

    Appends a sentence about each refused part to `problems`.
    """
    problems += [refused_text(command, part.refused) for part in parts if part.refused]
    return tuple(
        replace(part, refused=refused_words(command, part.refused)) if part.refused else part for part in parts
    )
