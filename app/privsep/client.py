"""The user's end of the connection to the root helper: starts the helper, and returns a host that uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.errors import RefusedError
from backends.self_exec import self_exec_argv
from backends.system.local.elevated import (
    PrivilegeTool,
    become_user,
    inherited_socket,
    invoker,
    privilege_tools,
    start,
    start_beside,
)
from backends.system.privsep.connection import Connection

if TYPE_CHECKING:
    from backends.helper_interface import HelperClient
    from backends.host import Host
    from backends.system.local import LocalHost

PROGRAM = "app.privsep"

SILENT_SECONDS = 30.0
"""Time limit in seconds for the start of a helper that asks for no password."""

WITHOUT_ROOT = "Without root privileges you can view and plan settings, but neither change them nor read raw devices."
"""Message about the actions that are impossible without root privileges."""


def start_conversation(side: Connection, *, read_only: bool, firmware: bool) -> Connection:
    """Send the helper the first request, which sets the permissions of later requests; return the connection `side`.

    `firmware`: whether controllers may be queried without a tool. Raises RefusedError if the helper refuses.
    """
    side.ask_now("hello", version=1, read_only=read_only, firmware=firmware)
    return side


def helper(*, ask: bool) -> Connection:
    """Start a root helper and return the connection to it. `ask`: whether the user can type a password.

    Raises RefusedError, which says why no helper could be started.
    """
    tools = privilege_tools(ask=ask)
    if not tools:
        raise RefusedError(
            f"Root privileges are needed, but sudo is not installed. {WITHOUT_ROOT}", hint="Log in as root."
        )
    reason = ""
    for tool in tools:
        connection, reason = _start_with(tool)
        if connection is not None:
            return connection
    raise RefusedError(f"{reason} {WITHOUT_ROOT}", hint="Allow raidbench in sudoers, or log in as root.")


def _start_with(tool: PrivilegeTool) -> tuple[Connection | None, str]:
    """Start the helper with one tool, such as sudo.

    Return the connection and ""; on failure None and the reason, as a sentence.
    """
    sock, process = start(tool, self_exec_argv(PROGRAM))
    connection = Connection(sock)
    try:
        connection.greeting(None if tool.asks else SILENT_SECONDS)
    except TimeoutError:
        process.kill()
        return None, f"{tool.name} did not answer."
    except RefusedError as error:
        process.wait()
        message = error.full_text
        texts = {
            _REFUSED: message,
            _UNCONNECTED: (
                f"{tool.name} cuts the connection to the root helper (the sudoers option log_input does that)."
            ),
        }
        return None, texts.get(process.returncode, f"{tool.name} did not start the root helper.")
    return connection, ""


_REFUSED, _UNCONNECTED = 2, 4
"""Exit statuses of a helper that did not start: it has sent the reason (2), or it had no connection to send it (4)."""


def inherited_helper() -> Connection | None:
    """Return the helper that this process inherited when it dropped root privileges; None without one."""
    sock = inherited_socket()
    return None if sock is None else Connection(sock)


def split(arguments: list[str]) -> str:
    """If sudo started this process for a user, start a root helper and continue as that user.

    On success, do not return. Return "" if sudo did not start this process, and on failure the reason as a sentence.
    `arguments`: the command line.
    """
    user = invoker()
    if user is None:
        return ""
    sock = start_beside(self_exec_argv(PROGRAM))
    try:
        become_user(*user, (*self_exec_argv("app"), *arguments), sock.fileno())
    except OSError as error:
        return f"raidbench cannot continue as the user who called sudo: {error.strerror}."
    finally:
        sock.close()
    return "The user who called sudo is not allowed to run this installation."


def split_host(inner: LocalHost, side: HelperClient) -> Host:
    """Return this machine as a host that uses the root helper."""
    from app.privsep import read_policy  # Slow: it imports the tables of all vendors.
    from backends.system.privsep.host import SplitHost

    return SplitHost(inner, side, runs=read_policy.may_be_permitted, reads=read_policy.may_read)
