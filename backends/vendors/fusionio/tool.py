"""The programs of the ioMemory driver (VSL): what is asked, and what a change runs."""

from __future__ import annotations

import asyncio

from backends.errors import RaidbenchError
from backends.host import Command, Host
from backends.values import dataclass
from backends.vendors.fusionio.document import parse_document, together
from backends.vendors.fusionio.facts import Cards
from backends.vendors.fusionio.text import parse_status

STATUS = "fio-status"
"""Tells everything, and changes nothing."""

READS = (("-a",), ("-fj",))
"""Words after it: all for people; all fields as JSON, which tells of throttling besides."""

READ_SECONDS = 30.0
"""After this a card that does not answer is given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Programs:
    """Where the programs are; None where one is not installed."""

    status: str | None
    """fio-status."""
    detach: str | None
    """fio-detach."""
    format: str | None
    """fio-format."""
    attach: str | None
    """fio-attach."""

    @classmethod
    def on(cls, host: Host) -> Programs:
        """Those of a host."""
        return cls(
            status=host.which((STATUS,)),
            detach=host.which(("fio-detach",)),
            format=host.which(("fio-format",)),
            attach=host.which(("fio-attach",)),
        )

    @property
    def missing(self) -> tuple[str, ...]:
        """Those that a format needs and that are not there."""
        wanted = {"fio-detach": self.detach, "fio-format": self.format, "fio-attach": self.attach}
        return tuple(name for name, path in wanted.items() if path is None)


async def ask(host: Host, status: str | None) -> Cards:
    """What fio-status tells; nothing where it is missing or fails."""
    if status is None:
        return Cards()
    text, document = await asyncio.gather(*(_said(host, (status, *words)) for words in READS))
    return together(parse_status(text), parse_document(document))


async def _said(host: Host, argv: tuple[str, ...]) -> str:
    try:
        return (await host.run(Command(argv=argv, timeout=READ_SECONDS))).stdout
    except RaidbenchError:
        return ""
