"""The programs of the ioMemory driver (VSL): what is asked, and what a change runs."""

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
"""Tells everything, and changes nothing."""

READS = (("-a",), ("-fj",))
"""Words after it: all for people; all fields as JSON, which tells of throttling besides."""

READ_SECONDS = 30.0
"""After this a card that does not answer is given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FusionIoTools:
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
    def on(cls, host: Host) -> FusionIoTools:
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


WHOLE_TEXT = CompletenessCheck(
    tool="fio-status -a",
    mark="as many devices as `Found` says, each that is named described (a block device to its size), a line end",
    missing=missing_part,
    hides="wear, heat and counters of a last device that has no block device",
    statuses=frozenset(),
)
WHOLE_JSON = CompletenessCheck(
    tool="fio-status -fj",
    mark="a closed JSON document",
    missing=lambda text: "" if isinstance(read(text), dict) else "its document is not closed",
    statuses=frozenset(),
)


async def ask(host: Host, status: str | None) -> Cards:
    """What fio-status tells, and what of that is not whole; nothing where it is missing."""
    if status is None:
        return Cards()
    text, document = await asyncio.gather(
        *(_read_output(host, whole, status, *args) for args, whole in zip(READS, (WHOLE_TEXT, WHOLE_JSON), strict=True))
    )
    cards = merge_cards(parse_status(text.text), parse_document("" if document.cut else document.text))
    return replace(cards, cut=collect_problems((text, document)))


async def _read_output(host: Host, whole: CompletenessCheck, *argv: str) -> ToolOutput:
    """An answer; nothing, and no problem, of a version that refuses JSON."""
    command = Command(argv=argv, timeout=READ_SECONDS)
    try:
        done = await host.run(command)
    except RaidbenchError as error:
        return ToolOutput(problem=Problem(where="fusionio", message=error.message, hint=error.hint))
    if whole is WHOLE_JSON and done.returncode > 0 and "{" not in done.stdout:
        return ToolOutput()
    return judge_output(whole, command, "fusionio", done)


ROOT_READS: RootReads = {(STATUS,): tuple(tuple(map(re.escape, args)) for args in READS)}
"""What root starts for a user: it reads, and changes nothing."""
