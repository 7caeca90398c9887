"""Hosts that somebody named, and how they are asked: what a screen knows of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager

from app.features.fleet.hosts.wire_format import RawResponse
from app.features.fleet.multihost.transport import Transport
from backends.values import dataclass

Ask = Callable[[tuple[str, ...], tuple[str, ...]], AsyncIterator[RawResponse]]
"""What each of these hosts gives when it is asked these words of its raidbench, as it comes. Closing it ends every ssh.

Raises ToolMissingError, InvalidValueError.
"""


OpenReach = Callable[[tuple[str, ...], tuple[str, ...]], AbstractAsyncContextManager[Transport]]
"""The way to a run on each of these hosts; the words are those behind `bench` there. Raises RaidbenchError."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """The hosts."""

    named: str
    """As they were named: a node set."""
    hosts: tuple[str, ...]
    """Each once, in their order."""
    ask: Ask
    """Asks some of them."""
    reach: OpenReach
    """Lets some of them measure."""
