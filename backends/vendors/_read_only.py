"""Common parts of read-only backends of old tools: running the tool, and finding its controller on the PCI bus."""

from __future__ import annotations

from collections.abc import Sequence

from backends.errors import RaidbenchError
from backends.host import Command, Host, WriteDenied
from backends.model import Fact, Inventory, Problem
from backends.tool_output import CompletenessCheck, ToolOutput, run_checked

READ_SECONDS = 60.0
"""Timeout of each run of a tool, in seconds."""

facts = Fact.from_rows
"""Function that returns a fact for each pair of label and value whose value is neither None nor empty."""


class ListingBackend:
    """Base class of backends that only list devices and diagnose nothing."""

    def __init__(self, host: Host) -> None:
        self._host = host

    async def diagnose(self) -> tuple[Problem, ...]:
        """Return (): the backend `hba` reports controllers whose tool is missing."""
        return ()


async def record_output(host: Host, *argv: str) -> str:
    """Run a program so that a recording contains its output, and return the output; "" if that raises an error."""
    try:
        return (await host.run(Command(argv=argv, timeout=READ_SECONDS))).stdout
    except RaidbenchError:
        return ""


async def read_output(host: Host, check: CompletenessCheck, where: str, *argv: str) -> ToolOutput:
    """Run a program and return its output, checked for completeness."""
    return await run_checked(host, check, Command(argv=argv, timeout=READ_SECONDS), where)


async def only_card(host: Host, pattern: str) -> str | None:
    """Return the PCI address of the only device whose sysfs path matches `pattern`; None if none or several match."""
    addresses = [path.rpartition("/")[2] for path in await host.list(pattern)]
    return addresses[0] if len(addresses) == 1 else None


def program_of(host: Host, places: Sequence[str], name: str, tool: str) -> str | Inventory:
    """Return the path of the tool, or the inventory to report if the tool is missing or raidbench is not root."""
    program = host.which(places)
    if program is None:
        return Inventory()
    if host.is_root:
        return program
    problem = Problem(
        where=name, message=f"{tool} was not run: {WriteDenied.NEEDS_ROOT}.", hint="Start raidbench as root."
    )
    return Inventory(problems=(problem,))
