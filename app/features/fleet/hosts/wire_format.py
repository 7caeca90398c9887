"""Request to hosts, and the unverified response of one host, as JSON lines between two processes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from app.features.fleet.ssh.command import OPTIONS
from backends import json_text
from backends.values import dataclass

BYTES = 16 << 20
"""Maximum bytes of one host's output; a host that prints more is cut off."""

LINES = 500_000
"""Maximum lines of one host's output: a document with a thousand disks has fewer."""

NOISE = 64 << 10
"""Maximum bytes that a login may print before the document."""

LAST_WORDS = 8192
"""Bytes of the end of the error output that are kept."""

FANOUT = 64
"""Hosts that are queried at the same time."""

CONNECT_S = 10
"""Seconds within which a host has to accept a connection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostsRequest:
    """A command for several hosts."""

    hosts: tuple[str, ...]
    """Names for ssh."""
    words: tuple[str, ...]
    """Program and arguments, the same for each host."""
    seconds: float
    """Time limit per host, from its connection on."""
    send: str = ""
    """A local file for the program's standard input; "" for none."""
    options: tuple[str, ...] = OPTIONS
    """Options for ssh."""

    def line(self) -> str:
        """Return it as one argument for the fan-out process."""
        return json.dumps(asdict(self))

    @classmethod
    def of(cls, line: str) -> HostsRequest:
        """Return the request from that argument. Raises ValueError, KeyError for anything else."""
        fields = json.loads(line)
        return cls(
            hosts=tuple(fields["hosts"]),
            words=tuple(fields["words"]),
            seconds=fields["seconds"],
            send=fields["send"],
            options=tuple(fields["options"]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RawResponse:
    """Output of one host."""

    host: str
    """Its name."""
    status: int | None
    """Exit status of ssh, which is that of the remote command or 255; None if it was killed."""
    out: str = ""
    """Standard output."""
    err: str = ""
    """End of the error output, including ssh's own."""
    late: bool = False
    """Whether it was killed because its time was over."""
    endless: bool = False
    """Whether it was killed because its output was too long."""

    def line(self) -> str:
        """Return it as one line."""
        return json.dumps(asdict(self))


def parse_response(line: bytes | Sequence[int]) -> RawResponse | None:
    """Return the response from a line, or None for anything else."""
    fields = json_text.table(json_text.document(bytes(line).decode("utf-8", "replace")))
    host, status, out, err = (fields.get(name) for name in ("host", "status", "out", "err"))
    if not isinstance(host, str) or not isinstance(out, str) or not isinstance(err, str):
        return None
    return RawResponse(
        host=host,
        status=status if isinstance(status, int) else None,
        out=out,
        err=err,
        late=fields.get("late") is True,
        endless=fields.get("endless") is True,
    )
