"""The cards of a host, each with the tool that sees it and what was read of it last."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from backends.change_steps import not_found_error
from backends.errors import RaidbenchError, ToolFailedError
from backends.host import Host
from backends.model import Problem, Target
from backends.text import clean
from backends.values import dataclass
from backends.vendors.smartarray.addresses import NAME
from backends.vendors.smartarray.dialect import ArrayTool
from backends.vendors.smartarray.facts import CardText, Family
from backends.vendors.smartarray.matching import pci_address
from backends.vendors.smartarray.tools import (
    PROGRAMS,
    Program,
    SmartArrayToolProbe,
    places_of,
    probe_program,
    tool_problems,
)


@dataclass(slots=True)
class OpenController:
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


CardReport = Callable[[str, OpenController | Problem | None], Awaitable[None]]
"""Hears of a card by its address: None when it is known to be there, then what was read of it, or why not."""


async def _report_nothing(address: str, card: OpenController | Problem | None) -> None:
    pass


class OpenControllers:
    """All cards of a host; found at the first question and at every look round."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._made: dict[str, ArrayTool] = {}
        self._units: dict[str, OpenController] | None = None
        self._searching = asyncio.Lock()
        self.tried: tuple[SmartArrayToolProbe, ...] = ()
        """The programs that were asked at the last look."""
        self.problems: tuple[Problem, ...] = ()
        """Cards that could not be read."""

    @property
    def card_count(self) -> int:
        """How many cards the tools told of at the last look."""
        return len(self._units or {}) + len(self.problems)

    async def cards(self) -> tuple[OpenController, ...]:
        """The cards of the last look."""
        return tuple(self._units.values()) if self._units is not None else await self.search_cards()

    async def search_cards(self, report: CardReport = _report_nothing) -> tuple[OpenController, ...]:
        """Search for tools and cards, and read each card anew; the tools are asked at the same time."""
        async with self._searching:
            pairs = await asyncio.gather(*(self._look(program, report) for program in PROGRAMS))
            self.tried = tuple(probe for tried, _ in pairs for probe in tried)
            read = [card for _, cards in pairs for card in cards]
            self.problems = tuple(entry for entry in read if isinstance(entry, Problem))
            units: dict[str, OpenController] = {}
            for unit in (entry for entry in read if isinstance(entry, OpenController)):
                if unit.pci is None or all(unit.pci != earlier.pci for earlier in units.values()):
                    units.setdefault(unit.prefix, unit)  # two tools see one card: the first one keeps it
            self._units = units
            return tuple(units.values())

    async def _look(
        self, program: Program, report: CardReport
    ) -> tuple[tuple[SmartArrayToolProbe, ...], list[OpenController | Problem]]:
        """What one program sees, one card after the other."""
        tried = await probe_program(self._host, program, self._made)
        asked = [(probe.tool, number) for probe in tried for number in probe.numbers]
        for tool, number in asked:
            await report(tool.address(number, Family.SMART), None)
        entries: list[OpenController | Problem] = []
        for tool, number in asked:
            entries.append(await self._read(program, tool, number))
            await report(tool.address(number, Family.SMART), entries[-1])
        return tried, entries

    async def _read(self, program: Program, tool: ArrayTool, number: str) -> OpenController | Problem:
        try:
            text = await tool.read(number)
        except RaidbenchError as error:
            where = f"{NAME}:{tool.address(number, Family.SMART)}"
            return Problem(where=where, message=clean(error.message, 400), hint=error.hint)
        at = pci_address(text.card.pci, await places_of(self._host, program, text.card.family))
        return OpenController(tool.address(number, text.card.family), number, tool, at, text)

    async def card_at(self, prefix: str, target: Target) -> OpenController:
        """The card of an address. Raises NotFoundError."""
        if self._units is None:
            await self.search_cards()
        unit = (self._units or {}).get(prefix)
        if unit is None:
            raise self._unknown(prefix) or not_found_error(target)
        return unit

    def _unknown(self, prefix: str) -> ToolFailedError | None:
        """Why it is not known whether there is such a card; None where it is known."""
        reason = next(
            (problem for problem in self.problems if problem.where.partition(":")[2] == prefix), None
        ) or next(iter(tool_problems(self.tried)), None)
        return None if reason is None else ToolFailedError(reason.message, hint=reason.hint)
