"""Searches for the tools and decides which one manages which controllers, by driver and PCI subsystem vendor.

ssacli manages controllers with the drivers hpsa and cciss, and arcconf those with aacraid. smartpqi is the driver for
both, and for other vendors. Subsystem vendor 9005 is Adaptec; 103c and 1590 are HPE. For other subsystem vendors both
tools run, and arcconf manages a controller that both see.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from backends.change_steps import LOOK_AGAIN
from backends.errors import RaidbenchError
from backends.host import Host
from backends.model import Problem
from backends.text import clean
from backends.tool_output import with_tool_name
from backends.values import dataclass
from backends.vendors.smartarray.addresses import NAME
from backends.vendors.smartarray.arcconf.tool import Arcconf
from backends.vendors.smartarray.dialect import ArrayTool
from backends.vendors.smartarray.facts import Family
from backends.vendors.smartarray.presence import (
    ARCCONF,
    ARCCONF_PLACES,
    DRIVERS,
    SERIES_DRIVERS,
    SSACLI,
    SSACLI_PLACES,
    kernel_cards,
)
from backends.vendors.smartarray.ssacli.tool import Ssacli


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A kind of tool: ssacli or arcconf."""

    name: str
    """Name in messages."""
    make: Callable[[Host, str], ArrayTool]
    """Function that returns the interface for the program at a path."""
    places: tuple[str, ...]
    """Paths at which packages install it."""
    names: tuple[str, ...]
    """Names on PATH."""
    drivers: tuple[str, ...]
    """Kernel drivers of controllers that it may manage."""
    foreign: frozenset[str]
    """PCI subsystem vendors whose smartpqi controllers belong to the other tool."""


PROGRAMS = (
    Program(
        name="arcconf",
        make=Arcconf,
        places=ARCCONF_PLACES,
        names=ARCCONF,
        drivers=("aacraid", "smartpqi"),
        foreign=frozenset({"0x103c", "0x1590"}),
    ),
    Program(
        name="ssacli",
        make=Ssacli,
        places=SSACLI_PLACES,
        names=SSACLI,
        drivers=("hpsa", "cciss", "smartpqi"),
        foreign=frozenset({"0x9005"}),
    ),
)
"""Tools, in the order of the search."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SmartArrayToolProbe:
    """One program that was tried."""

    kind: Program
    """Which tool it is."""
    path: str
    """Path of the program."""
    tool: ArrayTool
    """Interface of the program."""
    numbers: tuple[str, ...] = ()
    """Numbers of the controllers that it sees."""
    cut: str = ""
    """Clause that says why controllers may be missing from `numbers`; "" if the list is complete."""
    trouble: str = ""
    """Reason why the program did not run or its output is not usable; "" if it is."""
    hint: str = ""
    """Suggestion for the user."""

    def sentence(self) -> str:
        """Return the result as a sentence for `doctor`."""
        if self.trouble:
            return with_tool_name(self.path, self.trouble)
        return f"{self.path} finds {len(self.numbers) or 'no'} controller{('' if len(self.numbers) == 1 else 's')}"


async def family_addresses(host: Host, program: Program, family: Family) -> tuple[str, ...]:
    """Return the PCI addresses of a family's controllers that a program may manage.

    Controllers with the driver aacraid are of the family SERIES, all others of the family SMART.
    """
    old = await kernel_cards(host, SERIES_DRIVERS)
    if family is Family.SERIES:
        return old
    return tuple(address for address in await controller_addresses(host, program) if address not in old)


async def controller_addresses(host: Host, program: Program) -> tuple[str, ...]:
    """Return the PCI addresses of the controllers that a program may manage."""
    addresses = []
    for address in await kernel_cards(host, program.drivers):
        vendor = await host.read(f"/sys/bus/pci/devices/{address}/subsystem_vendor") or ""
        if vendor not in program.foreign or not await host.list(f"/sys/bus/pci/drivers/smartpqi/{address}"):
            addresses.append(address)
    return tuple(addresses)


async def probe_program(host: Host, program: Program, tools: dict[str, ArrayTool]) -> tuple[SmartArrayToolProbe, ...]:
    """Run each installed copy of a program until one sees a controller; return a probe for each copy that ran.

    The interfaces of the copies are stored in `tools`, by path. A program does not run if the kernel has controllers
    but the program can manage none of them.
    """
    tried: list[SmartArrayToolProbe] = []
    if await kernel_cards(host, DRIVERS) and not await controller_addresses(host, program):
        return ()
    asked: set[str] = set()
    for name in (*program.places, *program.names):
        path = host.which((name,))
        real = path and (await host.link(path) or path)
        if path is None or real in asked or real is None:
            continue
        asked.add(real)
        tried.append(await _probe(program, path, tools.setdefault(path, program.make(host, path))))
        if tried[-1].numbers:
            break
    return tuple(tried)


async def _probe(program: Program, path: str, tool: ArrayTool) -> SmartArrayToolProbe:
    try:
        cards = await tool.cards()
        return SmartArrayToolProbe(kind=program, path=path, tool=tool, numbers=cards.numbers, cut=cards.cut)
    except RaidbenchError as error:
        return SmartArrayToolProbe(
            kind=program, path=path, tool=tool, trouble=error.message.rstrip("."), hint=error.hint
        )


def tool_problems(tried: Sequence[SmartArrayToolProbe]) -> tuple[Problem, ...]:
    """Return a problem for each tool whose output is unusable or truncated."""
    silent = [
        Problem(where=NAME, message=clean(f"{probe.sentence().rstrip('.')}.", 400), hint=probe.hint)
        for probe in tried
        if probe.trouble
    ]
    half = [Problem(where=NAME, message=f"{probe.cut}.", hint=LOOK_AGAIN) for probe in tried if probe.cut]
    return (*silent, *half)


async def unseen_card_problems(
    host: Host, tried: Sequence[SmartArrayToolProbe], seen_cards: int
) -> tuple[Problem, ...]:
    """Return the problems to report if the kernel has more controllers than the tools see (`seen_cards`)."""
    cards = await kernel_cards(host)
    if len(cards) <= seen_cards:
        return ()
    fit = [program.name for program in PROGRAMS if await controller_addresses(host, program)]
    asked = {probe.kind.name for probe in tried}
    # `tool_problems` reports the tools whose output is unusable.
    sentences = "; ".join(probe.sentence() for probe in tried if not probe.trouble)
    why = f": {sentences}" if sentences else "" if tried else ": none is installed"
    which = (
        "a Smart Array or Adaptec controller" if len(cards) == 1 else f"{len(cards)} Smart Array or Adaptec controllers"
    )
    text = (
        f"The kernel has {which}, but no tool finds it{why}."
        if not seen_cards
        else f"The kernel has {which}, {sentences}."
    )
    hint = f"Install {' or '.join(sorted(set(fit) - asked, reverse=True))}." if set(fit) - asked else LOOK_AGAIN
    if not host.is_root:
        hint = "Run raidbench as root. Without root these tools find no controllers."
    return (Problem(where=NAME, message=clean(text, 600), hint=hint),)
