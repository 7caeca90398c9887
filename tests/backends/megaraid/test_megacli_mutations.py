"""Torn, mixed and garbled answers: nothing raised, nothing invented, no time lost.

`RAIDBENCH_MUTATIONS` sets how many for each parser; a few hundred without it.
"""

from __future__ import annotations

import functools
import os
import random
import re
import time
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from decimal import Decimal
from enum import Enum

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.host import Command, Completed
from backends.vendors._cards import BackgroundOperation, ReportedValue
from backends.vendors.megaraid.megacli import adapter, drives, progress, verdict, volumes
from backends.vendors.megaraid.megacli import settings as megacli_settings
from tests.backends.megaraid.megacli_texts import ALL
from tests.backends.patience import PATIENCE
from tests.recordings import SAMPLES

pytestmark = pytest.mark.exhaustive

BASES = [*ALL.values(), *(path.read_text(errors="replace") for path in sorted(SAMPLES.glob("lsi/megacli/*.txt")))]
MANY = int(os.environ.get("RAIDBENCH_MUTATIONS", "300"))
NUMBERS = ("N/A", "-1", "1e400", "9" * 400, "", "0", "0x", "٣", "nan", "18446744073709551616")
CONTROLS = "\0\x07\x0b\x0c\r\x1b\x1c\x85\u2028\u202e\ufeff\ufffd[]:="

PARSERS: dict[str, Callable[[str], object]] = {
    "volumes": volumes.parse_volumes,
    "drives": drives.parse_drives,
    "background": volumes.parse_background,
    "adapter": lambda text: adapter.parse_adapter(text, 0),
    "adapter of another number": lambda text: adapter.parse_adapter(text, 3),
    "promise": lambda text: adapter.parse_announced_counts(text, 0),
    "numbers": adapter.card_numbers,
    "count": adapter.parse_count,
    "version": adapter.parse_version,
    "pci": lambda text: adapter.parse_pci(text, 0),
    "features": adapter.parse_features,
    "patrol read": adapter.parse_patrol_read,
    "consistency check": adapter.parse_consistency_check,
    "queueing": megacli_settings.ncq_setting,
    "patrol read besides": megacli_settings.patrol_read_settings,
    "check besides": megacli_settings.check_settings,
    "battery": adapter.parse_battery,
    "volume progress": progress.volume_progress,
    "drive progress": progress.drive_progress,
}


def torn(text: str, seed: int) -> str:
    """The text after one to four accidents."""
    chance = random.Random(seed)
    for _ in range(chance.randint(1, 4)):
        text = chance.choice(ACCIDENTS)(text, chance)[:60_000]
    return text


def _cut(text: str, chance: random.Random) -> str:
    return text[: chance.randint(0, len(text))]


def _splice(text: str, chance: random.Random) -> str:
    other = chance.choice(BASES)
    start, at = chance.randint(0, len(other)), chance.randint(0, len(text))
    return text[:at] + other[start : start + chance.randint(0, 400)] + text[at:]


def _shuffle(text: str, chance: random.Random) -> str:
    rows = text.split("\n")
    chance.shuffle(rows)
    return "\n".join(rows)


def _double(text: str, chance: random.Random) -> str:
    rows = text.split("\n")
    start = chance.randrange(len(rows))
    return "\n".join(rows[: start + 1] + rows[start : start + chance.randint(1, 40)] + rows[start + 1 :])


def _flip(text: str, chance: random.Random) -> str:
    data = bytearray(text.encode(errors="replace"))
    for _ in range(min(len(data), chance.randint(1, 30))):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return data.decode(errors="replace")


def _renumber(text: str, chance: random.Random) -> str:
    share = chance.random()
    return re.sub(r"\d+", lambda match: chance.choice(NUMBERS) if chance.random() < share else match[0], text)


def _widen(text: str, chance: random.Random) -> str:
    return text.encode("utf-16", errors="replace").decode(errors="replace")


def _control(text: str, chance: random.Random) -> str:
    for _ in range(chance.randint(1, 20)):
        at = chance.randint(0, len(text))
        text = text[:at] + chance.choice(CONTROLS) * chance.randint(1, 3) + text[at:]
    return text


def _squeeze(text: str, chance: random.Random) -> str:
    return re.sub(r" +", chance.choice(("", " ", "\t", " " * 50)), text)


ACCIDENTS = (_cut, _splice, _shuffle, _double, _flip, _renumber, _widen, _control, _squeeze)
mutated = st.builds(torn, st.sampled_from(BASES), st.integers(0, 2**32))


