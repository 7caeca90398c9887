"""Gets root privileges for a command: it runs as root, uses the root helper, or has none."""

from __future__ import annotations

import os
import socket
import sys
from typing import TYPE_CHECKING

from app.cli.options import Options, is_terminal
from app.cli.output import say
from app.startup import import_asyncio
from backends.errors import RefusedError
from backends.self_exec import CONNECTED

if TYPE_CHECKING:
    from backends.system.privsep.connection import Connection

_helper: list[Connection | None] = []
"""The result of `_start_helper`: the connection to this process's root helper, or None; empty before the first call."""


def drop_privileges() -> None:
    """Continue as the user who called sudo, while a root helper keeps root privileges.

    Without sudo, this does nothing.
    """
    from app.privsep.client import split

    if reason := split(sys.argv[1:]):
        say(f"Note: {reason} All of raidbench runs as root.")


def helper_of(options: Options, *, wanted: bool, read_only: bool) -> Connection | None:
    """Return the connection to the root helper; None as root, for another machine, or if no helper could be started.

    `wanted`: whether to start a helper, for which sudo may ask for a password; False: only use an inherited one. Report
    the reason if no helper can be started.
    """
    if options.simulated:
        return None
    if not _helper or (wanted and _helper == [None]):
        _helper[:] = [_start_helper(options, wanted=wanted and not options.no_helper, read_only=read_only)]
    return _helper[0]


async def helper_connection() -> socket.socket | None:
    """Return a connection to a second root helper, for a process that outlives this one.

    Return None if this process has no helper. Raises RefusedError if its helper refuses to start a second one.
    """
    side = _helper[0] if _helper else None
    if side is None:
        return None
    _, (descriptor,) = await side.fetch("companion")
    return socket.socket(fileno=descriptor)


def _start_helper(options: Options, *, wanted: bool, read_only: bool) -> Connection | None:
    if os.geteuid() == 0 and CONNECTED not in os.environ:  # the usual case for root, without any of these imports
        return None
    import_asyncio()
    from app.privsep.client import helper, inherited_helper, start_conversation

    try:
        side = inherited_helper()
        if side is not None:
            side.greeting(_SECONDS)
        elif wanted and os.geteuid() != 0:
            side = helper(ask=is_terminal(sys.stdin) and is_terminal(sys.stderr))
        if side is None:
            return None
        return start_conversation(side, read_only=read_only, firmware=options.load_config().firmware_queries)
    except (RefusedError, TimeoutError) as error:
        say(f"raidbench continues without root. {error} {getattr(error, 'hint', '')}".rstrip())
        return None


_SECONDS = 30.0
"""Time limit in seconds for a response of a running helper."""
