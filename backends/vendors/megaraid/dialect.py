"""Interface of a MegaRAID command line tool; the backend does not need to know which tool it is."""

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
    """One controller with its virtual drives and drives, parsed from the output of its tool."""

    card: Card
    """The controller itself."""
    volumes: tuple[VirtualDrive, ...] = ()
    """Virtual drives."""
    drives: tuple[PhysicalDrive, ...] = ()
    """Physical drives, including hot spares and foreign drives."""
    problems: tuple[str, ...] = ()
    """Messages about parts that could not be read."""
    cut: str = ""
    """Message that names a command whose output was truncated; some parts may then be missing. "" if all output is
    complete."""

    def volume(self, number: int | None) -> VirtualDrive | None:
        """Return the virtual drive with this number, or None."""
        return next((volume for volume in self.volumes if volume.number == number), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Result of a command that changes something."""

    ok: bool
    """Whether the tool reports success for every object; the exit status is ignored."""
    message: str = ""
    """The tool's own message without control characters; on failure, the reason as a complete sentence."""
    pending: str = ""
    """`reboot` or `controller reset` if the change takes effect only after that, else ""."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewVolume:
    """Definition of a virtual drive to create, which uses all space of its drives."""

    level: str
    """RAID level: `raid0`, `raid1`, `raid5`, `raid6`, `raid10`, `raid50`, `raid60`."""
    drives: tuple[str, ...]
    """Members as `enclosure:slot`, in span order."""
    drives_per_span: int | None
    """Drives in each span; None for levels without spans."""
    strip_bytes: int
    """Strip size in bytes."""
    write_cache: str
    """Write policy, as a value of the setting `write_cache`."""
    read_ahead: str
    """Read policy, as a value of the setting `read_ahead`."""
    io_policy: str
    """I/O policy, as a value of the setting `io_policy`; "" for the controller's default."""
    drive_cache: str | None
    """State of the drives' caches, as a value of the setting `drive_cache`; None for the controller's default."""
    name: str | None
    """Name of the virtual drive; None if it gets no name."""


class Dialect(Protocol):
    """One tool (storcli 7, storcli 8, MegaCli) at one path on one host."""

    tool: str
    """Path of the program."""
    names_on_create: bool
    """Whether the command that creates a virtual drive also names it. If not, the virtual drive briefly has no name."""

    @property
    def version(self) -> str | None:
        """Return the version that the tool reports."""
        ...

    async def cards(self) -> tuple[int, ...]:
        """Return the numbers of the controllers.

        Raises ToolFailedError if the output is unusable, ToolTimeoutError if the tool does not finish in time.
        """
        ...

    async def read(self, card: int) -> CardSnapshot:
        """Read everything about a controller, with a problem for each unreadable part. Raises as `cards` does."""
        ...

    async def reread(self, before: CardSnapshot, volume: int | None, key: str | None = None) -> CardSnapshot:
        """Return `before` with new data for the settings of the virtual drive `volume` (None: of the controller).

        `key`: read at least what this setting depends on (None: all settings). A virtual drive that no longer exists
        is left out. Raises as `cards` does.
        """
        ...

    async def locate(self, card: int) -> str | None:
        """Return the controller's PCI address in the tool's format, or None if not reported. Raises as `cards` does."""
        ...

    def set_volume(self, card: int, volume: int, key: str, value: str) -> tuple[Command, ...]:
        """Return the commands that set a setting of a virtual drive.

        `key`: `write_cache`, `read_ahead`, `io_policy`, `drive_cache`, `access_policy`, `auto_bgi`,
        `cache_bypass_mode`. Raises InvalidValueError if the tool cannot set the value.
        """
        ...

    def set_card(self, card: int, key: str, value: str) -> tuple[Command, ...]:
        """Return the commands that set a controller's setting.

        `key`: a key of `Card.values`. Raises InvalidValueError for an unknown value.
        """
        ...

    def recreate(self, card: int, volume: int, new: NewVolume) -> tuple[Command, ...]:
        """Return the commands that delete a virtual drive and re-create it.

        DESTROYS DATA: run them only after the guard has allowed it. Raises InvalidValueError for a layout that the tool
        cannot express exactly.
        """
        ...

    def delete(self, card: int, volume: int) -> tuple[Command, ...]:
        """Return the commands that delete a virtual drive.

        DESTROYS DATA: run them only after the guard has allowed it.
        """
        ...

    def begin_making(self, card: int, lines: Sequence[tuple[str, ...]]) -> None:
        """Announce the command lines that will create or delete a virtual drive; call again with () when they have run.

        Later commands address the new virtual drive by its expected number, so `judge` reports a failure if it has a
        different one. Raises RefusedError for a command that neither creates nor deletes a virtual drive.
        """
        ...

    def apply_key(self, card: int, key: str, *, preview: bool) -> tuple[Command, ...]:
        """Return the commands that apply an activation key, which `Command.secret` keeps from display and logs."""
        ...

    def judge(self, command: Command, done: Completed) -> Answer:
        """Return whether the command made its change, according to the tool's report on each object.

        The exit status is ignored.
        """
        ...

    def retry_command(self, command: Command, done: Completed) -> Command | None:
        """Return the command to run instead if the tool did not understand this one and changed nothing; else None."""
        ...

    def flatten(self, commands: Sequence[Command]) -> tuple[tuple[str, ...], ...]:
        """Return the argument list of each command for display, with secrets masked."""
        ...


def with_refusals(command: str, parts: tuple[Part, ...], problems: list[str]) -> tuple[Part, ...]:
    """Return the drives or virtual drives that `command` listed. Each refused one also names the command as the source.

    Appends a message about each refused one to `problems`.
    """
    problems += [refused_text(command, part.refused) for part in parts if part.refused]
    return tuple(
        replace(part, refused=refused_words(command, part.refused)) if part.refused else part for part in parts
    )
