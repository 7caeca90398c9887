"""Torn, spliced and spoiled answers of both tools: nothing raises, nothing takes long, nothing is invented."""

from __future__ import annotations

import asyncio
import os
import random
import re
import time
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.model import Inventory
from backends.topology import Topology, scan_topology
from backends.vendors.smartarray.arcconf import commands as arcconf_commands
from backends.vendors.smartarray.arcconf.parsing import card_text, numbers, refusal_reason, tasks
from backends.vendors.smartarray.arcconf.tool import Arcconf
from backends.vendors.smartarray.dialect import ArrayTool, PartView
from backends.vendors.smartarray.facts import CardText
from backends.vendors.smartarray.inventory import inventory
from backends.vendors.smartarray.readings import readings
from backends.vendors.smartarray.ssacli import commands as ssacli_commands
from backends.vendors.smartarray.ssacli.parsing import cards
from backends.vendors.smartarray.ssacli.sections import errors
from backends.vendors.smartarray.ssacli.tool import Ssacli
from tests.backends.fakes import FakeHost, machine
from tests.backends.patience import PATIENCE
from tests.backends.smartarray.test_ssacli_parsing import OLD
from tests.backends.smartarray.texts import NO_COLUMNS, SERIES, SMART, STATUS

pytestmark = pytest.mark.exhaustive

EXAMPLES = int(os.environ.get("RAIDBENCH_MUTATIONS", "400"))
"""How many a dialect; 10,000 for a release."""

NEW = """
HPE Smart Array P408i-a SR Gen10 in Slot 0 (Embedded)
   Controller Status: OK
   Cache Status: OK
   Cache Ratio: 20% Read / 80% Write
   Configured Drive Write Cache Policy: Enable
   Battery/Capacitor Status: OK

   Array: A
      Interface Type: Solid State SATA
      Smart Path: disable

      Logical Drive: 1
         Size: 1.75 TB
         Fault Tolerance: 6
         Strip Size: 256 KB
         Full Stripe Size: 512 KB
         Status: Transforming, 12% complete
         Caching:  Enabled
         LD Acceleration Method: Controller Cache

      physicaldrive 2I:1:1
         Status: OK
         Interface Type: Solid State SATA
         Size: 960 GB
"""
SEEDS: Mapping[str, tuple[str, ...]] = {"ssacli": (OLD, NEW), "arcconf": (SERIES, SMART, NO_COLUMNS, STATUS)}


def truncate(text: str, dice: random.Random) -> str:
    return text[: dice.randrange(len(text) + 1)]


def splice(text: str, dice: random.Random) -> str:
    other = dice.choice([seed for seeds in SEEDS.values() for seed in seeds])
    return text[: dice.randrange(len(text) + 1)] + other[dice.randrange(len(other) + 1) :]


def shuffle(text: str, dice: random.Random) -> str:
    lines = text.splitlines()
    start = dice.randrange(len(lines) + 1)
    part = lines[start : start + dice.randrange(2, 30)]
    dice.shuffle(part)
    return "\n".join([*lines[:start], *part, *lines[start + len(part) :]])


def indent(text: str, dice: random.Random) -> str:
    return "\n".join(" " * dice.randrange(9) + line.lstrip() for line in text.splitlines())


def flip(text: str, dice: random.Random) -> str:
    raw = bytearray(text.encode())
    for _ in range(dice.randrange(1, 12)):
        raw[dice.randrange(len(raw))] ^= 1 << dice.randrange(8)
    return raw.decode("utf-8", "replace")


def renumber(text: str, dice: random.Random) -> str:
    word = dice.choice(["N/A", "-1", "1e400", "1.2.3", "1,000,00", "NaN", "9" * 5000, "0x1f", "１２", "", "1" * 17])
    numbers = list(re.finditer(r"\d+(?:\.\d+)?", text))
    if not numbers:
        return text
    found = dice.choice(numbers)
    return text[: found.start()] + word + text[found.end() :]


def translate(text: str, dice: random.Random) -> str:
    words = list(re.finditer(r"[A-Za-z]{4,}", text))
    if not words:
        return text
    found = dice.choice(words)
    return text[: found.start()] + dice.choice(["Zwischenspeicher", "état", "缓存", "", "("]) + text[found.end() :]


