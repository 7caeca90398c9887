"""The rack on disk: shared, atomic, mended by a reset."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from backends.errors import InvalidValueError
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.hpe import hpe_rack
from backends.simulator.state_file import RackFile, rack_data, rack_from_data
from tests.backends.simulator.asking import FAST, SDB, cache, still_rack, storcli
from tests.backends.simulator.racks import rack_of


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "rack.json"


def host(path: Path) -> SimulatedHost:
    return SimulatedHost(RackFile(path, make=still_rack), speed=FAST)


def test_a_rack_outlives_being_written_down() -> None:
    rack = still_rack()
    rack.queues["sdb"] = {"read_ahead_kb": "4096"}
    again = rack_from_data(json.loads(json.dumps(rack_data(rack))))
    assert rack_data(again) == rack_data(rack)
    assert again.cards == rack.cards


def test_a_large_rack_does_too() -> None:
    rack = rack_of(4, 24, 64)
    assert rack_from_data(json.loads(json.dumps(rack_data(rack)))).cards == rack.cards


def test_the_second_rack_is_written_by_the_command_that_changes_it(path: Path) -> None:
    file = RackFile(path, make=hpe_rack, speed=60)
    with file.edit() as rack:
        rack.runs = 7
    with file.edit() as rack:
        rack.runs += 1
    again = RackFile(path, make=still_rack).rack
    assert (again.runs, again.smart) == (8, hpe_rack().smart)


async def test_looking_writes_nothing(path: Path) -> None:
    await storcli(host(path), f"{SDB} show all")
    assert not path.exists()


async def test_another_command_finds_what_the_first_changed(path: Path) -> None:
    await storcli(host(path), f"{SDB} set rdcache=ra")
    assert cache(await storcli(host(path), f"{SDB} show all"), SDB) == "RWTD"


async def test_two_at_a_time_see_each_other(path: Path) -> None:
    one, other = host(path), host(path)
    assert cache(await storcli(other, f"{SDB} show all"), SDB) == "NRWTD"
    await storcli(one, f"{SDB} set rdcache=ra")
    assert cache(await storcli(other, f"{SDB} show all"), SDB) == "RWTD"
    await other.write("/sys/block/sdb/queue/read_ahead_kb", "512")
    assert await one.read("/sys/block/sdb/queue/read_ahead_kb") == "512"


async def test_a_reset_brings_the_first_state_back(path: Path) -> None:
    file = RackFile(path, make=still_rack)
    await storcli(SimulatedHost(file, speed=FAST), f"{SDB} set rdcache=ra")
    file.reset()
    assert cache(await storcli(host(path), f"{SDB} show all"), SDB) == "NRWTD"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"format": 0}',
        '{"format": "2"}',
        '{"format": 1, "program": "0.2.0", "cards": [{"number": 0}]}',
    ],
)
async def test_a_damaged_file_is_told_with_what_to_do(path: Path, text: str) -> None:
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(InvalidValueError) as told:
        await storcli(host(path), "show")
    assert "--demo-reset" in told.value.hint
    assert path.read_text() == text
