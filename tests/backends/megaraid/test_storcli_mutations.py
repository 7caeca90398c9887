"""Torn, spliced and spoiled answers: nothing raises, nothing takes long, nothing is invented."""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from enum import Enum

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backends.vendors._cards import UNKNOWN, ReportedValue
from backends.vendors.megaraid.facts import Card
from backends.vendors.megaraid.storcli import battery, cards
from backends.vendors.megaraid.storcli import properties as besides
from backends.vendors.megaraid.storcli.document import replies
from backends.vendors.megaraid.storcli.drives import drives, rebuilds
from backends.vendors.megaraid.storcli.fields import Fields
from backends.vendors.megaraid.storcli.verdict import judge
from backends.vendors.megaraid.storcli.volumes import auto_bgi, volumes
from tests.backends.megaraid import answers
from tests.backends.megaraid.answers import answer, drive_row, properties, show_all, topology, volume_row
from tests.backends.patience import PATIENCE

pytestmark = pytest.mark.exhaustive

EXAMPLES = int(os.environ.get("RAIDBENCH_MUTATIONS", "400"))
"""How many a parser; 10,000 for a release."""

PLACES = ("245:1", "245:2", "245:3")
WHOLE = answer(
    show_all(
        volumes=[volume_row()],
        drives=[drive_row(place) for place in PLACES],
        groups=topology(*PLACES),
        options={"MegaRAID FastPath": "Unlimited"},
        protection={"Model": "iBBU08", "State": "Optimal", "Temp": "34C", "Next Learn": "2027/01/01  00:00:00"},
    )
)
VOLUMES = answer(
    {"/c0/v1": [volume_row()], "PDs for VD 1": [drive_row(place) for place in PLACES], "VD1 Properties": properties()}
)
DRIVES = answer({key: value for place in PLACES for key, value in answers.details(place).items()})
SMALL = answer(answers.property_table(PR_Mode="Auto", PR_Current_State="Active 1", CC_Mode="Concurrent", Perf_Mode="0"))
BATTERY = answer(answers.battery())
SET = answer(rows=[{"VD": 1, "Property": "wrCache", "Value": "WT", "Status": "Success", "ErrCd": 0, "ErrMsg": "-"}])
TEXT = """CLI Version = 007.1017.0000.0000 May 10, 2019
Controller = 0
Status = Success
Description = None

VD LIST :
=======

---------------------------------------------------------------
DG/VD TYPE  State Access Consist Cache Cac sCC       Size Name
---------------------------------------------------------------
0/5   RAID6 Optl  RW     Yes     RWBD  -   ON    1.819 TB data
---------------------------------------------------------------

VD5 Properties :
==============
Strip Size = 256 KB
Span Depth = 1
Number of Drives Per Span = 8

Physical Drives = 1

PD LIST :
=======

-----------------------------------------------------------------------------
EID:Slt DID State DG     Size Intf Med SED PI SeSz Model             Sp Type
-----------------------------------------------------------------------------
252:3     2 Onln   0 3.637 TB SATA HDD N   N  512B HUS726040ALA610   U  -
-----------------------------------------------------------------------------
"""
SEEDS = (WHOLE, VOLUMES, DRIVES, SMALL, BATTERY, SET, TEXT)


def truncate(text: str, dice: random.Random) -> str:
    return text[: dice.randrange(len(text) + 1)]


def splice(text: str, dice: random.Random) -> str:
    other = dice.choice(SEEDS)
    return text[: dice.randrange(len(text) + 1)] + other[dice.randrange(len(other) + 1) :]


def repeat(text: str, dice: random.Random) -> str:
    lines = text.splitlines()
    at = dice.randrange(len(lines) + 1)
    return "\n".join(lines[:at] + lines[max(0, at - dice.randrange(40)) :])


def shuffle(text: str, dice: random.Random) -> str:
    lines = text.splitlines()
    start = dice.randrange(len(lines) + 1)
    part = lines[start : start + dice.randrange(2, 30)]
    dice.shuffle(part)
    return "\n".join([*lines[:start], *part, *lines[start + len(part) :]])


def flip(text: str, dice: random.Random) -> str:
    raw = bytearray(text.encode())
    for _ in range(dice.randrange(1, 12)):
        raw[dice.randrange(len(raw))] ^= 1 << dice.randrange(8)
    return raw.decode("utf-8", "replace")


def renumber(text: str, dice: random.Random) -> str:
    word = dice.choice(["N/A", "-1", "1e400", "null", "NaN", "9" * 5000, '""', "[]", "{}", "true", "0x1f", "１２"])
    numbers = list(re.finditer(r"\d+(?:\.\d+)?", text))
    if not numbers:
        return text
    chosen = dice.choice(numbers)
    return text[: chosen.start()] + word + text[chosen.end() :]


def banner(text: str, dice: random.Random) -> str:
    return dice.choice(["Storage Command Line Tool {\n", "Generating ...\n\n", "\ufeff", "{}\n", "[\n", "}{\n"]) + text


def double(text: str, dice: random.Random) -> str:
    return text + dice.choice(["", "\n", " "]) + dice.choice(SEEDS)


def widen(text: str, dice: random.Random) -> str:
    return text.encode(dice.choice(["utf-16", "utf-16-be", "utf-32"])).decode("utf-8", "replace")


def deepen(text: str, dice: random.Random) -> str:
    depth = dice.choice([50, 900, 5_000, 50_000])
    inner = '{"a":' * depth + "1" + "}" * depth if dice.random() < 0.5 else "[" * depth + "]" * depth
    return text.replace('"Response Data": ', f'"Response Data": {{"x": {inner}}}, "y": ', 1)


