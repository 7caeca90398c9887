"""The cards of a host, each with the tool that sees it, what was read of it last, and the lock that keeps order."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import field

from backends.errors import NotFoundError
from backends.host import Host
from backends.text import clean
from backends.values import dataclass
from backends.vendors.megaraid.dialect import CanReread, Contents, Dialect
from backends.vendors.megaraid.tools import Search, Slots, search


@dataclass(slots=True)
class Unit:
    """One card. A card is asked one thing at a time, reads included, and only when somebody asks."""

    prefix: str
    """Its address."""
    number: int
    """Its number in its tool."""
    dialect: Dialect
    """Its tool."""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while a command for this card runs."""
    contents: Contents | None = None
    """What was read last."""
    changed: bool = False
    """Something was set since that was read."""

    @property
    def lock_name(self) -> str:
        """Name of the lock between programs: `megaraid-c0`."""
        return "megaraid" + self.prefix.replace("/", "-")

    async def read(self) -> Contents:
        """All of it, anew. Raises ToolFailedError, ToolTimeoutError, ToolMissingError."""
        async with self.lock:
            self.contents = None
            return self._keep(await self.dialect.read(self.number))

    async def refresh(self, volume: int | None) -> Contents:
        """What the settings of a virtual drive (of the card when None) depend on, anew; all where nothing is known.

        Raises as `read`; what was known before is kept then.
        """
        async with self.lock:
            if self.contents is not None and isinstance(self.dialect, CanReread):
                return self._keep(await self.dialect.reread(self.contents, volume))
            return self._keep(await self.dialect.read(self.number))

    def _keep(self, contents: Contents) -> Contents:
        self.contents, self.changed = contents, False
        return contents


class Units:
    """All cards of a host; found at the first question and at every look round."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._units: dict[str, Unit] = {}
        self._searching = asyncio.Lock()
        self._slots: Slots = {}
        self._looked = False
        self.search = Search()
        """What the last search tried."""

    async def look(self) -> tuple[Unit, ...]:
        """Search for tools and cards anew; what is known of a card that is still there is kept.

        `show` asks every card, so all of them are waited for.
        """
        async with self._searching, contextlib.AsyncExitStack() as all_cards:
            for unit in self._units.values():
                await all_cards.enter_async_context(unit.lock)
            found = await search(self._host, self._slots)
            units: dict[str, Unit] = {}
            for one in found.kept:
                assert one.dialect is not None
                for number in one.cards:
                    prefix = f"/c{number}"
                    if prefix in units:  # two kinds of tools count different cards alike
                        prefix = f"/{one.path.rsplit('/', 1)[-1]}/c{number}"
                    old = self._units.get(prefix)
                    same = old is not None and old.dialect.tool == one.dialect.tool
                    units[prefix] = old if old is not None and same else Unit(prefix, number, one.dialect)
            self._units = units
            self.search = found
            self._looked = True
            return tuple(units.values())

    async def at(self, prefix: str, shown: str) -> Unit:
        """The card of an address. Raises NotFoundError."""
        if not self._looked:
            await self.look()
        unit = self._units.get(prefix)
        if unit is None:
            raise NotFoundError(f"There is no {clean(shown)}.", hint="`raidbench devices` lists what is there.")
        return unit
