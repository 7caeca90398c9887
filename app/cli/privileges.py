"""How a command comes to what takes root: by itself, through the helper, or not at all."""

from __future__ import annotations

import os
import socket
import sys
from typing import TYPE_CHECKING

from app.cli.options import Options, is_terminal
from app.cli.output import say
from backends.errors import RefusedError

if TYPE_CHECKING:
    from backends.system.privsep.connection import Connection

_begun: list[Connection | None] = []
"""The helper of this program, once it is known whether there is one."""


def drop_privileges() -> None:
    """Where sudo started this program for a user, go on as that user, with a helper that stays root."""
    from app.privsep.client import split

    if trouble := split(sys.argv[1:]):
        say(f"Note: {trouble} raidbench runs as root as a whole.")


def helper_of(options: Options, *, wanted: bool, read_only: bool) -> Connection | None:
    """The helper; None where this is root, where it is about another machine, or where there is none.

    `wanted`: whether somebody may be asked for a password for it. Why there is none is said once.
    """
    if options.simulated:
        return None
    if not _begun or (wanted and _begun == [None]):
        _begun[:] = [_start_helper(options, wanted=wanted and not options.no_helper, read_only=read_only)]
    return _begun[0]


async def helper_connection() -> socket.socket | None:
    """The connection to a further helper, for a process that outlives this one; None where this one has none.

    Raises RefusedError.
    """
    side = _begun[0] if _begun else None
    if side is None:
        return None
    _, (descriptor,) = await side.fetch("companion")
    return socket.socket(fileno=descriptor)


def _start_helper(options: Options, *, wanted: bool, read_only: bool) -> Connection | None:
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
        say(f"raidbench goes on without root. {error} {getattr(error, 'hint', '')}".rstrip())
        return None


_SECONDS = 30.0
"""How long a helper may take to begin that was started before."""
