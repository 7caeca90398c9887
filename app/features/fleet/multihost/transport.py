"""Connections to runs on hosts, and the reasons why they fail."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from app.features.fleet.ssh.faults import Cause, ssh_fault
from backends.text import clean


class HostConnection(Protocol):
    """A connection to a run on a host."""

    async def read(self) -> bytes:
        """Return the next chunk of the run's output; b"" at the end."""
        ...

    def say(self, line: str) -> None:
        """Send a line to the run; do nothing if the connection is closed."""
        ...

    async def complaints(self) -> list[str]:
        """Return the last lines of error output from ssh and from the remote program."""
        ...

    async def status(self) -> int | None:
        """Return the exit status of the connection's process, or None if it has not ended."""
        ...


class Transport(Protocol):
    """Opens connections to runs on hosts."""

    def line(self, host: str) -> AbstractAsyncContextManager[HostConnection]:
        """Return a context manager that connects to a host and starts the run there. Leaving it ends both.

        Entering it raises RaidbenchError.
        """
        ...


_MEANINGS = {
    Cause.KEY_CHANGED: (
        "the SSH host key has changed, so nothing was sent. Ask the administrator of the host; `ssh` shows the line"
        " in known_hosts"
    ),
    Cause.KEY_UNKNOWN: ("the SSH host key is unknown. Log in once with `ssh`, compare the key, and try again"),
    Cause.NAME_UNKNOWN: "unknown host name",
    Cause.NO_PERMISSION: "login failed: permission denied (SSH key)",
    Cause.ABSENT: (
        "raidbench is not installed there. Install the standalone binary with `raidbench hosts prepare HOST`, or"
        " install a package"
    ),
}
"""Why a connection failed, as a clause, by cause."""


def lost_reason(status: int | None, complaints: Sequence[str]) -> str:
    """Return why a connection failed or closed, as a clause."""
    fault = ssh_fault(status, "\n".join(complaints))
    last = clean(complaints[-1], 200).rstrip(".") if complaints else ""
    if fault is Cause.UNREACHABLE:
        return f"host unreachable: {last or 'ssh gave no reason'}"
    if fault is not None:
        return _MEANINGS[fault]
    if status is not None and status < 0:
        return f"raidbench was killed there (signal {-status})"
    ended = "the connection closed" if status is None else f"raidbench exited there with status {status}"
    return f"{ended}: {last}" if last else ended
