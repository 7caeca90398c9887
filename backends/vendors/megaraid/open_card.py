"""Controllers of a host during the lifetime of a backend, each with its tool, its lock and its cached state."""

from __future__ import annotations

import asyncio
import contextlib
import re
from dataclasses import field, replace

from backends.change import Change
from backends.errors import InvalidValueError, NotFoundError
from backends.host import Host
from backends.model import Target
from backends.settings import Reading
from backends.subject import NEXT_STEP, REFUSED
from backends.text import clean
from backends.values import dataclass
from backends.vendors.megaraid.dialect import CardSnapshot, Dialect
from backends.vendors.megaraid.facts import VirtualDrive
from backends.vendors.megaraid.tools import Search, Slots, search

_KEY = re.compile(r"[A-Za-z0-9+/=_-]{8,256}", re.ASCII)
"""Characters and length of an activation key."""

_TOKEN = re.compile(r"key number (\d{1,4})", re.ASCII)


class CardCache:
    """Pending changes and activation keys of one backend. They are only in memory and never written to disk."""

    def __init__(self) -> None:
        self._pending: dict[tuple[str, str], tuple[str, str]] = {}
        self._applied: dict[str, str] = {}
        self._keys: list[str] = []

    def apply_pending(self, target: Target, key: str, reading: Reading) -> Reading:
        """Return the reading with any pending change, which is shown until the controller reports the new value."""
        if key == "activation_key" and target.address in self._applied:
            reading = replace(reading, now=self._applied[target.address])
        waiting = self._pending.get((target.address, key))
        if waiting is None:
            return reading
        value, until = waiting
        if reading.now == value:
            del self._pending[target.address, key]
            return reading
        return replace(
            reading,
            now=f"pending {until}",
            effective=reading.effective or reading.now or "as before",
            why_effective=f"{value} was accepted and takes effect after a {until}",
        )

    def note_accepted(self, change: Change, pending: str) -> None:
        """Record that the tool accepted a change. `pending`: `reboot` or `controller reset` if it needs one, or ""."""
        changed = (change.target.address, change.key)
        if pending:
            self._pending[changed] = (change.after, pending)
            return
        self._pending.pop(changed, None)
        if change.key == "activation_key":
            self._applied[change.target.address] = change.after

    def token(self, value: str) -> str:
        """Return the token that replaces an activation key in output, logs and journals; a token is returned unchanged.

        Raises InvalidValueError for a value that cannot be a key.
        """
        if self.key(value) is not None:
            return value
        if not _KEY.fullmatch(value):
            raise InvalidValueError(
                "The activation key is invalid.",
                hint="Give the key of the vendor: letters, digits and dashes without spaces.",
            )
        if value not in self._keys:
            self._keys.append(value)
        return f"key number {self._keys.index(value) + 1}"

    def key(self, token: str) -> str | None:
        """Return the activation key of a token; None if another process issued the token."""
        match = _TOKEN.fullmatch(token)
        number = int(match[1]) if match is not None else 0
        return self._keys[number - 1] if 0 < number <= len(self._keys) else None


@dataclass(slots=True)
class OpenCard:
    """One controller. Only one command at a time runs on it, reads included."""

    prefix: str
    """Address of the controller."""
    number: int
    """Number of the controller in its tool."""
    dialect: Dialect
    """The tool that manages it."""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Serialises the commands for this controller."""
    contents: CardSnapshot | None = None
    """State of the controller at the last read; None before the first one."""
    changed: bool = False
    """Whether a setting was changed since `contents` was read."""

    @property
    def lock_name(self) -> str:
        """Return the name of the lock between processes: `megaraid-c0`."""
        return "megaraid" + self.prefix.replace("/", "-")

    async def read(self) -> CardSnapshot:
        """Read the whole controller again. Raises as `Dialect.read` does, and ToolMissingError if the tool is gone."""
        async with self.lock:
            self.contents = None
            return self._keep(await self.dialect.read(self.number))

    async def refresh(self, volume: int | None, key: str | None = None) -> CardSnapshot:
        """Return the state with new data for the settings of the virtual drive `volume` (None: of the controller).

        Reads everything if nothing is cached. `key`: read only what this setting depends on. Raises as `read` does;
        after an error, the cached state is kept.
        """
        async with self.lock:
            if self.contents is not None:
                return self._keep(await self.dialect.reread(self.contents, volume, key))
            return self._keep(await self.dialect.read(self.number))

    def _keep(self, contents: CardSnapshot) -> CardSnapshot:
        self.contents, self.changed = contents, False
        return contents


class OpenCards:
    """All controllers of a host. They are searched for at the first use and at every scan."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._units: dict[str, OpenCard] = {}
        self._searching = asyncio.Lock()
        self._slots: Slots = {}
        self._has_scanned = False
        self.search = Search()
        """Result of the last search for tools."""

    @property
    def cards(self) -> tuple[OpenCard, ...]:
        """Return the controllers of the last scan."""
        return tuple(self._units.values())

    async def search_cards(self) -> tuple[OpenCard, ...]:
        """Wait for running commands, then search for tools and controllers.

        Controllers that are found again keep their cached state.
        """
        async with self._searching, contextlib.AsyncExitStack() as all_cards:
            for unit in self._units.values():
                await all_cards.enter_async_context(unit.lock)
            result = await search(self._host, self._slots)
            units: dict[str, OpenCard] = {}
            for probe in result.kept:
                assert probe.dialect is not None
                for number in probe.cards:
                    prefix = f"/c{number}"
                    if prefix in units:  # two tools gave different controllers the same number
                        prefix = f"/{probe.path.rsplit('/', 1)[-1]}/c{number}"
                    old = self._units.get(prefix)
                    same = old is not None and old.dialect.tool == probe.dialect.tool
                    units[prefix] = old if old is not None and same else OpenCard(prefix, number, probe.dialect)
            self._units = units
            self.search = result
            self._has_scanned = True
            return tuple(units.values())

    def without_claimed_volumes(self, unit: OpenCard, contents: CardSnapshot) -> CardSnapshot:
        """Return the state, with every virtual drive refused whose world wide name also appears on another controller.

        A world wide name on two controllers means that the output about one of them contains rows of the other.
        """
        claims = {
            volume.wwn: f"virtual drive {volume.number} of {other.prefix}"
            for other in self._units.values()
            if other is not unit and other.contents is not None
            for volume in other.contents.volumes
            if volume.wwn is not None
        }
        why = {
            volume.number: f"{unit.dialect.tool}: virtual drive {volume.number} of {unit.prefix} has the world wide "
            f"name of {claims[volume.wwn]}, {volume.wwn}"
            for volume in contents.volumes
            if volume.wwn is not None and volume.wwn in claims
        }
        if not why:
            return contents
        volumes = tuple(
            VirtualDrive(card=drive.card, number=drive.number, refused=why[drive.number])
            if drive.number in why
            else drive
            for drive in contents.volumes
        )
        messages = tuple(f"{text}: {REFUSED}. {NEXT_STEP}" for text in why.values())
        return replace(contents, volumes=volumes, problems=tuple(dict.fromkeys((*contents.problems, *messages))))

    async def card_at(self, prefix: str, shown: str) -> OpenCard:
        """Return the controller at an address. Raises NotFoundError if there is none."""
        if not self._has_scanned:
            await self.search_cards()
        unit = self._units.get(prefix)
        if unit is None:
            raise NotFoundError(f"{clean(shown)} does not exist.", hint="`raidbench devices` lists all devices.")
        return unit
