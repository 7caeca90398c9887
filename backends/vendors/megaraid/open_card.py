"""The cards of a host, each with its tool, its lock and what is remembered of it while a backend runs."""

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
"""What activation keys are made of."""

_TOKEN = re.compile(r"key number (\d{1,4})", re.ASCII)


class CardCache:
    """Of one backend. Nothing of it is ever written down."""

    def __init__(self) -> None:
        self._pending: dict[tuple[str, str], tuple[str, str]] = {}
        self._applied: dict[str, str] = {}
        self._keys: list[str] = []

    def shown(self, target: Target, key: str, reading: Reading) -> Reading:
        """The reading with what is remembered: a value that waits is shown as waiting, until the card has it."""
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
        """Note that the tool accepted a change, for after a reboot when `pending` says so."""
        changed = (change.target.address, change.key)
        if pending:
            self._pending[changed] = (change.after, pending)
            return
        self._pending.pop(changed, None)
        if change.key == "activation_key":
            self._applied[change.target.address] = change.after

    def token(self, value: str) -> str:
        """What stands for an activation key wherever it is shown, logged or kept; a token stands for itself.

        Raises InvalidValueError for what cannot be a key.
        """
        if self.key(value) is not None:
            return value
        if not _KEY.fullmatch(value):
            raise InvalidValueError(
                "That is no activation key.",
                hint="It is one word of letters, digits and dashes, as the vendor gave it.",
            )
        if value not in self._keys:
            self._keys.append(value)
        return f"key number {self._keys.index(value) + 1}"

    def key(self, token: str) -> str | None:
        """Return the activation key that a token stands for; None if it was given to another process."""
        match = _TOKEN.fullmatch(token)
        number = int(match[1]) if match is not None else 0
        return self._keys[number - 1] if 0 < number <= len(self._keys) else None


@dataclass(slots=True)
class OpenCard:
    """One card. A card is asked one thing at a time, reads included, and only when somebody asks."""

    prefix: str
    """Its address."""
    number: int
    """Its number in its tool."""
    dialect: Dialect
    """Its tool."""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while a command for this card runs."""
    contents: CardSnapshot | None = None
    """What was read last."""
    changed: bool = False
    """Something was set since that was read."""

    @property
    def lock_name(self) -> str:
        """Name of the lock between programs: `megaraid-c0`."""
        return "megaraid" + self.prefix.replace("/", "-")

    async def read(self) -> CardSnapshot:
        """All of it, anew. Raises ToolFailedError, ToolTimeoutError, ToolMissingError."""
        async with self.lock:
            self.contents = None
            return self._keep(await self.dialect.read(self.number))

    async def refresh(self, volume: int | None, key: str | None = None) -> CardSnapshot:
        """What the settings of a virtual drive (of the card when None) depend on, anew; all where nothing is known.

        `key`: only what this one depends on. Raises as `read`; what was known before is kept then.
        """
        async with self.lock:
            if self.contents is not None:
                return self._keep(await self.dialect.reread(self.contents, volume, key))
            return self._keep(await self.dialect.read(self.number))

    def _keep(self, contents: CardSnapshot) -> CardSnapshot:
        self.contents, self.changed = contents, False
        return contents


class OpenCards:
    """All cards of a host; found at the first question and at every look round."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._units: dict[str, OpenCard] = {}
        self._searching = asyncio.Lock()
        self._slots: Slots = {}
        self._looked = False
        self.search = Search()
        """What the last search tried."""

    @property
    def cards(self) -> tuple[OpenCard, ...]:
        """The cards of the last look."""
        return tuple(self._units.values())

    async def search_cards(self) -> tuple[OpenCard, ...]:
        """Search for tools and cards anew; what is known of a card that is still there is kept.

        `show` asks every card, so all of them are waited for.
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
                    if prefix in units:  # two kinds of tools count different cards alike
                        prefix = f"/{probe.path.rsplit('/', 1)[-1]}/c{number}"
                    old = self._units.get(prefix)
                    same = old is not None and old.dialect.tool == probe.dialect.tool
                    units[prefix] = old if old is not None and same else OpenCard(prefix, number, probe.dialect)
            self._units = units
            self.search = result
            self._looked = True
            return tuple(units.values())

    def without_claimed_volumes(self, unit: OpenCard, contents: CardSnapshot) -> CardSnapshot:
        """Return what was read of a card, without belief in virtual drives whose world wide name another card claims.

        One of the two answers has the lines of the other card's virtual drive.
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
        """The card of an address. Raises NotFoundError."""
        if not self._looked:
            await self.search_cards()
        unit = self._units.get(prefix)
        if unit is None:
            raise NotFoundError(f"There is no {clean(shown)}.", hint="`raidbench devices` lists what is there.")
        return unit
