"""Answers of simulated tools that are about another object, or name one twice: nothing of them may be believed.

The truth is what a backend says of a simulated machine. Then one answer is exchanged for that of another object, gets
that one appended, or has a block twice. Each value that the backend still says has to be the true one.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from backends.errors import RaidbenchError
from backends.host import Command, Completed, Host
from backends.model import Inventory, Target
from backends.settings import Reading
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.table import MACHINES
from backends.system.wrapped import HostWrapper
from backends.vendors.lvm.backend import Lvm
from backends.vendors.megaraid.backend import MegaRaid
from backends.vendors.smartarray.backend import SmartArray
from backends.vendors.smcli.backend import Smcli
from backends.vendors.threeware.backend import Threeware
from backends.vendors.zfs.backend import Zfs
from tests.tally import Tally

FAST = 1e9


class Backend(Protocol):
    """What is asked of a backend here."""

    async def inventory(self) -> Inventory: ...

    async def read(self, target: Target) -> Mapping[str, Reading]: ...


@dataclass(frozen=True, slots=True)
class Bench:
    """A simulated machine and a backend that finds something on it."""

    rack: str
    make: Callable[[Host], Backend]


BENCHES = (
    Bench("lsi", MegaRaid),
    Bench("hpe", SmartArray),
    Bench("hpe", Smcli),
    Bench("linux", Lvm),
    Bench("linux", Zfs),
    Bench("arrays", Threeware),
)

NAMELESS = ("arcconf", "tw_cli", "zfs", "zpool")
"""Tools whose answers do not name the object that was asked for: docs/dev/vendor-settings.md lists them."""

_UNKNOWN = (None, "", "unknown", ())


class SpoilingHost(HostWrapper):
    """Notes every answer of a tool that only reads, and exchanges some."""

    def __init__(self, inner: Host) -> None:
        super().__init__(inner)
        self.answers: dict[tuple[str, ...], str] = {}
        self.instead: dict[tuple[str, ...], str] = {}

    async def run(self, command: Command) -> Completed:
        done = await self._inner.run(command)
        if command.mutates:
            return done
        self.answers.setdefault(command.argv, done.stdout)
        return replace(done, stdout=self.instead.get(command.argv, done.stdout))


Said = dict[str, object]
"""By object and field, what is believed."""


async def said(backend: Backend) -> Said:
    """Return everything that a backend says of each object, and of its settings."""
    found: Said = {}
    try:
        inventory = await backend.inventory()
    except RaidbenchError:
        return found
    for array in inventory.arrays:
        for name in ("level", "state", "size_bytes", "strip_bytes", "name", "members"):
            found[f"{array.target} {name}"] = getattr(array, name)
    for drive in inventory.drives:
        for name in ("model", "serial", "state", "wwn"):
            found[f"{drive.target} {name}"] = getattr(drive, name)
    targets = [array.target for array in inventory.arrays] + [card.target for card in inventory.controllers]
    for target in targets:
        try:
            readings = await backend.read(target)
        except RaidbenchError:
            continue
        for key, reading in readings.items():
            why = reading.availability.why_not or ""
            found[f"{target} setting {key}"] = None if "refused" in why else reading.now
    return found


def sisters(answers: Mapping[tuple[str, ...], str], argv: tuple[str, ...]) -> list[str]:
    """Return other answers to the same question about another object of the same kind."""

    def shape(words: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(re.sub(r"[0-9]+|(?<=/dev/sd)[a-z]+", "N", word) for word in words)

    return [text for other, text in answers.items() if shape(other) == shape(argv) and other != argv]


_BEGINS = re.compile(
    r"(?:Virtual Drive: |Enclosure Device ID: |Adapter #| +logicaldrive | +Logical Drive: | +physicaldrive "
    r"|Logical Device number | +Device #|.* name: |(?:Drive|Physical Disk) at )",
    re.IGNORECASE,
)
_OTHER_WORDS = {"Optimal": "Degraded", "OK": "Failed", "RAID 5": "RAID 0", "Primary-5": "Primary-0", "64 K": "256 K"}


def doubled(text: str, chance: random.Random) -> str | None:
    """Return the text with a block twice, the second time with other words; None where it has no blocks."""
    lines = text.split("\n")
    starts = [at for at, line in enumerate(lines) if _BEGINS.match(line)]
    if not starts:
        return None
    begin = chance.choice(starts)
    end = next((at for at in starts if at > begin), min(len(lines), begin + 20))
    block = "\n".join(lines[begin:end])
    for word, other in _OTHER_WORDS.items():
        block = block.replace(word, other)
    return None if block == "\n".join(lines[begin:end]) else "\n".join((*lines[:end], block, *lines[end:]))


_ROW = re.compile(r"(?:[cup][0-9]+ .*|[a-z]+[a-z0-9/]*\t.*)")
_VOLUME = re.compile(r'\{[^{}]*"lv_uuid"[^{}]*\}')
_OTHER_CELLS = {"OK": "DEGRADED", "RAID-5": "RAID-0", "lz4": "off", "on": "off", "131072": "4096", "linear": "striped"}


def with_row_twice(text: str, chance: random.Random) -> str | None:
    """Return the text with a row of a table twice, the second time with other cells; None where it has none."""
    volumes = list(_VOLUME.finditer(text))
    if volumes:
        row = chance.choice(volumes)
        other = re.sub(r'(?<="lv_uuid":")[A-Za-z0-9]{6}', "AAAAAA", row[0].replace('": "', '":"'))
        return f"{text[: row.end()]},{other}{text[row.end() :]}" if other != row[0] else None
    lines = text.split("\n")
    rows = [at for at, line in enumerate(lines) if _ROW.fullmatch(line)]
    if not rows:
        return None
    at = chance.choice(rows)
    cells = re.split(r"(\s+)", lines[at])
    line = "".join(_OTHER_CELLS.get(cell, cell) if place else cell for place, cell in enumerate(cells))
    return None if line == lines[at] else "\n".join((*lines[: at + 1], line, *lines[at + 1 :]))


def renamed(text: str, chance: random.Random) -> str | None:
    """Return JSON of storcli in which one row names another virtual drive than its heading; None for other text."""
    rows = list(re.finditer(r'(?<="DG/VD": ")[0-9]+/[0-9]+(?=")|(?<="DG/VD":")[0-9]+/[0-9]+(?=")', text))
    if len(rows) < 2:
        return None
    one, other = chance.sample(rows, 2)
    return text[: one.start()] + other[0] + text[one.end() :]


def spoiled(answers: Mapping[tuple[str, ...], str], argv: tuple[str, ...], chance: random.Random) -> str | None:
    """Return what a tool says instead; None where nothing of the kind can be made."""
    text = answers[argv]
    others = [] if Path(argv[0]).name.startswith(NAMELESS) else sisters(answers, argv)
    match chance.randrange(4):
        case 0 if others:
            return chance.choice(others)
        case 1 if others:
            return text + chance.choice(others)
        case 2 if others:
            return chance.choice(others) + text
        case _:
            return renamed(text, chance) or doubled(text, chance) or with_row_twice(text, chance)


def differences(truth: Said, seen: Said) -> list[str]:
    """Return what is believed and is not the truth, each in a line."""
    return [
        f"{where}: {value!r} instead of {truth.get(where)!r}"
        for where, value in seen.items()
        if value not in _UNKNOWN and value != truth.get(where)
    ]


def run(folder: Path, tries: int, seed: int) -> Tally:
    """Spoil so many answers, one at a time, on all machines in turn."""
    tally = Tally()
    chance = random.Random(seed)
    for number, bench in enumerate(BENCHES):
        share = len(range(number, tries, len(BENCHES)))
        asyncio.run(_tried(bench, share, chance, tally))
    return tally


async def _tried(bench: Bench, tries: int, chance: random.Random, tally: Tally) -> None:
    rack = MACHINES[bench.rack]()
    first = SpoilingHost(SimulatedHost(rack, speed=FAST))
    truth = await said(bench.make(first))
    tally.expect(bool(truth), f"nothing is found on {bench.rack} by {bench.make}")
    questions = [argv for argv, text in first.answers.items() if text.strip()]
    done = 0
    for _ in range(20 * tries):
        if done >= tries:
            break
        argv = chance.choice(questions)
        text = spoiled(first.answers, argv, chance)
        if text is None or text == first.answers[argv]:
            continue
        done += 1
        host = SpoilingHost(SimulatedHost(rack, speed=FAST))
        host.instead = {argv: text}
        wrong = differences(truth, await said(bench.make(host)))
        tally.expect(not wrong, f"{' '.join(argv)} {text[:60]!r}: {'; '.join(wrong[:3])}")
