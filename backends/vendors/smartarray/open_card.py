"""Controllers of a host during the lifetime of a backend, each with its tool and its cached state."""

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
    family_addresses,
    probe_program,
    tool_problems,
)


@dataclass(slots=True)
class OpenController:
    """One controller. Its state is read again only on request."""

    prefix: str
    """Address of the controller."""
    number: str
    """Number of the controller in its tool."""
    tool: ArrayTool
    """The tool that manages it."""
    pci: str | None
    """PCI address; None if unknown."""
    text: CardText
    """State of the controller at the last read."""

    async def refresh(self) -> CardText:
        """Read the controller again. Raises as `ArrayTool.read` does, and ToolMissingError if the tool is gone."""
        self.text = await self.tool.read(self.number)
        return self.text


CardReport = Callable[[str, OpenController | Problem | None], Awaitable[None]]
"""Function that is called twice with a controller's address: with None when the controller is found, then with the
controller, or with a problem if it cannot be read."""


async def _report_nothing(address: str, card: OpenController | Problem | None) -> None:
    pass


class OpenControllers:
    """All controllers of a host. They are searched for at the first use and at every scan."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._tools: dict[str, ArrayTool] = {}
        self._units: dict[str, OpenController] | None = None
        self._searching = asyncio.Lock()
        self.tried: tuple[SmartArrayToolProbe, ...] = ()
        """Programs that ran in the last scan."""
        self.problems: tuple[Problem, ...] = ()
        """A problem for each controller that could not be read in the last scan."""

    @property
    def card_count(self) -> int:
        """Return the number of controllers that the tools reported in the last scan."""
        return len(self._units or {}) + len(self.problems)

    async def cards(self) -> tuple[OpenController, ...]:
        """Return the controllers of the last scan; scan if there was none."""
        return tuple(self._units.values()) if self._units is not None else await self.search_cards()

    async def search_cards(self, report: CardReport = _report_nothing) -> tuple[OpenController, ...]:
        """Search for tools and controllers, and read each controller again. The tools run in parallel."""
        async with self._searching:
            pairs = await asyncio.gather(*(self._scan_program(program, report) for program in PROGRAMS))
            self.tried = tuple(probe for tried, _ in pairs for probe in tried)
            read = [card for _, cards in pairs for card in cards]
            self.problems = tuple(entry for entry in read if isinstance(entry, Problem))
            units: dict[str, OpenController] = {}
            for unit in (entry for entry in read if isinstance(entry, OpenController)):
                if unit.pci is None or all(unit.pci != earlier.pci for earlier in units.values()):
                    units.setdefault(unit.prefix, unit)  # the first of two tools manages a controller that both see
            self._units = units
            return tuple(units.values())

    async def _scan_program(
        self, program: Program, report: CardReport
    ) -> tuple[tuple[SmartArrayToolProbe, ...], list[OpenController | Problem]]:
        """Read the controllers that one program sees, one after the other.

        Return the copies of the program that ran, and for each controller its state or a problem.
        """
        tried = await probe_program(self._host, program, self._tools)
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
        at = pci_address(text.card.pci, await family_addresses(self._host, program, text.card.family))
        return OpenController(tool.address(number, text.card.family), number, tool, at, text)

    async def card_at(self, prefix: str, target: Target) -> OpenController:
        """Return the controller at an address.

        Raises NotFoundError if there is none, ToolFailedError if a failed tool may hide it.
        """
        if self._units is None:
            await self.search_cards()
        unit = (self._units or {}).get(prefix)
        if unit is None:
            raise self._unlisted_error(prefix) or not_found_error(target)
        return unit

    def _unlisted_error(self, prefix: str) -> ToolFailedError | None:
        """Return the error of a tool that may hide the controller; None if the controller certainly does not exist."""
        reason = next(
            (problem for problem in self.problems if problem.where.partition(":")[2] == prefix), None
        ) or next(iter(tool_problems(self.tried)), None)
        return None if reason is None else ToolFailedError(reason.message, hint=reason.hint)
