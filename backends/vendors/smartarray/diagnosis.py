"""What to tell of tools and cards that do not find each other. Pure but for a look at sysfs."""

from __future__ import annotations

from collections.abc import Sequence

from backends.host import Host
from backends.model import Problem
from backends.text import clean
from backends.vendors.smartarray.addresses import NAME
from backends.vendors.smartarray.presence import kernel_cards
from backends.vendors.smartarray.tools import PROGRAMS, Attempt, cards_of


def troubles(tried: Sequence[Attempt]) -> tuple[Problem, ...]:
    """Tools that gave no answer."""
    return tuple(
        Problem(where=NAME, message=clean(f"{one.sentence().rstrip('.')}.", 400), hint=one.hint)
        for one in tried
        if one.trouble
    )


async def unseen(host: Host, tried: Sequence[Attempt]) -> tuple[Problem, ...]:
    """What to say where the kernel has cards and no tool sees one."""
    cards = await kernel_cards(host)
    if not cards or any(one.numbers for one in tried):
        return ()
    said = "; ".join(one.sentence() for one in tried) or "none is installed"
    names = " or ".join(sorted([program.name for program in PROGRAMS if await cards_of(host, program)], reverse=True))
    which = "a Smart Array or Adaptec card" if len(cards) == 1 else f"{len(cards)} Smart Array or Adaptec cards"
    return (
        Problem(
            where=NAME,
            message=clean(f"The kernel has {which} that no tool sees: {said}.", 600),
            hint=f"Install {names}." if host.is_root else "Run raidbench as root: without it these tools see nothing.",
        ),
    )
