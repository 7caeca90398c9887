"""A request to hosts, and the unchecked response of one host. Each is one line of JSON between two local processes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from app.features.fleet.ssh.command import OPTIONS
from backends import json_text
from backends.values import dataclass

BYTES = 16 << 20
"""Maximum bytes of one host's output. The connection of a host that prints more is closed."""

LINES = 500_000
"""Maximum lines of one host's output. Even a document with a thousand disks has fewer."""

NOISE = 64 << 10
"""Maximum bytes that a login may print before the JSON document."""

LAST_WORDS = 8192
"""Number of bytes that are kept from the end of the error output, or from the beginning of output that is too long."""

FANOUT = 64
"""Maximum number of hosts that are queried at the same time."""

CONNECT_S = 10
"""Seconds within which a host must accept a connection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostsRequest:
    """A command to run on several hosts."""

    hosts: tuple[str, ...]
    """Names of the hosts, as they are passed to ssh."""
    words: tuple[str, ...]
    """Program and arguments, the same for each host."""
    seconds: float
    """Time limit in seconds per host."""
    send: str = ""
    """Local file that each host gets on the program's standard input; "" for none."""
    options: tuple[str, ...] = OPTIONS
    """Options for ssh."""

    def line(self) -> str:
        """Return the request as one argument for the fan-out process."""
        return json.dumps(asdict(self))

    @classmethod
    def of(cls, line: str) -> HostsRequest:
        """Return the request from the argument that `line` made. Raises ValueError, KeyError for anything else."""
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
    """Name of the host."""
    status: int | None
    """Exit status of ssh, which is that of the remote command or 255; None if it was killed."""
    out: str = ""
    """Standard output of the command."""
    err: str = ""
    """End of the error output, of the remote command and of ssh."""
    late: bool = False
    """Whether ssh was ended because the time limit had passed."""
    endless: bool = False
    """Whether ssh was ended because the output was too long."""

    def line(self) -> str:
        """Return the response as one line of JSON."""
        return json.dumps(asdict(self))


def parse_response(line: bytes | Sequence[int]) -> RawResponse | None:
    """Return the response in a line, or None if the line is not a response."""
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
