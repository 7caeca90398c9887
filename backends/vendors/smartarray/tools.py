"""Which tool sees which card: by the kernel's driver and the card's subsystem vendor, else by asking.

hpsa and cciss are ssacli's, aacraid is arcconf's. smartpqi serves both, and cards of other makers: 9005 is Adaptec's
own, 103c and 1590 are HPE's, for others both are asked, and arcconf keeps a card that both see.
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
    """One of the two tools."""

    name: str
    """For people."""
    make: Callable[[Host, str], ArrayTool]
    """What speaks to a program of it."""
    places: tuple[str, ...]
    """Where its packages put it."""
    names: tuple[str, ...]
    """What it is called on PATH."""
    drivers: tuple[str, ...]
    """Drivers of cards that may be its."""
    foreign: frozenset[str]
    """Subsystem vendors of smartpqi's cards that are the other one's."""


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
"""In the order they are asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SmartArrayToolProbe:
    """One program that was asked which cards it sees."""

    kind: Program
    """Which tool it is."""
    path: str
    """The program."""
    tool: ArrayTool
    """What speaks to it."""
    numbers: tuple[str, ...] = ()
    """The cards it sees."""
    cut: str = ""
    """What says that it may see more of them; "" where these are all."""
    trouble: str = ""
    """What it said instead of an answer."""
    hint: str = ""
    """What to do."""

    def sentence(self) -> str:
        """For the doctor."""
        if self.trouble:
            return with_tool_name(self.path, self.trouble)
        return f"{self.path} sees {len(self.numbers) or 'no'} card{'' if len(self.numbers) == 1 else 's'}"


async def places_of(host: Host, program: Program, family: Family) -> tuple[str, ...]:
    """PCI addresses of the cards of a family that may be a program's: only aacraid serves the old ones."""
    old = await kernel_cards(host, SERIES_DRIVERS)
    if family is Family.SERIES:
        return old
    return tuple(address for address in await cards_of(host, program) if address not in old)


async def cards_of(host: Host, program: Program) -> tuple[str, ...]:
    """PCI addresses of the cards that may be a program's."""
    addresses = []
    for address in await kernel_cards(host, program.drivers):
        vendor = await host.read(f"/sys/bus/pci/devices/{address}/subsystem_vendor") or ""
        if vendor not in program.foreign or not await host.list(f"/sys/bus/pci/drivers/smartpqi/{address}"):
            addresses.append(address)
    return tuple(addresses)


async def probe_program(host: Host, program: Program, tools: dict[str, ArrayTool]) -> tuple[SmartArrayToolProbe, ...]:
    """Every copy of a program that was asked, up to one that sees a card; what speaks to each is kept in `tools`.

    Where the kernel has cards, a tool that none of them may belong to is not asked.
    """
    tried: list[SmartArrayToolProbe] = []
    if await kernel_cards(host, DRIVERS) and not await cards_of(host, program):
        return ()
    asked: set[str] = set()
    for name in (*program.places, *program.names):
        path = host.which((name,))
        real = path and (await host.link(path) or path)
        if path is None or real in asked or real is None:
            continue
        asked.add(real)
        tried.append(await _ask(program, path, tools.setdefault(path, program.make(host, path))))
        if tried[-1].numbers:
            break
    return tuple(tried)


async def _ask(program: Program, path: str, tool: ArrayTool) -> SmartArrayToolProbe:
    try:
        cards = await tool.cards()
        return SmartArrayToolProbe(kind=program, path=path, tool=tool, numbers=cards.numbers, cut=cards.cut)
    except RaidbenchError as error:
        return SmartArrayToolProbe(
            kind=program, path=path, tool=tool, trouble=error.message.rstrip("."), hint=error.hint
        )


def tool_problems(tried: Sequence[SmartArrayToolProbe]) -> tuple[Problem, ...]:
    """Tools that gave no answer, or half of one."""
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
    """What to say where the kernel has more cards than the `seen_cards` that the tools tell of."""
    cards = await kernel_cards(host)
    if len(cards) <= seen_cards:
        return ()
    fit = [program.name for program in PROGRAMS if await cards_of(host, program)]
    asked = {probe.kind.name for probe in tried}
    sentences = "; ".join(
        probe.sentence() for probe in tried if not probe.trouble
    )  # what is the matter with others is told apart
    why = f": {sentences}" if sentences else "" if tried else ": none is installed"
    which = "a Smart Array or Adaptec card" if len(cards) == 1 else f"{len(cards)} Smart Array or Adaptec cards"
    text = (
        f"The kernel has {which} that no tool sees{why}." if not seen_cards else f"The kernel has {which}, {sentences}."
    )
    hint = f"Install {' or '.join(sorted(set(fit) - asked, reverse=True))}." if set(fit) - asked else LOOK_AGAIN
    if not host.is_root:
        hint = "Run raidbench as root: without it these tools see nothing."
    return (Problem(where=NAME, message=clean(text, 600), hint=hint),)
