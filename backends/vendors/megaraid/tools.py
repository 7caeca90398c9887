"""Searches for the installed tools and finds out which tool sees which controllers.

The search covers the installation folders, then PATH, and each tool runs `show` once. Of each kind (storcli 7, storcli
8, MegaCli), raidbench uses the tool that sees the most controllers, or the first of several equal ones. Version 8
manages other controllers than version 7, so both may be used. MegaCli can stop the firmware of newer controllers. It
therefore runs only if the kernel driver has more controllers than storcli 7 sees: the others may be old ones that only
MegaCli supports. It manages only those controllers whose PCI address no other tool reports.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from backends.errors import RaidbenchError
from backends.host import Host
from backends.model import Problem
from backends.pci import function_of
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
)
from backends.vendors.megaraid.storcli import StorCli7, StorCli8


@dataclass(frozen=True, slots=True)
class ToolKind:
    """One kind of tool."""

    name: str
    """Name in messages."""
    make: Callable[[Host, str], Dialect]
    """Function that returns the dialect for the program at a path."""
    places: tuple[str, ...]
    """Paths at which packages install it."""
    names: tuple[str, ...]
    """Names on PATH."""


KINDS = (
    ToolKind("storcli 7", StorCli7, STORCLI_7_PLACES, STORCLI_7),
    ToolKind("storcli 8", StorCli8, STORCLI_8_PLACES, STORCLI_8),
    ToolKind("MegaCli", MegaCli, MEGACLI_PLACES, MEGACLI),
)
"""Kinds of tools, in the order of the search."""


@dataclass(frozen=True, slots=True)
class MegaRaidToolProbe:
    """One tool that was tried."""

    kind: str
    """Name of its kind: `storcli 7`."""
    path: str
    """Path of the program."""
    dialect: Dialect | None = None
    """Dialect of the program; None if it did not run."""
    cards: tuple[int, ...] = ()
    """Numbers of the controllers that it sees."""
    trouble: str = ""
    """Reason why it did not run, or its output if that was not usable."""
    hint: str = ""
    """Suggestion for the user."""

    def sentence(self) -> str:
        """Return the result as a sentence for `doctor`."""
        version = self.dialect.version if self.dialect is not None else None
        name = f"{self.path} ({version})" if version else self.path
        if self.trouble:
            return with_tool_name(self.path, self.trouble)
        if not self.cards:
            return f"{name} finds no controller"
        return f"{name} finds controller {', '.join(map(str, self.cards))}"


@dataclass(frozen=True, slots=True)
class Search:
    """Result of a search for tools."""

    tries: tuple[MegaRaidToolProbe, ...] = ()
    """All tools that were found, in the order in which they were tried."""
    kept: tuple[MegaRaidToolProbe, ...] = ()
    """Tools that raidbench uses because they see controllers."""


Slots = dict[tuple[str, int], str]
"""PCI address by path of the tool and number of the controller. It never changes, so it is read only once."""


async def search(host: Host, slots: Slots | None = None) -> Search:
    """Find the tools and the controllers that each sees. PCI addresses that are read are added to `slots`."""
    slots = {} if slots is None else slots
    tries: list[MegaRaidToolProbe] = []
    chosen: list[MegaRaidToolProbe] = []
    asked: set[str] = set()
    for kind in KINDS:
        if kind.name == "MegaCli" and not await _may_miss_cards(host, chosen):
            continue
        probes: list[MegaRaidToolProbe] = []
        for path in await _programs(host, kind, tries):
            real = await host.link(path) or path
            if real in asked:
                continue
            asked.add(real)
            probes.append(await _probe(host, kind, path))
        tries += probes
        best = max(probes, key=lambda probe: len(probe.cards), default=None)
        if best is not None and kind.name == "MegaCli" and chosen:
            best = await _without_managed_cards(best, chosen, slots)
        if best is not None and best.cards:
            chosen.append(best)
    return Search(tuple(tries), tuple(chosen))


async def _programs(host: Host, kind: ToolKind, tries: list[MegaRaidToolProbe]) -> Sequence[str]:
    """Return the executable programs of a kind. Programs that exist but must not be run are added to `tries`."""
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
                    trouble="it is not executable, or other users can overwrite it, so root must not run it",
                    hint=f"Check its permissions: ls -l {path_name}",
                )
            )
    for name in kind.names:
        path = host.which((name,))
        if path is not None and path not in paths:
            paths.append(path)
    return paths


async def _probe(host: Host, kind: ToolKind, path: str) -> MegaRaidToolProbe:
    dialect = kind.make(host, path)
    try:
        cards = await dialect.cards()
        return MegaRaidToolProbe(
            kind.name, path, dialect, cards, trouble=dialect.short if isinstance(dialect, StorCli7) else ""
        )
    except RaidbenchError as error:
        return MegaRaidToolProbe(kind.name, path, dialect, trouble=error.message.rstrip("."), hint=error.hint)


async def _may_miss_cards(host: Host, chosen: Sequence[MegaRaidToolProbe]) -> bool:
    """Return whether there may be a controller that only MegaCli sees."""
    seen_cards = sum(len(probe.cards) for probe in chosen if probe.kind == "storcli 7")
    return not seen_cards or await kernel_cards(host, DRIVERS[:1]) > seen_cards


async def _without_managed_cards(
    megacli: MegaRaidToolProbe, probes: Sequence[MegaRaidToolProbe], slots: Slots
) -> MegaRaidToolProbe:
    """Return MegaCli's probe without the controllers that another tool manages or whose PCI address is unknown."""
    taken: set[str | None] = {None}
    for probe in probes:
        for card in probe.cards:
            taken.add(await _slot(probe, card, slots))
    mine = [card for card in megacli.cards if await _slot(megacli, card, slots) not in taken]
    return replace(megacli, cards=tuple(mine))


