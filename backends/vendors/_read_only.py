"""What backends share that list what an old tool says: how it is asked, and which card on the bus it speaks of."""

from __future__ import annotations

from collections.abc import Sequence

from backends.errors import RaidbenchError
from backends.host import Command, Host, WriteDenied
from backends.model import Fact, Inventory, Problem
from backends.tool_output import CompletenessCheck, ToolOutput, run_checked

READ_SECONDS = 60.0
"""After this a tool that does not answer is given up."""

facts = Fact.from_rows
"""Returns a fact for each row of label and value that has a value."""


class ListingBackend:
    """The base of a backend that only lists, and whose diagnosis other backends give."""

    def __init__(self, host: Host) -> None:
        self._host = host

    async def diagnose(self) -> tuple[Problem, ...]:
        """Return nothing: what is missing the bus or the kernel tells."""
        return ()


async def record_output(host: Host, *argv: str) -> str:
    """What a program prints, for a recording alone; "" where it fails."""
    try:
        return (await host.run(Command(argv=argv, timeout=READ_SECONDS))).stdout
    except RaidbenchError:
        return ""


async def read_output(host: Host, whole: CompletenessCheck, where: str, *argv: str) -> ToolOutput:
    """What a program prints, and whether that is all."""
    return await run_checked(host, whole, Command(argv=argv, timeout=READ_SECONDS), where)


async def only_card(host: Host, pattern: str) -> str | None:
    """The PCI address that alone matches, by which the card of the bus is known to be the tool's; else None."""
    addresses = [path.rpartition("/")[2] for path in await host.list(pattern)]
    return addresses[0] if len(addresses) == 1 else None


def program_of(host: Host, places: Sequence[str], name: str, tool: str) -> str | Inventory:
    """The program that may be asked; where there is none, or only root may ask it, what can be told instead."""
    program = host.which(places)
    if program is None:
        return Inventory()
    if host.is_root:
        return program
    problem = Problem(
        where=name, message=f"{tool} is not asked: {WriteDenied.NEEDS_ROOT}.", hint="Start raidbench as root."
    )
    return Inventory(problems=(problem,))
