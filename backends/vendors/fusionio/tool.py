"""Programs of the ioMemory driver (VSL): commands that read, and the paths of programs that change something."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace

from backends.errors import RaidbenchError
from backends.host import Command, Host
from backends.json_text import document as read
from backends.model import Problem
from backends.protocol import RootReads
from backends.tool_output import CompletenessCheck, ToolOutput, collect_problems, judge_output
from backends.values import dataclass
from backends.vendors.fusionio.facts import Cards
from backends.vendors.fusionio.text import merge_cards, missing_part, parse_document, parse_status

STATUS = "fio-status"
"""Name of the program that reports everything and changes nothing."""

READS = (("-a",), ("-fj",))
"""Arguments of fio-status: all facts as text, and all fields as JSON, which also reports throttling."""

READ_SECONDS = 30.0
"""Timeout in seconds for reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FusionIoTools:
    """Paths of the ioMemory driver's programs; None for one that is not installed."""

    status: str | None
    """fio-status."""
    detach: str | None
    """fio-detach."""
    format: str | None
    """fio-format."""
    attach: str | None
    """fio-attach."""

    @classmethod
    def find(cls, host: Host) -> FusionIoTools:
        """Return the paths of the programs on a host."""
        return cls(
            status=host.which((STATUS,)),
            detach=host.which(("fio-detach",)),
            format=host.which(("fio-format",)),
            attach=host.which(("fio-attach",)),
        )

    @property
    def missing(self) -> tuple[str, ...]:
        """Return the names of missing programs that formatting needs."""
        wanted = {"fio-detach": self.detach, "fio-format": self.format, "fio-attach": self.attach}
        return tuple(name for name, path in wanted.items() if path is None)


WHOLE_TEXT = CompletenessCheck(
    tool="fio-status -a",
    mark="as many devices as `Found` counts, a description of each named device (with its size for a block device), "
    "a newline at the end",
    missing=missing_part,
    hides="wear, temperature and counters of the last device, if it has no block device",
    statuses=frozenset(),
)
WHOLE_JSON = CompletenessCheck(
    tool="fio-status -fj",
    mark="a complete JSON document",
    missing=lambda text: "" if isinstance(read(text), dict) else "the JSON document is incomplete",
    statuses=frozenset(),
)


async def read_cards(host: Host, status: str | None) -> Cards:
    """Return the parsed output of fio-status, with problems about truncated answers; empty if it is not installed."""
    if status is None:
        return Cards()
    text, document = await asyncio.gather(
        *(_read_output(host, check, status, *args) for args, check in zip(READS, (WHOLE_TEXT, WHOLE_JSON), strict=True))
    )
    cards = merge_cards(parse_status(text.text), parse_document("" if document.cut else document.text))
    return replace(cards, cut=collect_problems((text, document)))


async def _read_output(host: Host, check: CompletenessCheck, *argv: str) -> ToolOutput:
    """Return the checked output of fio-status; empty, without a problem, for a version that refuses to print JSON."""
    command = Command(argv=argv, timeout=READ_SECONDS)
    try:
        done = await host.run(command)
    except RaidbenchError as error:
        return ToolOutput(problem=Problem(where="fusionio", message=error.message, hint=error.hint))
    if check is WHOLE_JSON and done.returncode > 0 and "{" not in done.stdout:
        return ToolOutput()
    return judge_output(check, command, "fusionio", done)


ROOT_READS: RootReads = {(STATUS,): tuple(tuple(map(re.escape, args)) for args in READS)}
"""Commands that the root helper runs for a user. All of them only read."""
