"""`python -I -m app.privsep`: the root helper, started by sudo. Its standard input is the connection to raidbench."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.core.session.paths import Paths

_IGNORED_SIGNALS = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTSTP, signal.SIGTTOU, signal.SIGTTIN)
"""Signals from the terminal, which the helper ignores. It ends when its connection is closed."""


def main() -> int:
    """Serve requests until the connection is closed, and return the exit status.

    It is 2 for an installation that root must not run, and 4 without root privileges or without a connection on
    standard input.
    """
    connection = _connection()
    if connection is None or os.geteuid() != 0:
        print("This program is part of raidbench, which starts it automatically through sudo.", file=sys.stderr)
        return 4
    for number in _IGNORED_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    from backends.errors import RefusedError
    from backends.helper_interface import encode_error
    from backends.system.privsep.connection import pack

    reason = _refusal_reason()
    if reason is not None:
        hint = "Install raidbench for all users, as root (for example in /opt/raidbench), or log in as root."
        error = RefusedError(f"The root helper does not start: {reason}", hint=hint)
        connection.sendall(pack({"id": 0, "error": encode_error(error)}))
        return 2
    _serve(connection)
    return 0


def _connection() -> socket.socket | None:
    """Return standard input as a socket; None if it is not a Unix stream socket."""
    try:
        sock = socket.socket(fileno=os.dup(0))
        sock.getpeername()
    except OSError:
        return None
    return sock if sock.family == socket.AF_UNIX and sock.type == socket.SOCK_STREAM else None


def _refusal_reason() -> str | None:
    """Return why root must not run this installation, or None if it may."""
    if not sys.flags.isolated:
        return "Python would read variables and folders of the user. Start it with -I."
    from app.privsep.installation import ownership_problem

    return ownership_problem()


def _serve(connection: socket.socket) -> None:
    from app.core.session.paths import restrict_umask
    from app.privsep.dispatcher import RequestDispatcher
    from app.privsep.server import Conversation, peer_credentials
    from backends.system.local.child import die_with_parent
    from backends.system.local.elevated import COMPANION

    def leave(_number: int, _frame: object) -> None:
        connection.shutdown(socket.SHUT_RD)

    if not _is_owned_by_root(os.environ.get("RAIDBENCH_STATE_DIR", "/")):
        del os.environ["RAIDBENCH_STATE_DIR"]  # Root must not store anything in a folder that other users can write to.
    signal.signal(signal.SIGTERM, leave)
    if COMPANION not in sys.argv:
        die_with_parent()
    os.chdir("/")
    restrict_umask()
    uid, gid = peer_credentials(connection)
    if uid == 0:  # raidbench runs as root, too: only sudo's variables name the user.
        uid, gid = (int(os.environ.get(name, "0")) for name in ("SUDO_UID", "SUDO_GID"))
    silent = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):  # raidbench gets errors over the connection, not from the terminal.
        os.dup2(silent, number)

    async def serve_requests() -> None:
        conversation = Conversation(connection, RequestDispatcher(paths=_paths(), uid=uid, gid=gid))
        conversation.greet()
        await conversation.serve()

    asyncio.run(serve_requests())


def _paths() -> Paths:
    """Return root's paths. They contain root's own configuration even if sudo leaves HOME set to the user's home."""
    from app.core.session.paths import ROOTS_CONFIG, Paths

    paths = Paths.of("")
    return paths if "RAIDBENCH_STATE_DIR" in os.environ else replace(paths, config=ROOTS_CONFIG)


def _is_owned_by_root(folder: str) -> bool:
    """Return whether root owns the folder and no other user can write to it.

    For a missing folder, check the nearest existing parent.
    """
    from backends.system.root_owned import is_owned_by_root

    existing = os.path.abspath(folder)
    while not os.path.lexists(existing):
        existing = os.path.dirname(existing)
    return is_owned_by_root(existing)


if __name__ == "__main__":
    sys.exit(main())