async def _slot(probe: MegaRaidToolProbe, card: int, slots: Slots) -> str | None:
    """Return the PCI address without its domain, such as `c1:00.0`, or None if it is unknown."""
    slot = slots.get((probe.path, card))
    if slot is None:
        try:
            assert probe.dialect is not None
            slot = (function_of(await probe.dialect.locate(card)) or "").partition(":")[2] or None
        except RaidbenchError:
            return None
        if slot is not None:
            slots[probe.path, card] = slot
    return slot


_INSTALL = "Install storcli64 (Dell: perccli64; 96xx and PERC 12: storcli2, perccli2) in /opt/MegaRAID or on PATH."


def tool_problems(search: Search) -> tuple[Problem, ...]:
    """Return a problem for each tool that gave no usable output or must not be run."""
    return tuple(
        Problem(where=NAME, message=clean(f"{probe.sentence()}.", 400), hint=probe.hint)
        for probe in search.tries
        if probe.trouble
    )


async def unseen_card_problems(host: Host, search: Search) -> tuple[Problem, ...]:
    """Return the problems to report if no tool sees any controller.

    If the kernel has no such controller either, these are only the problems of the tools.
    """
    cards = await kernel_cards(host)
    if not cards:
        return tool_problems(search)
    tried = "; ".join(probe.sentence() for probe in search.tries) or "none is installed"
    text = "a MegaRAID controller" if cards == 1 else f"{cards} MegaRAID controllers"
    return (
        Problem(
            where=NAME,
            message=clean(f"The kernel has {text}, but no tool finds it: {tried}.", 600),
            hint=_INSTALL if host.is_root else "Run raidbench as root. Without root these tools find no controllers.",
        ),
    )


async def doctor_problems(host: Host, search: Search) -> tuple[Problem, ...]:
    """Return a problem for each tool that is unusable or superfluous."""
    if not search.kept:
        return await unseen_card_problems(host, search)
    idle = tuple(
        Problem(where=NAME, message=clean(f"{probe.sentence()}. raidbench uses another tool.", 400))
        for probe in search.tries
        if probe not in search.kept and not probe.trouble
    )
    return (*tool_problems(search), *idle)