@functools.lru_cache(maxsize=4)
def bare(text: str) -> str:
    """Without what cleaning may change: blanks, control characters, marks; rows kept apart."""
    kept = (char for char in text.lower() if char == "\n" or unicodedata.category(char)[0] not in "CMZ")
    return "".join(char for char in kept if char not in "\ufffd…")


def said(found: object) -> Iterator[str | int | float]:
    """Every string and number in a result that has to come from the text: our own words are left out."""
    match found:
        case ReportedValue():
            yield found.raw
        case BackgroundOperation():
            yield found.state
            if found.progress is not None:
                yield round(found.progress * 100)
        case bool() | None | Enum():
            pass
        case str() | int() | float():
            yield found
        case dict():
            for key, value in found.items():
                if isinstance(key, int):
                    yield key
                yield from said(value)
        case tuple() | list():
            for value in found:
                yield from said(value)
        case _ if is_dataclass(found):
            for each in fields(found):
                if each.name not in ("kind", "interface", "drives", "refused"):
                    yield from said(getattr(found, each.name))
        case _:
            raise AssertionError(type(found))


@functools.lru_cache(maxsize=2)
def numbers_of(text: str) -> set[int]:
    """Every number that the digits of a text can stand for, in any unit."""
    plain = {Decimal(match) for match in re.findall(r"[0-9]{1,25}(?:\.[0-9]{1,12})?", text)}
    plain |= {Decimal(match[1]) for match in re.finditer(r"(?=([0-9]{1,15}))", text)}
    plain |= {Decimal(match.replace(",", "")) for match in re.findall(r"[0-9]{1,3}(?:,[0-9]{3})+", text)}  # 2,727 TB
    found = {way(number * 1024**power) for number in plain for power in range(7) for way in (int, round)}
    sectors = {int(match, 16) for match in re.findall(r"\[0x([0-9a-fA-F]{1,14})", text)}
    widths = {512, *(int(number) for number in plain if number < 100_000)}
    return found | {0, 1, 3} | {count * width for count in sectors for width in widths}


def check(name: str, text: str) -> None:
    """One parser on one text."""
    began = time.process_time()
    found = PARSERS[name](text)
    assert time.process_time() - began < PATIENCE
    words = list(said(found))
    if not words:
        return
    source = bare(text)
    numbers = {abs(number) for number in (word for word in words if isinstance(word, int))}
    assert not numbers or numbers <= numbers_of(text)
    for word in words:
        if isinstance(word, str) and name != "pci":
            parts = [word] if bare(word) in source else word.split(", ")  # two lines that make one word
            assert all(bare(part) in source for part in parts), word


@pytest.mark.parametrize("name", PARSERS)
def test_nothing_is_raised_nothing_invented_and_no_time_lost(name: str) -> None:
    settings(max_examples=MANY, deadline=None, database=None)(given(st.just(name), mutated)(check))()


@settings(max_examples=MANY, deadline=None, database=None)
@given(mutated, st.sampled_from(["-LDSetProp WT -L1 -a0", "-CfgLdDel -L1 -a0", "-CfgLDAdd -R0[1:1] -a0", ""]))
def test_a_verdict_is_always_given(text: str, line: str) -> None:
    began = time.process_time()
    command = Command(argv=("/MegaCli64", *line.split()), mutates=True, secret=("Adapter",))
    answer = verdict.judge(command, Completed(returncode=0, stdout=text, stderr=""))
    assert time.process_time() - began < PATIENCE
    assert "Adapter" not in answer.message
    assert answer.message or answer.ok


@given(st.text(max_size=400))
def test_any_text_at_all_is_no_exception(text: str) -> None:
    for parse in PARSERS.values():
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "\n" * 300_000,
        " " * 300_000,
        ":" * 300_000,
        "Exit Code: " * 30_000,
        "Virtual Drive: 1\n" * 20_000,
        "Name" + " " * 300_000 + ": x",
        "VD 1 (target id " * 20_000,
        "Slot Number: 1\n" * 20_000,
    ],
    ids=range(8),
)
@pytest.mark.parametrize("name", PARSERS)
def test_no_text_takes_long(name: str, text: str) -> None:
    began = time.process_time()
    PARSERS[name](text)
    assert time.process_time() - began < PATIENCE


def test_ten_times_the_drives_take_ten_times_as_long() -> None:
    def seconds(count: int) -> float:
        listed = ALL["pdlist"].partition("Adapter #0")[2]
        again = (re.sub(r"(?<=Slot Number: )", f"{number}", listed) for number in range(1, count // 3 + 1))
        text = "Adapter #0\n\n" + "".join(again)
        began = time.process_time()
        assert len(drives.parse_drives(text)) == count
        return time.process_time() - began

    assert seconds(3000) < 30 * max(seconds(300), 0.01)
