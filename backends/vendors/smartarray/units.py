"""The cards of a host, each with the tool that sees it and what was read of it last."""

from __future__ import annotations

import asyncio

from backends.changing import not_found
from backends.errors import RaidbenchError
from backends.host import Host
from backends.model import Problem, Target
from backends.text import clean
from backends.values import dataclass
from backends.vendors.smartarray.addresses import NAME
from backends.vendors.smartarray.dialect import ArrayTool
from backends.vendors.smartarray.facts import CardText, Family
from backends.vendors.smartarray.matching import pci_address
from backends.vendors.smartarray.tools import Attempt, attempts, cards_of


@dataclass(slots=True)
class CardUnit:
    """One card. It is asked only when somebody asks."""

    prefix: str
    """Its address."""
    number: str
    """What its tool calls it."""
    tool: ArrayTool
    """Its tool."""
    pci: str | None
    """Its PCI address."""
    text: CardText
    """What was read last."""

    async def refresh(self) -> CardText:
        """All of it, anew. Raises ToolFailedError, ToolTimeoutError, ToolMissingError."""
        self.text = await self.tool.read(self.number)
        return self.text


class CardUnits:
    """All cards of a host; found at the first question and at every look round."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._made: dict[str, ArrayTool] = {}
        self._units: dict[str, CardUnit] | None = None
        self._searching = asyncio.Lock()
        self.tried: tuple[Attempt, ...] = ()
        """The programs that were asked at the last look."""
        self.problems: tuple[Problem, ...] = ()
        """Cards that could not be read."""

    async def look(self) -> tuple[CardUnit, ...]:
        """Search for tools and cards, and read each card anew."""
        async with self._searching:
            self.tried = await attempts(self._host, self._made)
            units: dict[str, CardUnit] = {}
            problems: list[Problem] = []
            for tried in self.tried:
                known = await cards_of(self._host, tried.kind)
                for number in tried.numbers:
                    try:
                        text = await tried.tool.read(number)
                    except RaidbenchError as error:
                        where = f"{NAME}:{tried.tool.address(number, Family.SMART)}"
                        problems.append(Problem(where=where, message=clean(error.message, 400), hint=error.hint))
                        continue
                    at = pci_address(text.card.pci, known if len(tried.numbers) == 1 else ())
                    if at is not None and any(unit.pci == at for unit in units.values()):
                        continue  # two tools see one card: the first one keeps it
                    prefix = tried.tool.address(number, text.card.family)
                    units.setdefault(prefix, CardUnit(prefix, number, tried.tool, at, text))
            self._units, self.problems = units, tuple(problems)
            return tuple(units.values())

    async def at(self, prefix: str, target: Target) -> CardUnit:
        """The card of an address. Raises NotFoundError."""
        if self._units is None:
            await self.look()
        unit = (self._units or {}).get(prefix)
        if unit is None:
            raise not_found(target)
        return unit
