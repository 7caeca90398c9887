"""What one host gave, before anything of it is believed, and what it was asked; as lines between two processes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from app.features.fleet.ssh.command import OPTIONS
from backends import json_text
from backends.values import dataclass

BYTES = 16 << 20
"""Of one host's output; whoever gives more is cut off."""

LINES = 500_000
"""Lines of one host's output: a document of a thousand disks has fewer."""

NOISE = 64 << 10
"""Bytes that a login may print before the document begins."""

LAST_WORDS = 8192
"""Bytes of error output that are kept, the last ones."""

FANOUT = 64
"""Hosts that are asked at the same time."""

CONNECT_S = 10
"""Seconds in which a host has to take a connection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostsRequest:
    """What is asked of whom."""

    hosts: tuple[str, ...]
    """Their names, as ssh is given them."""
    words: tuple[str, ...]
    """The program and its words, the same for each."""
    seconds: float
    """Time that each host has, from its connection on."""
    send: str = ""
    """A file here that is the program's standard input; "" for none."""
    options: tuple[str, ...] = OPTIONS
    """Of ssh."""

    def line(self) -> str:
        """As one word for the process that does it."""
        return json.dumps(asdict(self))

    @classmethod
    def of(cls, line: str) -> HostsRequest:
        """Back from that word. Raises ValueError, KeyError for any other."""
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
    """What came of one host."""

    host: str
    """Its name."""
    status: int | None
    """Exit status of ssh, which is that of the command there, or 255; None where it was ended."""
    out: str = ""
    """Standard output."""
    err: str = ""
    """The last words of error output, ssh's own among them."""
    late: bool = False
    """Ended because its time was over."""
    endless: bool = False
    """Ended because it gave more than anybody reads."""

    def line(self) -> str:
        """As one line."""
        return json.dumps(asdict(self))


def parse_response(line: bytes | Sequence[int]) -> RawResponse | None:
    """Back from a line; None for any other."""
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
