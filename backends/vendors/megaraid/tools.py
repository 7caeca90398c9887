"""Which tool sees which cards: the places where they are installed, then PATH; each is asked once (`show`).

Of each kind (storcli 7, storcli 8, MegaCli) the one that sees the most cards is kept, the first of equals. Version 8
serves other cards than version 7, so both may be kept. MegaCli is asked only where the kernel's driver
has more cards than a storcli of version 7 sees, for the old ones that only MegaCli knows: it can stop the firmware of
newer ones. Of the cards it sees only those are its own that sit in no other tool's place on the bus.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from backends.errors import RaidbenchError
from backends.host import Host
from backends.model import Problem
from backends.text import clean
from backends.tool_output import with_tool_name
from backends.values import dataclass
from backends.vendors.megaraid.addresses import NAME
from backends.vendors.megaraid.dialect import Dialect
from backends.vendors.megaraid.megacli import MegaCli
from backends.vendors.megaraid.presence import (
    DRIVERS,
    MEGACLI,
    MEGACLI_PLACES,
    STORCLI_7,
    STORCLI_7_PLACES,
    STORCLI_8,
    STORCLI_8_PLACES,
    kernel_cards,
    pci_slot,
)
from backends.vendors.megaraid.storcli import StorCli7, StorCli8


@dataclass(frozen=True, slots=True)
class ToolKind:
    """One kind of tool."""

    name: str
    """For people."""
    make: Callable[[Host, str], Dialect]
    """The dialect for a program."""
    places: tuple[str, ...]
    """Where its packages put it."""
    names: tuple[str, ...]
    """What it is called on PATH."""


KINDS = (
    ToolKind("storcli 7", StorCli7, STORCLI_7_PLACES, STORCLI_7),
    ToolKind("storcli 8", StorCli8, STORCLI_8_PLACES, STORCLI_8),
    ToolKind("MegaCli", MegaCli, MEGACLI_PLACES, MEGACLI),
)
"""In the order they are tried."""


@dataclass(frozen=True, slots=True)
class MegaRaidToolProbe:
    """One tool that was tried."""

    kind: str
    """`storcli 7`."""
    path: str
    """The program."""
    dialect: Dialect | None = None
    """What speaks to it; None if it was not asked."""
    cards: tuple[int, ...] = ()
    """The cards it sees."""
    trouble: str = ""
    """Why it was not asked, or what it said instead of an answer."""
    hint: str = ""
    """What to do."""

    def sentence(self) -> str:
        """For the doctor."""
        version = self.dialect.version if self.dialect is not None else None
        name = f"{self.path} ({version})" if version else self.path
        if self.trouble:
            return with_tool_name(self.path, self.trouble)
        if not self.cards:
            return f"{name} sees no card"
        return f"{name} sees card {', '.join(map(str, self.cards))}"


@dataclass(frozen=True, slots=True)
class Search:
    """What was tried, and what is kept of it."""

    tries: tuple[MegaRaidToolProbe, ...] = ()
    """Every tool found, in the order asked."""
    kept: tuple[MegaRaidToolProbe, ...] = ()
    """Those that see cards and are used."""


Slots = dict[tuple[str, int], str]
"""PCI addresses by tool and card: they do not change, so each is asked for once."""


async def search(host: Host, slots: Slots | None = None) -> Search:
    """Look for the tools and ask them which cards they see. What is learnt of places is put into `slots`."""
    slots = {} if slots is None else slots
    tries: list[MegaRaidToolProbe] = []
    chosen: list[MegaRaidToolProbe] = []
    asked: set[str] = set()
    for kind in KINDS:
        if kind.name == "MegaCli" and not await _may_miss_cards(host, chosen):
            continue
        mine: list[MegaRaidToolProbe] = []
        for path in await _programs(host, kind, tries):
            real = await host.link(path) or path
            if real in asked:
                continue
            asked.add(real)
            mine.append(await _ask(host, kind, path))
        tries += mine
        best = max(mine, key=lambda probe: len(probe.cards), default=None)
        if best is not None and kind.name == "MegaCli" and chosen:
            best = await _only_new(best, chosen, slots)
        if best is not None and best.cards:
            chosen.append(best)
    return Search(tuple(tries), tuple(chosen))


async def _programs(host: Host, kind: ToolKind, tries: list[MegaRaidToolProbe]) -> Sequence[str]:
    """Programs of a kind that may be executed; one that is there and may not is noted among the tries."""
    paths: list[str] = []
    for path_name in kind.places:
        path = host.which((path_name,))
        if path is not None:
            paths.append(path)
        elif await host.stat(path_name) is not None:
            tries.append(
                MegaRaidToolProbe(
                    kind.name,
                    path_name,
                    trouble="it may not be executed, or anybody may overwrite it, and then root must not run it",
                    hint=f"Look at its rights: ls -l {path_name}",
                )
            )
    for name in kind.names:
        path = host.which((name,))
        if path is not None and path not in paths:
            paths.append(path)
    return paths


async def _ask(host: Host, kind: ToolKind, path: str) -> MegaRaidToolProbe:
    dialect = kind.make(host, path)
    try:
        cards = await dialect.cards()
        return MegaRaidToolProbe(
            kind.name, path, dialect, cards, trouble=dialect.short if isinstance(dialect, StorCli7) else ""
        )
    except RaidbenchError as error:
        return MegaRaidToolProbe(kind.name, path, dialect, trouble=error.message.rstrip("."), hint=error.hint)


async def _may_miss_cards(host: Host, chosen: Sequence[MegaRaidToolProbe]) -> bool:
    """Whether there may be a card that only MegaCli sees."""
    seen_cards = sum(len(probe.cards) for probe in chosen if probe.kind == "storcli 7")
    return not seen_cards or await kernel_cards(host, DRIVERS[:1]) > seen_cards


async def _only_new(megacli: MegaRaidToolProbe, probes: Sequence[MegaRaidToolProbe], slots: Slots) -> MegaRaidToolProbe:
    """Without the cards that another tool speaks to already, and without those whose place is not told."""
    taken: set[str | None] = {None}
    for probe in probes:
        for card in probe.cards:
            taken.add(await _slot(probe, card, slots))
    mine = [card for card in megacli.cards if await _slot(megacli, card, slots) not in taken]
    return replace(megacli, cards=tuple(mine))


async def _slot(probe: MegaRaidToolProbe, card: int, slots: Slots) -> str | None:
    """`c1:00.0`; None if it cannot be told."""
    slot = slots.get((probe.path, card))
    if slot is None:
        try:
            assert probe.dialect is not None
            slot = pci_slot(await probe.dialect.locate(card))
        except RaidbenchError:
            return None
        if slot is not None:
            slots[probe.path, card] = slot
    return slot


_INSTALL = "Install storcli64 (Dell: perccli64; 96xx and PERC 12: storcli2, perccli2) in /opt/MegaRAID or on PATH."


def tool_problems(search: Search) -> tuple[Problem, ...]:
    """Tools that gave no answer or may not be run."""
    return tuple(
        Problem(where=NAME, message=clean(f"{probe.sentence()}.", 400), hint=probe.hint)
        for probe in search.tries
        if probe.trouble
    )


async def unseen_card_problems(host: Host, search: Search) -> tuple[Problem, ...]:
    """What to say where no tool sees a card: nothing of it, unless the kernel has one."""
    cards = await kernel_cards(host)
    if not cards:
        return tool_problems(search)
    tried = "; ".join(probe.sentence() for probe in search.tries) or "none is installed"
    text = "a MegaRAID card" if cards == 1 else f"{cards} MegaRAID cards"
    return (
        Problem(
            where=NAME,
            message=clean(f"The kernel has {text} that no tool sees: {tried}.", 600),
            hint=_INSTALL if host.is_root else "Run raidbench as root: without it these tools see nothing.",
        ),
    )


async def for_doctor(host: Host, search: Search) -> tuple[Problem, ...]:
    """Everything that was tried and is of no use."""
    if not search.kept:
        return await unseen_card_problems(host, search)
    idle = tuple(
        Problem(where=NAME, message=clean(f"{probe.sentence()}; another tool is used.", 400))
        for probe in search.tries
        if probe not in search.kept and not probe.trouble
    )
    return (*tool_problems(search), *idle)
