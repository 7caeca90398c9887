"""What to tell of tools and cards that do not find each other. Pure but for a look at sysfs."""

from __future__ import annotations

from backends.host import Host
from backends.model import Problem
from backends.text import clean
from backends.vendors.megaraid.addresses import NAME
from backends.vendors.megaraid.presence import kernel_cards
from backends.vendors.megaraid.tools import Search

_INSTALL = "Install storcli64 (Dell: perccli64; 96xx and PERC 12: storcli2, perccli2) in /opt/MegaRAID or on PATH."


def troubles(search: Search) -> tuple[Problem, ...]:
    """Tools that gave no answer or may not be run."""
    return tuple(
        Problem(where=NAME, message=clean(f"{one.sentence()}.", 400), hint=one.hint)
        for one in search.tries
        if one.trouble
    )


async def nothing_seen(host: Host, search: Search) -> tuple[Problem, ...]:
    """What to say where no tool sees a card: nothing of it, unless the kernel has one."""
    cards = await kernel_cards(host)
    if not cards:
        return troubles(search)
    tried = "; ".join(one.sentence() for one in search.tries) or "none is installed"
    words = "a MegaRAID card" if cards == 1 else f"{cards} MegaRAID cards"
    return (
        Problem(
            where=NAME,
            message=clean(f"The kernel has {words} that no tool sees: {tried}.", 600),
            hint=_INSTALL if host.is_root else "Run raidbench as root: without it these tools see nothing.",
        ),
    )


async def for_doctor(host: Host, search: Search) -> tuple[Problem, ...]:
    """Everything that was tried and is of no use."""
    if not search.kept:
        return await nothing_seen(host, search)
    idle = tuple(
        Problem(where=NAME, message=clean(f"{one.sentence()}; another tool is used.", 400))
        for one in search.tries
        if one not in search.kept and not one.trouble
    )
    return (*troubles(search), *idle)
