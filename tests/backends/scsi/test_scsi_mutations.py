"""Torn, mixed and garbled answers: nothing raised, nothing invented, no time lost.

`RAIDBENCH_MUTATIONS` sets how many for each parser; a few hundred without it.
"""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.text import clean
from backends.vendors.scsi import hdparm, sdparm
from backends.vendors.scsi.smartctl import parse_smartctl
from tests.backends.patience import PATIENCE
from tests.backends.scsi.texts import ALL

pytestmark = pytest.mark.exhaustive

BASES = list(ALL.values())
MANY = int(os.environ.get("RAIDBENCH_MUTATIONS", "300"))
NUMBERS = ("N/A", "-1", "1e400", "9" * 400, "", "0", "٣", "nan", "null", "true", "18446744073709551616")
CONTROLS = '\0\x07\x0b\x0c\r\x1b\x1c\x85\u2028\u202e\ufeff\ufffd[]:="{}'

PARSERS: dict[str, Callable[[str], object]] = {
    "hdparm": hdparm.parse_hdparm,
    "hdparm's refusal": hdparm.refusal,
    "sdparm": sdparm.parse_sdparm,
    "sdparm's refusal": lambda text: sdparm.refusal(5, text),
    "smartctl": parse_smartctl,
}

OURS = ("exit status 5",)
"""Words that a parser says of its own."""


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


ACCIDENTS = (_cut, _splice, _shuffle, _flip, _renumber, _widen, _control)
mutated = st.builds(torn, st.sampled_from(BASES), st.integers(0, 2**32))


def said(found: object) -> Iterator[str | int]:
    """Every string and number in a result."""
    match found:
        case bool() | None:
            pass
        case str() | int():
            yield found
        case dict():
            for value in found.values():
                yield from said(value)
        case _ if is_dataclass(found):
            for each in fields(found):
                yield from said(getattr(found, each.name))
        case _:
            raise AssertionError(type(found))


def bare(text: str) -> str:
    """Letters and digits alone: cleaning and JSON's escapes change the rest."""
    plain = re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), text)
    return re.sub(r"[\W_]+|\\[nrtbf]", "", plain)


def check(name: str, text: str) -> None:
    """One parser on one text."""
    began = time.process_time()
    found = PARSERS[name](text)
    assert time.process_time() - began < PATIENCE
    source = bare(text)
    for word in said(found):
        if isinstance(word, int):
            assert str(word) in text
        elif word not in OURS:
            parts = re.findall(r"\w+", re.sub("_", " ", word.removesuffix("…")))
            assert all(bare(part) in source for part in parts if part not in ("attribute",)), word


@pytest.mark.parametrize("name", PARSERS)
def test_nothing_is_raised_nothing_invented_and_no_time_lost(name: str) -> None:
    settings(max_examples=MANY, deadline=None, database=None)(given(st.just(name), mutated)(check))()


@given(st.text(max_size=400))
def test_any_text_at_all_is_no_exception(text: str) -> None:
    for parse in PARSERS.values():
        parse(text)


@given(st.text(max_size=200))
def test_what_is_shown_is_clean(text: str) -> None:
    for found in hdparm.parse_hdparm(f" write-caching = {text}").values():
        assert clean(found.raw) == found.raw


@pytest.mark.parametrize(
    "text",
    [
        "\n" * 300_000,
        " " * 300_000,
        " write-caching =" * 30_000,
        " write-caching = " + " " * 300_000,
        "WCE " * 60_000,
        "WCE 1 [" * 30_000,
        "WCE 1 " + " " * 300_000,
        "HDIO_A(" * 30_000,
        "HDIO_" + "A" * 300_000,
        '{"smartctl": {"messages": [' + "{}," * 60_000 + "{}]}}",
    ],
    ids=range(10),
)
@pytest.mark.parametrize("name", PARSERS)
def test_no_text_takes_long(name: str, text: str) -> None:
    began = time.process_time()
    PARSERS[name](text)
    assert time.process_time() - began < PATIENCE