def widen(text: str, dice: random.Random) -> str:
    return text.encode(dice.choice(["utf-16", "utf-16-be", "utf-32"])).decode("utf-8", "replace")


MUTATIONS: tuple[Callable[[str, random.Random], str], ...] = (
    truncate, splice, shuffle, indent, flip, renumber, translate, widen,
)  # fmt: skip


@pytest.fixture(scope="module")
def picture() -> Topology:
    return asyncio.run(scan_topology(FakeHost(machine())))


def shown(text: CardText, tool: ArrayTool, picture: Topology) -> Inventory:
    """All that is made of an answer: the inventory, and every reading of everything."""
    family = text.card.family
    readings(PartView(text=text, tool=tool), family)
    for volume in text.volumes:
        readings(PartView(text=text, tool=tool, volume=volume), family)
    for drive in text.drives:
        readings(PartView(text=text, tool=tool, drive=drive), family)
    return inventory("/slot0", text, None, tool.tool, picture)


def _ssacli(text: str) -> tuple[CardText, ...]:
    list(errors(text))
    ssacli_commands.options(text)
    return cards(text)


def _arcconf(text: str) -> tuple[CardText, ...]:
    numbers(text)
    refusal_reason(text)
    tasks(text)
    words = arcconf_commands.SetcacheOptions(text)
    assert words.noprompt_words("cacheratio") in (None, (), ("noprompt",))
    assert words.caching is None or len(words.caching) == 2
    found = card_text(text, 1, status=text)
    return () if found is None else (found,)


PARSERS: Mapping[str, Callable[[str], tuple[CardText, ...]]] = {"ssacli": _ssacli, "arcconf": _arcconf}
TOOLS: Mapping[str, ArrayTool] = {
    "ssacli": Ssacli(FakeHost({}), "/usr/sbin/ssacli"),
    "arcconf": Arcconf(FakeHost({}), "/usr/sbin/arcconf"),
}


def everything(dialect: str, text: str, picture: Topology) -> None:
    for one in PARSERS[dialect](text):
        shown(one, TOOLS[dialect], picture)


@pytest.mark.parametrize("dialect", sorted(SEEDS))
def test_no_spoiled_answer_raises(dialect: str, picture: Topology) -> None:
    for number in range(EXAMPLES):
        dice = random.Random(f"{dialect}{number}")
        text = dice.choice(SEEDS[dialect])
        for _ in range(dice.randrange(1, 4)):
            text = dice.choice(MUTATIONS)(text, dice) or " "
        try:
            everything(dialect, text, picture)
        except Exception as error:
            raise AssertionError(f"{dialect} {number}: {text!r}") from error


@pytest.mark.parametrize("dialect", sorted(SEEDS))
@settings(max_examples=EXAMPLES // 4, deadline=None)
@given(text=st.text())
def test_any_text(dialect: str, text: str) -> None:
    PARSERS[dialect](text)


@pytest.mark.parametrize("dialect", sorted(SEEDS))
def test_what_is_found_stands_in_the_answer(dialect: str) -> None:
    for number in range(EXAMPLES):
        dice = random.Random(number)
        text = dice.choice(MUTATIONS[:4])(dice.choice(SEEDS[dialect]), dice)
        found = next(iter(PARSERS[dialect](text)), None)
        if found is None:
            continue
        plain = " ".join(text.split())
        told = [one.serial for one in found.drives] + [found.card.serial, found.card.model]
        assert all(word in plain for word in told if word is not None), number


@pytest.mark.parametrize("dialect", sorted(SEEDS))
def test_a_flood_is_read_in_time(dialect: str, picture: Topology) -> None:
    started = time.process_time()
    lines = ("(" * 500_000, "x: " * 300_000, " " * 1_000_000 + "x", "Array: A\n" * 30_000, "Device #1\n" * 30_000)
    rows = ("X in Slot 0" + " (a)" * 400 + "x", " (" * 900, "x" + " " * 1900 + "x")
    more = (*(f"{row}\n" * 500 for row in rows), "\n" * 60_000)
    for text in (*lines, *more, "\nSmart Array X in Slot 0\n" + "   Logical Drive: 1\n" * 30_000, "Error:\n" * 30_000):
        everything(dialect, text, picture)
    assert time.process_time() - started < PATIENCE
