"""arcconf at one path of one host."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from backends.changing import evidence_of
from backends.errors import InvalidValueError, ToolFailedError
from backends.host import Command, Completed, Host
from backends.text import clean
from backends.vendors.smartarray.arcconf import commands
from backends.vendors.smartarray.arcconf.parsing import card_text, numbers, refusal
from backends.vendors.smartarray.dialect import Lines
from backends.vendors.smartarray.facts import CardText, Family, LogicalDrive

READ_SECONDS = 120.0
"""For one answer."""


class Arcconf:
    """One program, asked one thing at a time."""

    def __init__(self, host: Host, tool: str) -> None:
        self._host = host
        self._tool = tool
        self._lock = asyncio.Lock()
        self._words: tuple[str, str] | None = None
        self._asked = False

    @property
    def tool(self) -> str:
        """Path of the program."""
        return self._tool

    @property
    def lock_name(self) -> str:
        """One for all cards."""
        return "smartarray-arcconf"

    def address(self, number: str, family: Family) -> str:
        """`/arc1`, of series 2 to 8 `/aac1`."""
        return f"/{'aac' if family is Family.SERIES else 'arc'}{number}"

    async def numbers(self) -> tuple[str, ...]:
        """The controllers there are."""
        done = await self._run(commands.LIST)
        text = (
            done.stdout if "controllers found" in done.stdout.lower() else (await self._run(commands.VERSIONS)).stdout
        )
        found = numbers(text)
        if not found and "controllers found" not in text.lower():
            raise ToolFailedError(f"{self._tool}: {refusal(text)}", evidence=text[:4000])
        return tuple(map(str, found))

    async def read(self, number: str) -> CardText:
        """Everything about a card."""
        done = await self._run(commands.config(number))
        status = await self._run(commands.status(number))
        found = card_text(done.stdout, int(number), status=status.stdout)
        if found is None:
            said = refusal(done.stdout) or "it says nothing of the card"
            command = Command(argv=(self._tool, *commands.config(number)))
            raise ToolFailedError(f"{self._tool}: {said}", evidence=evidence_of(command, done))
        if not self._asked and found.volumes and found.card.family is Family.SMART:
            self._words = commands.caching_words((await self._run(commands.USAGE)).stdout)
            self._asked = True
        return found

    async def legal(self, text: CardText, volume: LogicalDrive | None) -> Mapping[str, tuple[str, ...]]:
        """None: it has no way of asking the card."""
        return {}

    async def ask_all(self, text: CardText, volume: LogicalDrive | None) -> int:
        """Nothing: it tells of no values."""
        return 0

    async def _run(self, words: tuple[str, ...]) -> Completed:
        async with self._lock:
            return await self._host.run(Command(argv=(self._tool, *words), timeout=READ_SECONDS))

    async def change(self, argv: tuple[str, ...]) -> Completed:
        """Waited for, however long it takes."""
        async with self._lock:
            return await self._host.run(Command(argv=argv, timeout=READ_SECONDS, mutates=True))

    def set_card(self, text: CardText, key: str, value: str) -> Lines:
        """One line."""
        number = text.card.number
        cache = (self._tool, "setcache", number)
        match key:
            case "cache_ratio":
                return ((*cache, "cacheratio", *value.split("/"), "noprompt"),)
            case "no_battery_write_cache" | "wait_for_cache_room":
                return ((*cache, key.replace("_", ""), value, "noprompt"),)
            case "write_cache_bypass":
                return ((*cache, "writecachebypassthreshold", value, "noprompt"),)
            case "drive_write_cache" | "drive_write_cache_unconfigured" | "drive_write_cache_hba":
                policy = _word(commands.POLICIES, value)
                return ((*cache, "drivewritecachepolicy", commands.DRIVES[key], policy, "noprompt"),)
            case "performance_mode":
                return ((self._tool, "setperform", number, _word(commands.PERFORMANCE, value)),)
            case "task_priority":
                return ((self._tool, "setpriority", number, value),)
            case _:
                raise InvalidValueError("how arcconf is told to set it is not known")

    def set_volume(self, text: CardText, volume: LogicalDrive, key: str, value: str) -> Lines:
        """One line."""
        match key:
            case "read_cache":
                word = _word(commands.READ_CACHE, value)
            case "write_cache":
                word = _word(commands.WRITE_CACHE, value)
            case "acceleration" if self._words is not None and value in ("none", "controller-cache"):
                word = self._words[0 if value == "controller-cache" else 1]
            case _:
                raise InvalidValueError("how arcconf is told to set it is not known")
        line = (self._tool, "setcache", text.card.number, "logicaldrive", str(volume.number), word, "noprompt")
        return (line,)

    def set_drive(self, text: CardText, place: str, key: str, value: str) -> Lines:
        """One line."""
        word = _word(commands.DRIVE_CACHE, value)
        return ((self._tool, "setcache", text.card.number, "device", *place.split(":"), word, "noprompt"),)

    def refusal(self, done: Completed) -> str | None:
        """What stands where `Command completed successfully.` should."""
        if "(y/n)" in done.stdout.lower():
            return f"it asks a question, which is not answered: {clean(done.stdout, 400)}"
        return refusal(f"{done.stdout}\n{done.stderr}")


def _word(table: Mapping[str, str], value: str) -> str:
    if value not in table:
        raise InvalidValueError("arcconf has no word for this value")
    return table[value]
