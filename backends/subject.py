"""Check that a tool's answer names the requested object, and only once; common to all vendors. No I/O.

A tool may answer about another object: because two controllers changed places, a wrapper mixes answers, or the tool has
a defect. Such an answer is not used for any object.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from typing import TypeVar

from backends.host import Command
from backends.text import clean

Name = TypeVar("Name", bound=Hashable)

REFUSED = "unexpected output"
"""Phrase in front of the reason in every message about a refused answer."""

NEXT_STEP = "Run the command manually and compare its output."
"""Hint for a refused answer."""

_SHOWN = 3
"""Maximum number of wrong names that a reason lists."""


def misnamed_reason(asked: str, named: Iterable[str], *, once: bool = True, required: bool = True) -> str:
    """Return the reason to refuse an answer about the object `asked`, as a clause; "" to accept the answer.

    `named`: every object that the answer names, spelled like `asked`. `once`: whether to refuse an answer that names
    `asked` repeatedly. `required`: whether to refuse an answer that names no object.
    """
    counts = Counter(named)
    others = [name for name in counts if name != asked]
    if others:
        shown = ", ".join(clean(name, 60) for name in others[:_SHOWN])
        more = f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
        return f"it names {shown}{more} {'in addition to' if asked in counts else 'instead of'} {asked}"
    if not counts:
        return f"it does not name {asked}" if required else ""
    return f"it names {asked} {counts[asked]} times" if once and counts[asked] > 1 else ""


def find_repeated(names: Iterable[Name]) -> frozenset[Name]:
    """Return the names that occur more than once."""
    return frozenset(name for name, count in Counter(names).items() if count > 1)


def twice_reason(name: str) -> str:
    """Return the reason to refuse an answer about many objects that names `name` more than once, as a clause."""
    return f"it names {name} more than once"


def refused_words(shown: str, reason: str) -> str:
    """Return the message about a refused answer without its full stop. `shown`: the command line that was run."""
    return f"{clean(shown, 200)}: {REFUSED}: {reason}"


def refused_text(command: Command | str, reason: str) -> str:
    """Return the message about a refused answer: the command line, the reason and the next step."""
    shown = command if isinstance(command, str) else command.shown()
    return f"{refused_words(shown, reason)}. {NEXT_STEP}"
