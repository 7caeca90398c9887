"""ssacli, hpssacli or hpacucli at one path of one host."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import replace

from backends.change_steps import evidence_of
from backends.errors import InvalidValueError, RefusedError, ToolFailedError
from backends.host import Command, Completed, Host
from backends.model import State
from backends.subject import misnamed_reason, refused_text, refused_words
from backends.text import clean
from backends.tool_output import manual_run_hint, truncation_message, unusable_output_error, whole_lines
from backends.vendors._cards import value_of
from backends.vendors.smartarray.addresses import SLOT
from backends.vendors.smartarray.dialect import CardList, Lines, NewLogical
from backends.vendors.smartarray.facts import BayDrive, CardText, Family, LogicalDrive
from backends.vendors.smartarray.ssacli import commands
from backends.vendors.smartarray.ssacli.completeness import CONFIG, LIST, OFFERED
from backends.vendors.smartarray.ssacli.parsing import cards
from backends.vendors.smartarray.ssacli.sections import errors

READ_SECONDS = 120.0
"""Timeout in seconds for one command that reads. A controller with many drives takes some ten seconds."""

_ENVIRONMENT = {"INFOMGR_BYPASS_NONSA": "1"}
"""Environment that keeps the tool from scanning unrelated disks, which takes minutes if there are many."""

_SLOT = re.compile(SLOT, re.ASCII)


def _without_cards(done: Completed) -> bool:
    """Return whether the tool reports that there is no controller."""
    return any("no controllers detected" in error.lower() for error in errors(done.stdout or done.stderr))


class Ssacli:
    """One ssacli program, which runs one command at a time, because a second instance refuses to run."""

    lock_name = "smartarray-ssacli"
    """Name of the lock, which is the same for all controllers."""

    def __init__(self, host: Host, tool: str) -> None:
        self._host = host
        self.tool = tool
        self._lock = asyncio.Lock()
        self._legal: dict[tuple[str, ...], tuple[str, ...]] = {}

    def address(self, number: str, family: Family) -> str:
        """Return `/slot0`."""
        return f"/slot{number}"

    async def cards(self) -> CardList:
        """Return the slots with a controller."""
        command, done = await self._ask(commands.LIST)
        why = LIST.lost(done) if not _without_cards(done) else ""
        slots = (text.card.number for text in cards(whole_lines(done.stdout) if why else done.stdout))
        numbers = tuple(dict.fromkeys(slot for slot in slots if _SLOT.fullmatch(slot)))
        if not numbers and not _without_cards(done):
            raise unusable_output_error(command, done)
        return CardList(numbers=numbers, cut=truncation_message(command, why) if why else "")

    async def read(self, number: str) -> CardText:
        """Read everything about the controller in a slot."""
        command, done = await self._ask(commands.show(number))
        cut_reason = CONFIG.lost(done)
        text = whole_lines(done.stdout) if cut_reason else done.stdout
        card_texts = cards(text, cut=bool(cut_reason))
        card_text = next((card for card in card_texts if card.card.number == number), None)
        named = (f"slot {card.card.number}" for card in card_texts if card.card.number)
        if why := misnamed_reason(f"slot {number}", named, required=False):
            raise ToolFailedError(
                refused_text(command, why), hint=manual_run_hint(command), evidence=evidence_of(command, done)
            )
        if card_text is None:
            raise unusable_output_error(command, done)
        cut = refused_words(command.shown(), card_text.twice) if card_text.twice else ""
        return replace(card_text, cut=truncation_message(command, cut_reason) if cut_reason else cut)

    async def legal_values(self, text: CardText, volume: LogicalDrive | None) -> Mapping[str, tuple[str, ...]]:
        """Return the legal values that the controller reports: cache ratios, or a logical drive's strip sizes."""
        slot = text.card.number
        if volume is None:
            return (
                {"cache_ratio": await self._query_values(slot, "cacheratio")}
                if "cache_ratio" in text.card.values
                else {}
            )
        sizes = await self._query_values(slot, "ss", volume.number)
        return {"strip_size": tuple(str(int(size) * 1024) for size in sizes if size.isdigit() and len(size) < 5)}

    async def query_all_values(self, text: CardText, volume: LogicalDrive | None) -> int:
        """Query the legal values of every setting of a controller or a logical drive; return the number of queries."""
        asked = tuple(dict.fromkeys(commands.WORDS.values())) if volume is None else ("ss", "caching")
        for word in asked:
            await self._query_values(text.card.number, word, None if volume is None else volume.number)
        return len(asked)

    async def _query_values(self, slot: str, word: str, volume: int | None = None) -> tuple[str, ...]:
        line = commands.query(slot, word, volume)
        if line not in self._legal:
            try:
                _, done = await self._ask(line)
            except ToolFailedError:
                return ()
            self._legal[line] = commands.options(whole_lines(done.stdout) if OFFERED.lost(done) else done.stdout)
        return self._legal[line]

    async def _ask(self, args: tuple[str, ...]) -> tuple[Command, Completed]:
        """Run a command that reads. Raises ToolFailedError, quoting the tool, if the output is only an error."""
        if "modify" in args and not commands.is_query(args):
            raise RefusedError(f"`{' '.join(args)}` is not a read-only command.")
        command = Command(argv=(self.tool, *args), timeout=READ_SECONDS, env=_ENVIRONMENT)
        async with self._lock:
            done = await self._host.run(command)
        error_text = next(errors(done.stdout or done.stderr), None)
        if (
            error_text is None
            or _without_cards(done)
            or any(card.volumes or card.drives for card in cards(done.stdout))
        ):
            return command, done
        error = unusable_output_error(command, done, error_text)
        if "another instance" in error_text.lower():
            error.hint = "Try again when the other program has ended."
        raise error

    async def change(self, argv: tuple[str, ...]) -> Completed:
        """Run a command that changes something, without a timeout."""
        async with self._lock:
            return await self._host.run(Command(argv=argv, timeout=READ_SECONDS, mutates=True, env=_ENVIRONMENT))

    def set_card(self, text: CardText, key: str, value: str) -> Lines:
        """Return the command that sets a setting of a controller."""
        word = commands.WORDS.get(key)
        if word is None:
            raise InvalidValueError("the ssacli command for it is not documented")
        line = (self.tool, "ctrl", f"slot={text.card.number}", "modify", f"{word}={value}")
        if word == "drivewritecache":
            distinguishes = "drive_write_cache_unconfigured" in text.card.values
            usage = commands.USAGE.get(key, "configured" if distinguishes else "")
            return ((*line, *((f"usage={usage}",) if usage else ()), "forced"),)
        return ((*line, "forced"),)

    def set_volume(self, text: CardText, volume: LogicalDrive, key: str, value: str) -> Lines:
        """Return the commands for a setting. For the acceleration, the old accelerator is turned off first."""
        if key == "strip_size":
            return (self._on(text, "ld", str(volume.number), f"ss={int(value) // 1024}"),)
        if key != "acceleration":
            raise InvalidValueError(f"ssacli cannot set {key} of a logical drive.")
        return tuple(self._accelerate(text, volume, value))

    def _accelerate(self, text: CardText, volume: LogicalDrive, value: str) -> list[tuple[str, ...]]:
        array, now = volume.array or "", value_of(volume.acceleration)
        if value == "smart-path":
            mates = (drive for drive in text.volumes if drive.array == volume.array)
            cached = [mate for mate in mates if value_of(mate.acceleration) == "controller-cache"]
            steps = [self._cache(text, drive, "disable") for drive in cached]
            if now != "smart-path" or not steps:
                steps.append(self._on(text, "array", array, "ssdsmartpath=enable"))
            return steps
        steps = [self._on(text, "array", array, "ssdsmartpath=disable")] if now == "smart-path" else []
        if value == "controller-cache":
            steps.append(self._cache(text, volume, "enable"))
        elif not steps:
            steps.append(self._cache(text, volume, "disable"))
        return steps

    def _cache(self, text: CardText, volume: LogicalDrive, value: str) -> tuple[str, ...]:
        return self._on(text, "ld", str(volume.number), f"{self._caching(volume)}={value}")

    def _caching(self, *volumes: LogicalDrive) -> str:
        """Return the tool's name for the cache setting of these logical drives: `caching` or `arrayaccelerator`."""
        old = self.tool.endswith("hpacucli") or any(volume.old_words for volume in volumes)
        return "arrayaccelerator" if old else "caching"

    def _on(self, text: CardText, kind: str, name: str, word: str) -> tuple[str, ...]:
        return (self.tool, "ctrl", f"slot={text.card.number}", kind, name, "modify", word, "forced")

    def set_drive(self, text: CardText, bay: str, key: str, value: str) -> Lines:
        """Raise InvalidValueError, because ssacli has no settings for a single drive."""
        raise InvalidValueError("ssacli sets the caches of all drives of a controller together.")

    def is_free(self, drive: BayDrive) -> bool:
        """Return whether the drive is `Unassigned Drive` and `OK`, that is, neither being erased nor in HBA mode."""
        free = drive.use_raw.lower() == "unassigned drive" and drive.state_raw.lower() == "ok"
        return free and drive.state is State.UNASSIGNED

    async def creation_usage(self) -> str:
        """Return "", because raidbench has a fixed list of ssacli's options and creates nothing with hpacucli."""
        return ""

    def creation_choices(self, text: CardText, usage: str) -> Mapping[str, tuple[str, ...]]:
        """Return the choices: cache on or off.

        Smart Path is left out because it applies to the whole array, which has no name before it is created.
        """
        return {"acceleration": tuple(commands.CACHING)}

    def create(self, text: CardText, new: NewLogical, usage: str) -> Lines:
        """Return the command that creates a logical drive. Raises InvalidValueError for hpacucli."""
        if self.tool.endswith("hpacucli"):
            raise InvalidValueError("raidbench cannot create logical drives with hpacucli.", hint="Install ssacli.")
        word = self._caching(*text.volumes)
        return ((self.tool, *commands.create(text.card.number, new, word)),)

    def delete(self, text: CardText, number: int) -> Lines:
        """Return the command that deletes a logical drive."""
        return ((self.tool, *commands.delete(text.card.number, number)),)

    def is_creation_or_deletion(self, number: str, argv: tuple[str, ...]) -> bool:
        """Return whether this is a `create` or `delete` command and nothing else."""
        return argv[:1] == (self.tool,) and commands.is_creation_or_deletion(number, argv[1:])

    def refusal_reason(self, done: Completed) -> str | None:
        """Return the message of `Error: ...`, an unanswered prompt or a failed exit status; None on success."""
        error_text = next(errors(f"{done.stdout}\n{done.stderr}"), None)
        if error_text is not None:
            return error_text
        if "(y/n)" in done.stdout.lower():
            return f"it asked a question, which raidbench does not answer: {clean(done.stdout, 400)}"
        return (
            None if done.returncode == 0 else clean(done.stdout or done.stderr, 400) or f"exit status {done.returncode}"
        )
