"""Files of a bcache device that cannot be read: told, nothing invented, nothing planned without them."""

from __future__ import annotations

import pytest

from backends.errors import BlockedError
from backends.host import Host
from backends.model import State
from backends.testing.truncation import TruncatingHost, truncation_violations
from backends.vendors.bcache.backend import Bcache
from tests.backends.bcache.machines import BCACHE0, OWN, SET, files

FILES = (f"{OWN}/*", f"{SET}/*")


def machine() -> Host:
    host = files()
    host.made_up = True
    return host


async def test_a_file_that_cannot_be_read_is_told_and_makes_nothing_up() -> None:
    assert await truncation_violations(machine, Bcache, targets=(BCACHE0,), places=lambda text: (), files=FILES) == []


async def test_a_device_whose_state_is_not_told_is_unknown_and_not_changed() -> None:
    backend = Bcache(TruncatingHost(machine(), f"{OWN}/state", None))
    found = await backend.inventory()
    assert found.arrays[0].state is State.UNKNOWN
    assert [one.message for one in found.problems] == [f"{OWN}: incomplete output: state cannot be read."]
    with pytest.raises(BlockedError, match="state cannot be read"):
        await backend.plan(BCACHE0, "writeback_percent", "20")


async def test_a_way_back_needs_its_own_file_and_no_other() -> None:
    backend = Bcache(TruncatingHost(machine(), f"{OWN}/dirty_data", None))
    assert (await backend.back(BCACHE0, "writeback_percent", "20", {})).after == "20"
