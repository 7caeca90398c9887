"""Runs MegaCli commands that read, one at a time, with errors for truncated output and for output of other programs."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from backends.errors import ToolFailedError
from backends.host import Command, Completed, Host
from backends.subject import misnamed_reason, refused_text
from backends.text import clean_lines
from backends.tool_output import CUT, CompletenessCheck, unusable_output_error, whole_lines
from backends.vendors.megaraid.megacli import commands, verdict
from backends.vendors.megaraid.megacli.adapter import card_numbers, parse_adapter, parse_version

T = TypeVar("T")

READ_SECONDS = 120.0
"""Timeout for commands that read, in seconds. Slow controllers take 8 s, and a list of a large chassis takes tens of
seconds."""


_END = re.compile(r"Exit Code: ?0x[0-9a-f]{1,8}\s*\Z", re.IGNORECASE)

WHOLE = CompletenessCheck(
    tool="MegaCli",
    mark="`Exit Code: 0x..` in the last line, with any number",
    missing=lambda text: "" if _END.search(text) else "its exit code is missing",
    hides="in builds that never print an exit code: drives and volumes that the controller does not count",
    statuses=frozenset(),
)
"""How to detect truncated output. The exit status does not show it: it is the low byte of the exit code, or the number
of controllers. Some recordings of old builds have no exit code."""


_HEADING = re.compile(
    r"[ \t]*(?:Adapter (?:#(?P<list>[0-9]{1,6})[ \t]*|(?P<plain>[0-9]{1,6}) -- Virtual Drive Information:?[ \t]*)"
    r"|(?:Adapter:? ?#?|BBU [A-Za-z ]{4,20} for Adapter: ?|PCI information for Controller "
    r"|Activated Advanced Software Options of Adapter )(?P<other>[0-9]{1,6})(?![0-9]).*)\r?",
    re.ASCII | re.IGNORECASE,
)
"""Heading lines with the number of a controller. The first two forms occur once, before everything about that
controller."""

_LISTS = frozenset({"-AdpAllInfo", "-LdPdInfo", "-LDInfo", "-PDList"})
"""Commands whose output, in every recording, starts with the number of the controller."""

_NONE_THERE = re.compile(r"no (?:virtual drive|physical drive|physical device)", re.ASCII | re.IGNORECASE)


def misnaming_reason(args: tuple[str, ...], text: str) -> str:
    """Return why output is not about the controller in its command, as a clause; "" if it is."""
    card = verdict.number(args, "-a")
    if card is None or not text.strip():
        return ""
    rows = [match for line in text.split("\n") if (match := _HEADING.fullmatch(line[:200]))]
    asked = f"Adapter {card}"
    headings = [f"Adapter {int(row['list'] or row['plain'])}" for row in rows if row["other"] is None]
    named = [f"Adapter {int(row['list'] or row['plain'] or row['other'])}" for row in rows]
    why = misnamed_reason(asked, headings, required=False) or misnamed_reason(asked, named, once=False, required=False)
    if why or args[0] not in _LISTS or named or _NONE_THERE.search(text) or not _SAYS_MUCH.search(text):
        return why
    return misnamed_reason(asked, ())


_SAYS_MUCH = re.compile(
    r"^(?:Virtual D|CacheCade V|Enclosure Device|Slot Number|Product Name)", re.ASCII | re.MULTILINE
)
"""Start of a line that occurs only in a list. An error message has no such line, and need not name a controller."""


class MegaCliReader:
    """One MegaCli program on one host."""

    def __init__(self, host: Host, tool: str) -> None:
        self._host = host
        self.tool = tool
        self.version: str | None = None
        self.cut = ""
        """Message about the first truncated or refused output since `begin`; "" if there is none."""
        self.refused = ""
        """Message with the reason why the last output is refused; "" if it names the right controller."""
        self._ends = False
        self._version_asked = False

    def begin(self) -> None:
        """Start a scan: forget earlier truncated output."""
        self.cut = ""

    async def run(self, args: tuple[str, ...]) -> Completed:
        """Run a command that reads. Raises ToolMissingError, or ToolTimeoutError if there is no output in time."""
        return await self._host.run(Command(argv=(self.tool, *args), timeout=READ_SECONDS))

    def rejection_reason(self, args: tuple[str, ...], done: Completed) -> str:
        """Return a message why output is truncated or about a different controller; "" if it is neither.

        A missing exit code means truncation only if this build has printed one before.
        """
        self.refused = ""
        if why := misnaming_reason(args, done.stdout):
            self.refused = refused_text(Command(argv=(self.tool, *args)), why)
            self.cut = self.cut or self.refused
            return self.refused
        why = WHOLE.lost(done)
        self._ends = self._ends or not why
        if not why or (not self._ends and done.returncode >= 0 and not done.truncated):
            return ""
        sentence = f"{self.tool} {args[0]}: {CUT}: {why}."
        self.cut = self.cut or sentence
        return sentence

    async def read_version(self) -> None:
        """Read the version, unless an earlier call got complete output. Raises as `run` does."""
        if self._version_asked:
            return
        done = await self.run(commands.VERSION)
        cut = self.rejection_reason(commands.VERSION, done)
        self.version = None if cut else parse_version(whole_lines(done.stdout))
        self._version_asked = not cut and (self._ends or self.version is not None)

    async def read_adapter(self, card: int, problems: list[str]) -> str:
        """Return the output about the controller itself.

        Raises as `run` does, and ToolFailedError if the output names another controller.
        """
        line = commands.on_card(card, commands.ADAPTER)
        about = await self.run(line)
        cut = self.rejection_reason(line, about)
        if self.refused:
            raise ToolFailedError(self.refused, evidence=about.stdout[:4000])
        text = whole_lines(about.stdout) if cut else about.stdout
        problems += [cut] if cut else []
        adapter = parse_adapter(text, card)
        if adapter.model is None and not adapter.values and card not in card_numbers(text):
            raise ToolFailedError(cut, evidence=about.stdout[:4000]) if cut else self.foreign_answer_error(about)
        return text

    async def text(self, args: tuple[str, ...], subject: str, problems: list[str]) -> str:
        """Return the output if it is complete; else add a problem and return "". Raises ToolMissingError."""
        text, is_complete = await self._read_lines(args, subject, problems)
        return text if is_complete else ""

    async def read_list(
        self, args: tuple[str, ...], parse: Callable[[str, int], tuple[T, ...]], card: int, problems: list[str]
    ) -> tuple[T, ...]:
        """Return a parsed list, without its last entry if truncated. If unreadable, add a problem and return ()."""
        text, is_complete = await self._read_lines(args, f"answer to {args[0]}", problems)
        ts = parse(text, card)
        return ts if is_complete else ts[:-1]

    async def _read_lines(self, args: tuple[str, ...], subject: str, problems: list[str]) -> tuple[str, bool]:
        """Return the output, without an incomplete last line, and whether it is complete."""
        try:
            done = await self.run(args)
        except ToolFailedError as error:
            problems.append(f"The {subject} could not be read: {error.message}")
            return "", False
        cut = self.rejection_reason(args, done)
        if not done.stdout.strip():
            problems.append(f"The {subject} could not be read: {self._no_answer_error(args, done).message}")
            return "", False
        if self.refused:
            problems.append(f"The {subject} could not be read: {self.refused}")
            return "", False
        if cut:
            problems.append(f"The {subject} could not be read completely: {cut}")
            return whole_lines(done.stdout), False
        return done.stdout, True

    def _no_answer_error(self, args: tuple[str, ...], done: Completed) -> ToolFailedError:
        return unusable_output_error(Command(argv=(self.tool, *args)), done)

    def foreign_answer_error(self, done: Completed) -> ToolFailedError:
        """Return the error for output that is not MegaCli's, with that output as evidence."""
        if not done.stdout.strip():
            return self._no_answer_error((), done)
        text = clean_lines(f"{done.stdout}\n{done.stderr}".strip(), lines=20)
        if "deprecated command" in text.lower():
            return ToolFailedError(f"{self.tool} is storcli, renamed to MegaCli.", evidence=text)
        return ToolFailedError(
            f"The output of {self.tool} is not from MegaCli.",
            hint="Run the command manually as root.",
            evidence=text,
        )
