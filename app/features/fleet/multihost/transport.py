"""How a host is reached: a line to a run there, and why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from app.features.fleet.ssh.faults import Cause, ssh_fault
from backends.text import clean


class HostConnection(Protocol):
    """A line to a run on a host."""

    async def read(self) -> bytes:
        """A piece of what it says; b"" at the end."""
        ...

    def say(self, line: str) -> None:
        """A word to it; nothing where nobody hears it any more."""
        ...

    async def complaints(self) -> list[str]:
        """The last lines that came beside, of ssh and of the program there."""
        ...

    async def status(self) -> int | None:
        """Exit status once it has ended; None where it has not."""
        ...


class Transport(Protocol):
    """Opens lines."""

    def line(self, host: str) -> AbstractAsyncContextManager[HostConnection]:
        """The line to a host, which runs the command there; leaving it ends both. Raises RaidbenchError on entry."""
        ...


_MEANINGS = {
    Cause.KEY_CHANGED: (
        "its host key has changed, so nothing was said to it. `ssh` names the line of known_hosts; ask who runs it"
    ),
    Cause.KEY_UNKNOWN: (
        "its host key is not known here. Log in once by hand with `ssh`, compare the key, and try again"
    ),
    Cause.NAME_UNKNOWN: "its name is not known",
    Cause.NO_PERMISSION: "it lets nobody in with the keys that are here (permission denied)",
    Cause.ABSENT: "there is no raidbench there: `raidbench hosts prepare` copies it",
}
"""What that means, in a clause."""


def lost_reason(status: int | None, complaints: Sequence[str]) -> str:
    """Why there is no line, or none any more, in a clause."""
    fault = ssh_fault(status, "\n".join(complaints))
    last = clean(complaints[-1], 200).rstrip(".") if complaints else ""
    if fault is Cause.UNREACHABLE:
        return f"it is out of reach: {last or 'ssh gave no reason'}"
    if fault is not None:
        return _MEANINGS[fault]
    if status is not None and status < 0:
        return f"raidbench was killed there (signal {-status})"
    ended = "its line ended" if status is None else f"raidbench ended there with status {status}"
    return f"{ended}: {last}" if last else ended
