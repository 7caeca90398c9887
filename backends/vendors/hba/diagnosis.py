"""What doctor says of controllers. Pure but for looking for programs."""

from __future__ import annotations

from collections.abc import Iterable

from backends.host import Host
from backends.model import Problem
from backends.vendors.hba.functions import Function
from backends.vendors.hba.names import Named, model
from backends.vendors.hba.tools import tool_of

Cards = Iterable[tuple[Function, Named]]


def unmanaged(host: Host, cards: Cards) -> Iterable[Problem]:
    """Cards whose tool is not installed. Those that another backend speaks of are left to it."""
    for function, named in cards:
        tool = tool_of(function)
        if tool is None or tool.backend is not None or tool.found(host) is not None:
            continue
        yield Problem(
            where=_where(function),
            message=f"{model(function, named)} ({function.driver}) is managed by {tool.name}, which is not installed.",
            hint=f"Looked for: {tool.searched}. Without it the card and its disks are seen through the kernel alone.",
        )


def narrow(cards: Cards) -> Iterable[Problem]:
    """Cards whose PCI Express link is less than they are made for."""
    for function, named in cards:
        if function.link.narrowed:
            now = f"{function.link.speed} x{function.link.width}"
            yield Problem(
                where=_where(function),
                message=f"{model(function, named)} has a PCIe link of {now} and is made for {function.link.best}.",
                hint="All its disks share the link. Try another slot, or look at what the slot is wired for.",
            )


def silent(cards: Cards, why_not: str | None) -> Iterable[Problem]:
    """MegaRAID cards that no tool manages, and whether their firmware can be asked instead."""
    for function, named in cards:
        name = model(function, named)
        if why_not is None:
            message = f"{name} has no tool, so its firmware is asked about it, read only."
            hint = "`firmware_queries = false` in the configuration keeps raidbench from asking."
        else:
            message = f"{name} has no tool, and its firmware cannot be asked either: {why_not.rstrip('.')}."
            hint = "With storcli64 it could be seen and set."
        yield Problem(where=_where(function), message=message, hint=hint)


def _where(function: Function) -> str:
    return f"hba:{function.address}"
