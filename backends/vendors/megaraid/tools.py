"""Which tool sees which cards: the places where they are installed, then PATH; each is asked once (`show`).

Of each kind (storcli 7, storcli 8, MegaCli) the one that sees the most cards is kept, the first of equals. Version 8
serves other cards than version 7 (PITFALLS 34), so both may be kept. MegaCli is asked only where no storcli of
version 7 sees a card: it can stop the firmware of newer ones (PITFALLS 41).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from backends.errors import RaidbenchError
from backends.host import Host
from backends.vendors.megaraid.dialect import Dialect
from backends.vendors.megaraid.megacli import NAMES as MEGACLI_NAMES
from backends.vendors.megaraid.megacli import MegaCli
from backends.vendors.megaraid.storcli import StorCli7, StorCli8

DRIVERS = ("megaraid_sas", "mpi3mr")
"""Kernel drivers of the cards that these tools serve."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of tool."""

    name: str
    """For people."""
    make: Callable[[Host, str], Dialect]
    """The dialect for a program."""
    places: tuple[str, ...]
    """Where its packages put it (KNOBS 1)."""
    names: tuple[str, ...]
    """What it is called on PATH."""


KINDS = (
    Kind(
        "storcli 7",
        StorCli7,
        (
            "/opt/MegaRAID/storcli/storcli64",
            "/opt/MegaRAID/perccli/perccli64",
            "/opt/hpe/storcli/storcli64",
            "/opt/lsi/storcli/storcli",
        ),
        StorCli7.NAMES,
    ),
    Kind(
        "storcli 8",
        StorCli8,
        ("/opt/MegaRAID/storcli2/storcli2", "/opt/MegaRAID/perccli2/perccli2"),
        StorCli8.NAMES,
    ),
    Kind(
        "MegaCli",
        MegaCli,
        ("/opt/MegaRAID/MegaCli/MegaCli64", "/opt/MegaRAID/MegaCli/MegaCli", "/opt/MegaRAID/CmdTool2/CmdTool264"),
        MEGACLI_NAMES,
    ),
)
"""In the order they are tried."""


@dataclass(frozen=True, slots=True)
class Try:
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
            return f"{name}: {self.trouble}"
        if not self.cards:
            return f"{name} sees no card"
        return f"{name} sees card {', '.join(map(str, self.cards))}"


@dataclass(frozen=True, slots=True)
class Search:
    """What was tried, and what is kept of it."""

    tries: tuple[Try, ...] = ()
    """Every tool found, in the order asked."""
    kept: tuple[Try, ...] = ()
    """Those that see cards and are used."""


async def search(host: Host) -> Search:
    """Look for the tools and ask them which cards they see."""
    tries: list[Try] = []
    kept: list[Try] = []
    asked: set[str] = set()
    for kind in KINDS:
        if kind.name == "MegaCli" and any(one.kind == "storcli 7" for one in kept):
            continue
        mine: list[Try] = []
        for path in await _programs(host, kind, tries):
            real = await host.link(path) or path
            if real in asked:
                continue
            asked.add(real)
            mine.append(await _ask(host, kind, path))
        tries += mine
        best = max(mine, key=lambda one: len(one.cards), default=None)
        if best is not None and best.cards:
            kept.append(best)
    return Search(tuple(tries), tuple(kept))


async def _programs(host: Host, kind: Kind, tries: list[Try]) -> Sequence[str]:
    """Programs of a kind that may be executed; one that is there and may not is noted among the tries."""
    found: list[str] = []
    for place in kind.places:
        path = host.which((place,))
        if path is not None:
            found.append(path)
        elif await host.stat(place) is not None:
            tries.append(
                Try(
                    kind.name,
                    place,
                    trouble="it may not be executed, or anybody may overwrite it, and then root must not run it",
                    hint=f"Look at its rights: ls -l {place}",
                )
            )
    for name in kind.names:
        path = host.which((name,))
        if path is not None and path not in found:
            found.append(path)
    return found


async def _ask(host: Host, kind: Kind, path: str) -> Try:
    dialect = kind.make(host, path)
    try:
        return Try(kind.name, path, dialect, await dialect.cards())
    except RaidbenchError as error:
        return Try(kind.name, path, dialect, trouble=error.message.rstrip("."), hint=error.hint)


async def kernel_cards(host: Host) -> int:
    """How many PCI devices the drivers of these cards have bound."""
    found = [path for driver in DRIVERS for path in await host.list(f"/sys/bus/pci/drivers/{driver}/*:*:*.*")]
    return len(found)
