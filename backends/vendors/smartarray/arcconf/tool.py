"""arcconf at one path of one host."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from backends.change_steps import evidence_of
from backends.errors import InvalidValueError, ToolFailedError
from backends.host import Command, Completed, Host
from backends.model import State
from backends.subject import refused_words
from backends.text import clean
from backends.tool_output import manual_run_hint, truncation_message, unusable_output_error, whole_lines
from backends.vendors.smartarray.arcconf import commands
from backends.vendors.smartarray.arcconf.parsing import card_text, numbers, refusal_reason, short_list
from backends.vendors.smartarray.dialect import CardList, Lines, NewLogical
from backends.vendors.smartarray.facts import BayDrive, CardText, Family, LogicalDrive
from backends.vendors.smartarray.text import lines

READ_SECONDS = 120.0
"""Timeout for one command that reads, in seconds."""

_UNSAYABLE = "the arcconf command for it is unknown"


class Arcconf:
    """One arcconf program, which runs one command at a time."""

    lock_name = "smartarray-arcconf"
    """Name of the lock, which is the same for all controllers."""

    def __init__(self, host: Host, tool: str) -> None:
        self._host = host
        self.tool = tool
        self._lock = asyncio.Lock()
        self._words = commands.SetcacheOptions()

    def address(self, number: str, family: Family) -> str:
        """Return `/arc1`, or `/aac1` for series 2 to 8."""
        return f"/{'aac' if family is Family.SERIES else 'arc'}{number}"

    async def cards(self) -> CardList:
        """Return the controllers that the tool sees."""
        command, done = await self._run(commands.LIST)
        if "controllers found" not in done.stdout.lower():
            command, done = await self._run(commands.VERSIONS)
        why = commands.WHOLE.lost(done) or short_list(done.stdout)
        card_numbers = numbers(whole_lines(done.stdout) if commands.WHOLE.lost(done) else done.stdout)
        if not card_numbers and "controllers found" not in done.stdout.lower():
            raise unusable_output_error(command, done)
        return CardList(numbers=tuple(map(str, card_numbers)), cut=truncation_message(command, why) if why else "")

    async def read(self, number: str) -> CardText:
        """Read everything about a controller."""
        command, done = await self._run(commands.config(number))
        asked, status = await self._run(commands.status(number))
        why, why_status = commands.WHOLE.lost(done), commands.STATUS.lost(status)
        work = whole_lines(status.stdout) if why_status else status.stdout
        text = card_text(done.stdout, int(number), status=work, cut=bool(why))
        if text is None and any(bare.lower().startswith("command aborted") for _, bare in lines(done.stdout)):
            raise unusable_output_error(command, done, refusal_reason(done.stdout) or "")
        if text is None:
            raise ToolFailedError(
                f"{truncation_message(command, why or 'it does not report the controller')}.",
                hint=manual_run_hint(command),
                evidence=evidence_of(command, done),
            )
        if not self._words.usage and text.volumes and text.card.family is Family.SMART:
            self._words = commands.SetcacheOptions(whole_lines((await self._run(commands.USAGE))[1].stdout))
        cut = truncation_message(command, why) if why else truncation_message(asked, why_status) if why_status else ""
        cut = cut or (refused_words(command.shown(), text.twice) if text.twice else "")
        return replace(text, cut=cut)

    async def legal_values(self, text: CardText, volume: LogicalDrive | None) -> Mapping[str, tuple[str, ...]]:
        """Return no values, because arcconf has no command that queries them."""
        return {}

    async def query_all_values(self, text: CardText, volume: LogicalDrive | None) -> int:
        """Return 0, because arcconf has no command that queries legal values."""
        return 0

    async def _run(self, args: tuple[str, ...]) -> tuple[Command, Completed]:
        command = Command(argv=(self.tool, *args), timeout=READ_SECONDS)
        async with self._lock:
            return command, await self._host.run(command)

    async def change(self, argv: tuple[str, ...]) -> Completed:
        """Run a command that changes something, without a timeout."""
        async with self._lock:
            return await self._host.run(Command(argv=argv, timeout=READ_SECONDS, mutates=True))

    def set_card(self, text: CardText, key: str, value: str) -> Lines:
        """Return the command that sets a setting of a controller."""
        number = text.card.number
        match key:
            case "cache_ratio":
                return self._set_cache(number, "cacheratio", *value.split("/"))
            case "no_battery_write_cache" | "wait_for_cache_room":
                return self._set_cache(number, key.replace("_", ""), value)
            case "write_cache_bypass":
                return self._set_cache(number, "writecachebypassthreshold", value)
            case "drive_write_cache" | "drive_write_cache_unconfigured" | "drive_write_cache_hba":
                policy = _word(commands.POLICIES, value)
                return self._set_cache(number, "drivewritecachepolicy", commands.DRIVES[key], policy)
            case "performance_mode":
                return ((self.tool, "setperform", number, _word(commands.PERFORMANCE, value)),)
            case "task_priority":
                return ((self.tool, "setpriority", number, value),)
            case _:
                raise InvalidValueError(_UNSAYABLE)

    def _set_cache(self, number: str, word: str, *more: str) -> Lines:
        """Return the `setcache` command for a SmartRAID. Raises InvalidValueError if the usage has no such command."""
        end = self._words.noprompt_words(word)
        if end is None:
            raise InvalidValueError(_UNSAYABLE)
        return ((self.tool, "setcache", number, word, *more, *end),)

    def set_volume(self, text: CardText, volume: LogicalDrive, key: str, value: str) -> Lines:
        """Return the command that sets a setting of a logical drive."""
        match key:
            case "read_cache":
                word = _word(commands.READ_CACHE, value)
            case "write_cache":
                word = _word(commands.WRITE_CACHE, value)
            case "acceleration" if (pair := self._words.caching) and value in ("none", "controller-cache"):
                word = pair[0 if value == "controller-cache" else 1]
                return self._set_cache(text.card.number, "logicaldrive", str(volume.number), word)
            case _:
                raise InvalidValueError(_UNSAYABLE)
        line = (self.tool, "setcache", text.card.number, "logicaldrive", str(volume.number), word, "noprompt")
        return (line,)

    def set_drive(self, text: CardText, bay: str, key: str, value: str) -> Lines:
        """Return the command that sets the cache of a drive."""
        word = _word(commands.DRIVE_CACHE, value)
        return ((self.tool, "setcache", text.card.number, "device", *bay.split(":"), word, "noprompt"),)

    def is_free(self, drive: BayDrive) -> bool:
        """Return whether the drive is `Ready`. A `Raw` drive is not free, because it is exposed to the kernel."""
        return drive.state is State.UNASSIGNED and drive.state_raw.lower() == "ready"

    async def creation_usage(self) -> str:
        """Return the usage text of `create`, without an incomplete last line."""
        return whole_lines((await self._run(commands.CREATE))[1].stdout)

    def creation_choices(self, text: CardText, usage: str) -> Mapping[str, tuple[str, ...]]:
        """Return the cache policies in the usage: caching (SmartRAID), or write and read cache (series 2 to 8)."""
        options = commands.creation_options(text.card.family, commands.SetcacheOptions(usage))
        return {key: tuple(table) for key, (_, table) in options.items()}

    def create(self, text: CardText, new: NewLogical, usage: str) -> Lines:
        """Return the command that creates a logical drive, with options from the usage."""
        return (
            (self.tool, *commands.create(text.card.number, text.card.family, new, commands.SetcacheOptions(usage))),
        )

    def delete(self, text: CardText, number: int) -> Lines:
        """Return the command that deletes a logical drive."""
        return ((self.tool, *commands.delete(text.card.number, number)),)

    def is_creation_or_deletion(self, number: str, argv: tuple[str, ...]) -> bool:
        """Return whether this is a `create` or `delete` command and nothing else."""
        return argv[:1] == (self.tool,) and commands.is_creation_or_deletion(number, argv[1:])

    def refusal_reason(self, done: Completed) -> str | None:
        """Return the tool's reason for a failure, or None if it reports success."""
        if "(y/n)" in done.stdout.lower():
            return f"it asked a question, which raidbench does not answer: {clean(done.stdout, 400)}"
        return refusal_reason(f"{done.stdout}\n{done.stderr}")


def _word(table: Mapping[str, str], value: str) -> str:
    if value not in table:
        raise InvalidValueError("arcconf does not support this value")
    return table[value]