MUTATIONS: tuple[Callable[[str, random.Random], str], ...] = (
    truncate,
    splice,
    repeat,
    shuffle,
    flip,
    renumber,
    banner,
    double,
    widen,
    deepen,
)


OURS = (
    *("kind", "pending", "message", "problems", "supports", "details", "level", "media", "interface", "drives"),
    "refused",
)
"""Fields whose words are ours, not the tool's."""


def everything(text: str) -> Iterator[object]:
    """All parsers over all that is in the text."""
    for reply in replies(text):
        number = reply.card or 0
        data = reply.data
        yield from (volumes(number, data), drives(number, data), cards.card(number, data), battery.parse_listed(data))
        yield from (battery.parse_answer(data, "bbu"), cards.patrol(data), cards.check(data), cards.perf_mode(data))
        yield from (
            besides.patrol_read_settings(data),
            besides.check_settings(data),
            besides.policy_settings(Fields(data)),
        )
        yield from (besides.property_settings(name, data) for name in besides.SHOWN)
        yield from (rebuilds(data), auto_bgi(data), cards.overview(data), cards.options(data), cards.safe_id(data))
    yield judge(text)


def words_of(found: object) -> Iterator[str]:
    """Every text and every tool's word in a result."""
    if isinstance(found, ReportedValue):
        yield found.raw
    elif isinstance(found, str) and not isinstance(found, Enum):
        yield found
    elif is_dataclass(found) and not isinstance(found, type):
        skipped = (
            "kind",
            "pending",
            "message",
            "problems",
            "supports",
            "details",
            "level",
            "media",
            "interface",
            "drives",
            "refused",
        )
        for field in fields(found):
            if field.name not in skipped:
                yield from words_of(getattr(found, field.name))
    elif isinstance(found, dict):
        for value in found.values():
            yield from words_of(value)
    elif isinstance(found, (tuple, list)):
        for value in found:
            yield from words_of(value)


def squeezed(text: str) -> str:
    """Without what cleaning changes: blanks, control characters, case, cuts."""
    return re.sub(r"[\s�…\W]+", "", text.replace("\0", ""), flags=re.ASCII).lower()


def spoiled(seed: str, number: int) -> str:
    """The answer after one accident or two."""
    dice = random.Random(number)
    text = dice.choice(MUTATIONS)(seed, dice)
    return dice.choice(MUTATIONS)(text, dice) if text and dice.random() < 0.5 else text


def check(text: str) -> None:
    """All parsers on one text."""
    started = time.process_time()
    found = list(everything(text))
    assert time.process_time() - started < PATIENCE
    unescaped = re.sub(r"\\u([0-9a-fA-F]{4})", lambda code: chr(int(code[1], 16)), text)
    seen = squeezed(re.sub(r"\\[nrtbf]", "", unescaped)) + squeezed(text)
    for word in words_of(found):
        parts = [word] if squeezed(word) in seen else word.split("/")  # version 8: state and status, joined
        assert all(squeezed(part) in seen for part in parts) or word in ("Yes", "No"), word


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.builds(spoiled, st.sampled_from(SEEDS), st.integers(0, 2**32)))
def test_spoiled_answers(text: str) -> None:
    check(text)


@settings(max_examples=EXAMPLES // 4, deadline=None)
@given(st.text())
def test_any_text(text: str) -> None:
    list(everything(text))


@settings(max_examples=EXAMPLES // 4, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(st.sampled_from(["DG/VD", "EID:Slt", "VD Info", "Property", "Value", "Ctl", "x"]), inner)
        ),
        max_leaves=20,
    )
)
def test_any_json(data: object) -> None:
    list(everything(answer(data)))


def test_a_spoiled_policy_is_unknown_and_never_the_default() -> None:
    (found,) = volumes(0, replies(VOLUMES.replace("NRWTD", "NRWXD").replace("WriteThrough", "WriteSideways"))[0].data)
    assert found.configured.write_cache is not None
    assert found.configured.write_cache.value == UNKNOWN


def test_a_spoiled_number_is_no_number() -> None:
    for word in ("1e400", "-3", "９", "9" * 5000):
        card = cards.card(0, replies(WHOLE.replace('"30 %"', f'"{word}"'))[0].data)
        assert {card.values[key].value for key in ("rebuild_rate", "bgi_rate")} == {UNKNOWN}


def test_a_flood_is_read_in_time() -> None:
    started = time.process_time()
    for text in ("{" * 1_000_000, "-" * 80 + "\n" + "x y z\n" * 200_000, " = \n" * 200_000, "}{" * 500_000):
        list(everything(text))
    assert time.process_time() - started < PATIENCE


def test_four_large_chassis_are_read_in_time() -> None:
    """24 drives and 64 virtual drives on each of 4 cards."""
    places = [f"8:{slot}" for slot in range(24)]
    lists = [volume_row(number) for number in range(64)]
    rows = [drive_row(place) for place in places]
    whole = answer(show_all(volumes=lists, drives=rows, groups=topology(*places)))
    single: dict[str, object] = {}
    for number in range(64):
        single |= {f"/c0/v{number}": [volume_row(number)], f"PDs for VD {number}": rows[:3]}
        single[f"VD{number} Properties"] = properties()
    below = answer(single)
    details = answer({key: value for place in places for key, value in answers.details(place).items()})
    started = time.process_time()
    for number in range(4):
        data, more, own = (replies(text)[0].data for text in (whole, below, details))
        assert len(volumes(number, data, more)) == 64
        assert len(drives(number, data, more, own)) == 24
        assert isinstance(cards.card(number, data), Card)
    assert time.process_time() - started < PATIENCE
