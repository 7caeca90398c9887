"""Running MegaCli to read: one command at a time, and what to say when an answer is none of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from backends.errors import ToolFailedError
from backends.host import Command, Completed, Host
from backends.text import clean_lines
from backends.vendors.megaraid.megacli import commands
from backends.vendors.megaraid.megacli.adapter import card_numbers, parse_adapter, parse_version

T = TypeVar("T")

READ_SECONDS = 120.0
"""After this a read is given up: slow cards take 8 s and large chassis tens of seconds for one list."""


class MegaCliReader:
    """One MegaCli program on one host."""

    def __init__(self, host: Host, tool: str) -> None:
        self._host = host
        self.tool = tool
        self.version: str | None = None
        self._version_asked = False

    async def run(self, words: tuple[str, ...]) -> Completed:
        """The answer to a command that reads. Raises ToolMissingError, ToolTimeoutError."""
        return await self._host.run(Command(argv=(self.tool, *words), timeout=READ_SECONDS))

    async def for_version(self) -> None:
        """Ask for the version, once. Raises as `run`."""
        if not self._version_asked:
            self.version = parse_version((await self.run(commands.version())).stdout)
            self._version_asked = True

    async def own(self, card: int) -> str:
        """The card's own answer. Raises as `run`, and ToolFailedError when it is not about this card."""
        about = await self.run(commands.adapter(card))
        found = parse_adapter(about.stdout, card)
        if found.model is None and not found.values and card not in card_numbers(about.stdout):
            raise self.not_understood(about)
        return about.stdout

    async def text(self, words: tuple[str, ...], what: str, problems: list[str]) -> str:
        """An answer; "" and a problem if there is none in time. Raises ToolMissingError."""
        try:
            done = await self.run(words)
        except ToolFailedError as error:
            problems.append(f"The {what} could not be read: {error.message}")
            return ""
        if not done.stdout.strip():
            problems.append(f"The {what} could not be read: MegaCli gave no answer.")
        return done.stdout

    async def listed(
        self, words: tuple[str, ...], parse: Callable[[str, int], tuple[T, ...]], card: int, problems: list[str]
    ) -> tuple[T, ...]:
        """An answer, taken apart; nothing and a problem if there is none in time."""
        return parse(await self.text(words, f"answer to {words[0]}", problems), card)

    def not_understood(self, done: Completed) -> ToolFailedError:
        """The error for an answer that is none of MegaCli's, with the tool's own words as evidence."""
        words = clean_lines(f"{done.stdout}\n{done.stderr}".strip(), lines=20)
        if "deprecated command" in words.lower():
            return ToolFailedError(f"{self.tool} is storcli under MegaCli's name.", evidence=words)
        return ToolFailedError(
            f"{self.tool} gave an answer that is none of MegaCli's.", hint="Run it by hand as root.", evidence=words
        )
