"""Torn, mixed and garbled answers of nvme-cli: nothing raised, nothing invented, no time lost.

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

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.host import Completed
from backends.vendors.nvme.identify import (
    parse_changeable,
    parse_id_ctrl,
    parse_id_ns,
    parse_list_ns,
    parse_smart_log,
    parse_value,
)
from backends.vendors.nvme.tool import refusal
from tests.backends.nvme import texts
from tests.backends.patience import PATIENCE
from tests.recordings import SAMPLES

pytestmark = pytest.mark.exhaustive

BASES = [*texts.ALL, *(path.read_text(errors="replace") for path in sorted(SAMPLES.glob("nvme/nvme-cli/*")))]
MANY = int(os.environ.get("RAIDBENCH_MUTATIONS", "300"))
NUMBERS = ("N/A", "-1", "1e400", "9" * 400, "", "0", "0x", "٣", "nan", "18446744073709551616", "1.5")
CONTROLS = "\0\x07\x0b\x0c\r\x1b\x1c\x85\u2028\u202e\ufeff\ufffd[]:={}"

PARSERS: dict[str, Callable[[str], object]] = {
    "id-ctrl": parse_id_ctrl,
    "id-ns": parse_id_ns,
    "smart-log": parse_smart_log,
    "list-ns": parse_list_ns,
    "feature": lambda text: parse_value(text, 6),
    "capabilities": lambda text: parse_changeable(text, 6),
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
    lines = text.split("\n")
    chance.shuffle(lines)
    return "\n".join(lines)


def _banner(text: str, chance: random.Random) -> str:
    return f"{chance.choice(BASES)}\n{text}" if chance.random() < 0.5 else f"warning: {{old}} tool\n{text}\n{text}"


def _flip(text: str, chance: random.Random) -> str:
    data = bytearray(text.encode(errors="replace"))
    for _ in range(min(len(data), chance.randint(1, 30))):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return data.decode(errors="replace")


def _renumber(text: str, chance: random.Random) -> str:
    share = chance.random()
    return re.sub(r"\d+", lambda match: chance.choice(NUMBERS) if chance.random() < share else match[0], text)


def _retype(text: str, chance: random.Random) -> str:
    """A member of the JSON becomes something of another kind."""
    other = chance.choice(("null", "true", "[]", "{}", '"x"', "[[[1]]]", '{"value":{"value":1}}', "1.5", "-3"))
    return re.sub(r":\s*[^,\n}]+", lambda match: f":{other}" if chance.random() < 0.3 else match[0], text)


def _widen(text: str, chance: random.Random) -> str:
    return text.encode("utf-16", errors="replace").decode(errors="replace")


def _control(text: str, chance: random.Random) -> str:
    for _ in range(chance.randint(1, 20)):
        at = chance.randint(0, len(text))
        text = text[:at] + chance.choice(CONTROLS) * chance.randint(1, 3) + text[at:]
    return text


ACCIDENTS = (_cut, _splice, _shuffle, _banner, _flip, _renumber, _retype, _widen, _control)
mutated = st.builds(torn, st.sampled_from(BASES), st.integers(0, 2**32))


def bare(text: str) -> str:
    """Without what cleaning and JSON's escapes may change: blanks, control characters, marks, backslashes."""
    kept = (char for char in text.lower() if unicodedata.category(char)[0] not in "CMZ")
    return "".join(char for char in kept if char not in "\ufffd…\\")


def said(found: object) -> Iterator[str | int]:
    """Every string and number in a result that has to come from the text."""
    match found:
        case bool() | None:
            pass
        case str() | int():
            yield found
        case float():
            yield from {round(found * 100), round(found * 10_000)} if found * 100 == round(found * 100) else ()
        case tuple():
            for value in found:
                yield from said(value)
        case _ if is_dataclass(found):
            for each in fields(found):
                if each.name not in ("index", "number"):
                    yield from said(getattr(found, each.name))
        case _:
            raise AssertionError(type(found))


@functools.lru_cache(maxsize=2)
def numbers_of(text: str) -> set[int]:
    """Every number that the digits of a text can stand for: decimal or hexadecimal, as a power of two, in Kelvin."""
    plain = {int(match[1]) for match in re.finditer(r"(?=([0-9]{1,39}))", text)}
    plain |= {int(match[1].replace(",", "")) for match in re.finditer(r"(?=([0-9][0-9,]{1,52}))", text)}
    hexed = {int(match[1], 16) for match in re.finditer(r"(?=([0-9a-fA-F]{1,32}))", text)}
    decimals = re.findall(r"-?[0-9]{1,30}\.?[0-9]{0,30}(?:[eE]\+?[0-9]{1,2})?", text)
    floats = {round(float(match) * times) for match in decimals for times in (1, 100, 10_000)}
    floats |= {int(float(match)) for match in decimals}
    every = {abs(number) for number in plain | hexed | floats}
    small = {number for number in every if number < 256}
    derived = {1 << number for number in small if number < 64} | {number & 7 for number in small}
    derived |= {number & 15 for number in small} | {number & 15 | (number & 0x60) >> 1 for number in small}
    derived |= {number + 273 for number in every} | {abs(number - 273) for number in every if number < 1000}
    return every | derived | {number * 100 for number in every} | {number * 10_000 for number in every} | {0}


def check(name: str, text: str) -> None:
    """One parser on one text."""
    began = time.process_time()
    found = PARSERS[name](text)
    assert time.process_time() - began < PATIENCE
    words = list(said(found))
    source = bare(text)
    assert all(bare(word) in source for word in words if isinstance(word, str))
    numbers = {word for word in words if isinstance(word, int)}
    assert not numbers or numbers <= numbers_of(text)


@pytest.mark.parametrize("name", PARSERS)
def test_nothing_is_raised_nothing_invented_and_no_time_lost(name: str) -> None:
    settings(max_examples=MANY, deadline=None, database=None)(given(st.just(name), mutated)(check))()


@settings(max_examples=MANY, deadline=None, database=None)
@given(mutated, st.integers(-15, 255))
def test_a_failure_is_never_taken_for_success(text: str, status: int) -> None:
    words = refusal(Completed(returncode=status, stdout=text, stderr=""))
    assert bool(words) or status == 0


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
        "{" * 300_000,
        "[" * 300_000 + "}",
        '{"a":' * 50_000 + "1" + "}" * 50_000,
        '{"vwc":' + "9" * 5000 + "}",
        "lbaf  0 : ms:" * 20_000,
        "ps      0 : mp:" * 20_000,
        "get-feature:0x06 (" * 20_000,
        "get-feature:0x06 (a), " + "a " * 150_000,
        "NVMe status:" + " " * 300_000,
        "vwc : 0x7\n" * 30_000,
    ],
    ids=range(13),
)
@pytest.mark.parametrize("name", [*PARSERS, "refusal"])
def test_no_text_takes_long(name: str, text: str) -> None:
    parse = PARSERS.get(name) or (lambda text: refusal(Completed(returncode=0, stdout=text, stderr="")))
    began = time.process_time()
    parse(text)
    assert time.process_time() - began < PATIENCE


def test_the_beginning_of_an_answer_never_gives_another_number() -> None:
    whole = parse_id_ctrl(texts.ID_CTRL_JSON)
    for end in range(len(texts.ID_CTRL_JSON)):
        found = parse_id_ctrl(texts.ID_CTRL_JSON[:end])
        assert found.vwc in (None, whole.vwc)
        assert found.fna in (None, whole.fna)
