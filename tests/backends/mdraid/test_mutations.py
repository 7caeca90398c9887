"""Torn, mixed and garbled files of md: nothing raised, nothing invented, no time lost.

`RAIDBENCH_MUTATIONS` sets how many for each parser; a few hundred without it.
"""

from __future__ import annotations

import functools
import os
import random
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.model import State
from backends.topology import Topology, tree_of
from backends.vendors.mdraid.details import parse_export, parse_platforms, parse_unused
from backends.vendors.mdraid.facts import ArrayFacts, parse_array, parse_limit, parse_mdstat, parse_moving, parse_uuid
from backends.vendors.mdraid.inventory import array_of
from backends.vendors.mdraid.readings import ArrayView, readings
from backends.vendors.mdraid.reshape import hours_text
from backends.vendors.mdraid.settings import outline_of
from backends.vendors.mdraid.sysfs import count_cpus
from tests.backends.mdraid.machines import array
from tests.backends.mdraid.test_imsm import VROC
from tests.backends.mdraid.test_reading import STAT
from tests.backends.patience import PATIENCE

pytestmark = pytest.mark.exhaustive

MANY = int(os.environ.get("RAIDBENCH_MUTATIONS", "300"))
NUMBERS = ("N/A", "-1", "1e400", "9" * 400, "", "0", "٣", "nan", "18446744073709551616", "none", "max", "(", "5 (4")
EXPORT = "MD_LEVEL=raid5\nMD_DEVICES=4\nMD_NAME=lab:r5\nMD_UUID=6689836f:97e6caec:c09b0e7b:40aefd16\n"
EXAMINE = "    Data Offset : 2048 sectors\n   Unused Space : before=1968 sectors, after=391168 sectors\n"

PARSERS: dict[str, Callable[[str], object]] = {
    "mdstat": parse_mdstat,
    "export": parse_export,
    "unused": parse_unused,
    "platform": parse_platforms,
    "moving": parse_moving,
    "limit": parse_limit,
    "uuid": parse_uuid,
    "cpus": count_cpus,
}


def torn(text: str, seed: int) -> str:
    """The text after one to four accidents."""
    chance = random.Random(seed)
    for _ in range(chance.randint(1, 4)):
        at = chance.randint(0, len(text))
        match chance.randint(0, 4):
            case 0:
                text = text[:at]
            case 1:
                text = text[:at] + chance.choice(("\0", "\x1b", "\ufffd", "[", "]", " : ", "\n")) + text[at:]
            case 2:
                rows = text.split("\n")
                chance.shuffle(rows)
                text = "\n".join(rows)
            case 3:
                text = text[:at] + text[at // 2 :]
            case _:
                text = "".join(chance.choice(NUMBERS) if c.isdigit() and chance.random() < 0.3 else c for c in text)
        text = text[:20_000]
    return text


BASES = [STAT, EXPORT, EXAMINE, VROC, "131072 (65536)", "200000 (system)", "0-3,8"]


def said(found: object) -> Iterator[str | int]:
    """Every string and number in a result that has to come from the text."""
    match found:
        case bool() | None:
            pass
        case str() | int():
            yield found
        case float():
            yield round(found * 1000)
        case tuple():
            for value in found:
                yield from said(value)
        case dict():
            for key, value in found.items():
                yield from (*said(key), *said(value))
        case _ if is_dataclass(found):
            for each in fields(found):
                yield from said(getattr(found, each.name))
        case _:
            raise AssertionError(type(found))


def bare(text: str) -> str:
    """Without what cleaning changes."""
    return re.sub(r"[\W_]+", "", text)


@functools.lru_cache(maxsize=2)
def numbers_of(text: str) -> set[int]:
    """Every number that digits of a text can stand for: plain, with a sign, in sectors, as a share in per cent."""
    plain = {int(match[1]) for match in re.finditer(r"(?=(-?[0-9]{1,40}))", text)}
    shares = {int(match.replace(".", "")) for match in re.findall(r"[0-9]{1,3}\.[0-9]", text)}
    return plain | shares | {number * 512 for number in plain}


def check(name: str, text: str) -> None:
    """One parser on one text; processors are counted up, so their number stands nowhere."""
    began = time.process_time()
    found = PARSERS[name](text)
    assert time.process_time() - began < PATIENCE
    source = bare(text)
    for word in said(found) if name != "cpus" else ():
        if isinstance(word, int):
            assert word in numbers_of(text), word
        else:
            assert all(bare(part) in source for part in word.removesuffix("…").split("\ufffd")), word


@pytest.mark.parametrize("name", PARSERS)
def test_nothing_is_raised_nothing_invented_and_no_time_lost(name: str) -> None:
    texts = st.builds(torn, st.sampled_from(BASES), st.integers(0, 2**32)) | st.text(max_size=200)
    settings(max_examples=MANY, deadline=None, database=None)(given(st.just(name), texts)(check))()


LEVELS = ("raid0", "raid1", "raid4", "raid5", "raid6", "raid10", "linear", "")


def garbled(seed: int) -> ArrayFacts:
    """An array whose files are partly gone, partly other files', partly rubbish."""
    chance = random.Random(seed)
    files = array(chance.choice(LEVELS))
    base = "/sys/block/md0/md/"
    own = {path.removeprefix(base): text for path, text in files.items() if path.startswith(base)}
    texts = list(own.values())
    for key in list(own):
        match chance.randint(0, 9):
            case 0:
                del own[key]
            case 1:
                own[key] = chance.choice(texts)
            case 2:
                own[key] = torn(own[key] or "x", seed)
            case 3:
                own[key] = chance.choice(NUMBERS)
            case _:
                pass
    members: dict[str, dict[str, str]] = {}
    for key in [key for key in own if key.startswith("dev-")]:
        name, _, attribute = key.removeprefix("dev-").partition("/")
        members.setdefault(name, {})[attribute] = own.pop(key)
    return parse_array("md0", own, members, parse_mdstat(torn(STAT, seed)).get("md9"))


@settings(max_examples=MANY * 3, deadline=None, database=None)
@given(st.integers(0, 2**32))
def test_an_array_of_garbled_files_is_shown_all_the_same(seed: int) -> None:
    facts = garbled(seed)
    found = array_of(facts, Topology(tree=tree_of(())), {"md0": facts}, {})
    view = ArrayView(array=facts, outline=outline_of(facts, 4096), memory_bytes=1 << 31, cpus=4)
    for key, reading in readings(view).items():
        legal = {choice.value for choice in reading.choices}
        if reading.now not in (None, "unknown") and reading.choices and reading.availability.available:
            assert reading.now in legal, key
    assert isinstance(found.state, State)
    assert all(fact.value and "\x1b" not in fact.value and "\0" not in fact.value for fact in found.facts)
    assert hours_text(facts, 200_000)


@pytest.mark.parametrize(
    "text",
    [
        "\n" * 300_000,
        " " * 300_000,
        "md0 : active raid5 " + "sda[0] " * 50_000,
        "[=>..] resync" * 30_000,
        "MD_" * 100_000,
    ],
    ids=range(5),
)
@pytest.mark.parametrize("name", PARSERS)
def test_no_text_takes_long(name: str, text: str) -> None:
    began = time.process_time()
    PARSERS[name](text)
    assert time.process_time() - began < PATIENCE
