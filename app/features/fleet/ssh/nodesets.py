"""Parses sets of host names with ClusterShell, and folds many names into a short node set."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from backends.errors import InvalidValueError, ToolMissingError
from backends.text import clean

MOST = 4096
"""Maximum number of hosts for one command."""

_BRACKETS = re.compile(r"\[([^\]]*)")
_RANGE = re.compile(r"(\d{1,12})-(\d{1,12})")
"""A range of numbers in brackets. Its size is checked before ClusterShell expands it, because expansion takes memory.
"""

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:-]{0,252}", re.ASCII)
"""Host names that are passed to ssh. They cannot be mistaken for an option and contain no user name."""


def _node_sets() -> Any:
    """Return ClusterShell's NodeSet module. Raises ToolMissingError if ClusterShell is not installed."""
    try:
        from ClusterShell import NodeSet
    except ImportError as error:
        raise ToolMissingError(
            "Commands for several hosts need ClusterShell 1.10, which is not installed.",
            hint="Install it with `pip install 'raidbench[hosts]'`. The standalone binary and the packages include it.",
        ) from error
    return NodeSet


def parse_hosts(text: str, *, most: int = MOST) -> tuple[str, ...]:
    """Return the hosts of a node set (`node[1-50],@raid!node7`), each once, in order.

    Groups such as `@raid` are defined in ClusterShell's configuration. Raises ToolMissingError without ClusterShell,
    InvalidValueError for a node set that is invalid, empty or larger than `most`.
    """
    node_sets = _node_sets()
    ranges = [pair for inner in _BRACKETS.findall(text) for pair in _RANGE.findall(inner)]
    if any(int(last) - int(first) > 100 * MOST for first, last in ranges):
        raise InvalidValueError(f"{clean(text, 100)!r} contains more than {most} hosts.", hint="Specify fewer hosts.")
    try:
        names = [str(name) for name in node_sets.NodeSet(text)]
    except node_sets.NodeSetException as error:
        raise InvalidValueError(
            f"{clean(text, 100)!r} contains no hosts: {clean(str(error), 200)}.",
            hint="Use node[1-40] or @group, separated by commas; !node7 excludes a host.",
        ) from error
    if not names:
        raise InvalidValueError(f"{clean(text, 100)!r} contains no hosts: all are excluded.")
    if len(names) > most:
        raise InvalidValueError(
            f"{clean(text, 100)!r} contains {len(names)} hosts; one command accepts at most {most}."
        )
    for name in names:
        if _NAME.fullmatch(name) is None:
            raise InvalidValueError(
                f"{clean(name, 100)!r} is not a valid host name.",
                hint="Set user, port and key of a host in ~/.ssh/config.",
            )
    return tuple(names)


def fold_names(names: Iterable[str]) -> str:
    """Return host names as a short node set, such as `node[1-6,8-40]`. Raises ToolMissingError without ClusterShell."""
    return str(_node_sets().NodeSet.fromlist(list(names)))
