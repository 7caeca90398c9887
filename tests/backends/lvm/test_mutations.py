"""Torn, mixed and garbled answers of lvs and dmsetup: nothing raised but errors of the family, nothing invented.

`RAIDBENCH_MUTATIONS` sets how many; a few hundred without it.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.errors import RaidbenchError
from backends.model import State
from backends.vendors.lvm.backend import Lvm
from backends.vendors.lvm.facts import parse_lvs, parse_tables
from tests.backends.lvm.machines import CACHES, KINDS, host
from tests.backends.mdraid.test_mutations import NUMBERS, torn
from tests.backends.patience import PATIENCE

pytestmark = pytest.mark.exhaustive

MANY = int(os.environ.get("RAIDBENCH_MUTATIONS", "300"))
VALUES: tuple[object, ...] = (
    *NUMBERS, None, 7, -1, 1.5, True, [], {}, ["x"], "\x1b[2J", "[red]", "a=b,c", "=,=", "x" * 5000, "unknown",
    "cleaner",
)  # fmt: skip


def garbled(text: str, seed: int) -> str:
    """The report with columns gone, exchanged and of the wrong kind; sometimes torn besides."""
    chance = random.Random(seed)
    document = json.loads(text)
    rows = document["report"][0]["lv"]
    for row in rows:
        for key in list(row):
            match chance.randint(0, 24):
                case 0:
                    del row[key]
                case 1:
                    row[key] = chance.choice(VALUES)
                case 2:
                    row[key] = chance.choice(list(chance.choice(rows).values()))
                case _:
                    pass
    chance.shuffle(rows)
    said = json.dumps(document)
    return torn(said, seed) if chance.random() < 0.2 else said


async def _look(lvs: str, tables: str) -> None:
    made = Lvm(host(lvs, tables))
    try:
        found = await made.inventory()
        await made.diagnose()
    except RaidbenchError:
        return
    for array in found.arrays:
        assert isinstance(array.state, State)
        assert all(fact.value and "\x1b" not in fact.value for fact in array.facts)
        assert "\x1b" not in f"{array.name}{array.why}{array.device}"
        try:
            readings = await made.read(array.target)
            await made.tasks(array.target)
        except RaidbenchError:
            continue
        assert [one.key for one in made.settings(array.target)] == list(readings)
        for key, reading in readings.items():
            legal = {choice.value for choice in reading.choices}
            assert reading.now in {None, "unknown", *legal} or not reading.availability.available, key
            for value in sorted(legal)[:3]:
                try:
                    change = await made.plan(array.target, key, value)
                    await made.apply(change)
                except RaidbenchError:
                    continue
                assert all(word.isprintable() for write in change.writes for word in write.argv)


@pytest.mark.parametrize("said", [KINDS, CACHES], ids=["kinds", "caches"])
@settings(max_examples=MANY // 2, deadline=None, database=None)
@given(seed=st.integers(0, 2**32))
def test_garbled_volumes_are_shown_and_planned_all_the_same(said: tuple[str, str], seed: int) -> None:
    asyncio.run(_look(garbled(said[0], seed), torn(said[1], seed)))


@settings(max_examples=MANY * 3, deadline=None, database=None)
@given(st.sampled_from([KINDS, CACHES]), st.integers(0, 2**32))
def test_torn_answers_are_read(said: tuple[str, str], seed: int) -> None:
    began = time.process_time()
    volumes, _ = parse_lvs(torn(said[0], seed))
    tables = parse_tables(torn(said[1], seed))
    assert all(one.name in said[0] for one in volumes)
    for one in tables.values():
        assert one.tunables is not None
        assert one.write_behind is None or one.write_behind >= 0
    assert time.process_time() - began < PATIENCE


@pytest.mark.parametrize(
    "text", ["[" * 200_000, "{" * 200_000, '{"report":[' * 9_000, " " * 300_000, "a: 0 1 x" * 50_000], ids=range(5)
)
def test_no_text_takes_long(text: str) -> None:
    began = time.process_time()
    assert parse_lvs(text)[0] == ()
    assert not parse_tables(text)
    assert time.process_time() - began < PATIENCE
