"""Garbled files of bcache: no exception outside the family, nothing illegal offered, nothing unclean shown.

`RAIDBENCH_MUTATIONS` sets how many; a few hundred without it.
"""

from __future__ import annotations

import asyncio
import random

import pytest

from backends.errors import RaidbenchError
from backends.testing.conformance import candidates
from backends.vendors.bcache.backend import Bcache
from tests.backends.bcache.machines import BCACHE0, OWN, SET, files
from tests.backends.fakes import FakeHost
from tests.backends.system_texts import MANY, spoiled

RUBBISH = ("", "\0", "\x1b]0;x\x07", "[", "[writeback", "9" * 400, "-1", "1e400", "4.0M", "٤", "none [none]", "nan")

SHARES = 3
"""Tests that share them among them."""


def garbled(seed: int) -> FakeHost:
    """Files gone, exchanged or spoiled, links that lead elsewhere."""
    chance = random.Random(seed)
    host = files()
    told = [path for path in host.files if path.startswith((OWN, SET))]
    for path in told:
        match chance.randint(0, 7):
            case 0:
                del host.files[path]
            case 1:
                host.files[path] = host.files.get(chance.choice(told), "")
            case 2:
                host.files[path] = spoiled(host.files[path] or "x", seed)
            case 3:
                host.files[path] = chance.choice(RUBBISH)
            case _:
                pass
    for path in [path for path in host.links if path.startswith((OWN, SET))]:
        match chance.randint(0, 5):
            case 0:
                del host.links[path]
            case 1:
                host.links[path] = chance.choice(
                    ("", "/", "/bcache", "//bcache", SET, OWN, f"{SET}/../x", "\x1b/bcache")
                )
            case _:
                pass
    return host


async def looked_at(host: FakeHost) -> None:
    """Everything that raidbench does with it."""
    backend = Bcache(host)
    for array in (await backend.inventory()).arrays:
        assert all(fact.value and fact.value.isprintable() for fact in array.facts)
        assert all(str(member).isprintable() for member in array.members)
    await backend.diagnose()
    try:
        readings = await backend.read(BCACHE0)
    except RaidbenchError:
        return
    for key, reading in readings.items():
        if reading.now not in (None, "unknown") and reading.choices:
            assert reading.now in {choice.value for choice in reading.choices}, key
        for value in candidates(reading)[:2] if reading.availability.available else ():
            change = await backend.plan(BCACHE0, key, value)
            assert change.writes[0].path is not None
            assert ".." not in change.writes[0].path
            assert bool(change.undo) == (reading.now not in (None, "unknown"))


@pytest.mark.exhaustive
@pytest.mark.parametrize("share", range(SHARES))
def test_garbled_files_are_no_surprise(share: int) -> None:
    async def all_of_them() -> None:
        for seed in range(share, MANY, SHARES):
            await looked_at(garbled(seed))

    asyncio.run(all_of_them())
