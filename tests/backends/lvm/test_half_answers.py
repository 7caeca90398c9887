"""Half an answer of lvs or dmsetup: what the kernel has stays in the list, nothing is planned on it."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from backends.errors import BlockedError, ToolFailedError
from backends.model import State
from backends.testing.truncation import every_line, seeded
from backends.vendors.lvm.backend import Lvm
from tests.backends.lvm.machines import CACHES, host, target

DB = target("vg0/db")
CACHED = target("vg0/mail")


async def said_of_half_an_answer(places: Iterable[int]) -> list[str]:
    """What is wrong with what is made of lvs's answer, cut at each of these places."""
    wrong = []
    lvs, tables = CACHES
    for at in places:
        machine = host(lvs, tables)
        machine.tools["lvs"] = host(lvs[:at], tables).tools["lvs"]
        found = await Lvm(machine).inventory()
        if not any("incomplete output" in problem.message for problem in found.problems):
            wrong.append(f"cut at {at}: not told")
        if {one.state for one in found.arrays} - {State.UNKNOWN} or not found.arrays:
            wrong.append(f"cut at {at}: {found.arrays}")
        with pytest.raises(ToolFailedError, match="incomplete output"):
            await Lvm(machine).plan(CACHED, "cache_mode", "write-back")
    return wrong


async def test_half_an_answer_of_lvs_is_told_and_nothing_is_planned_on_it() -> None:
    assert await said_of_half_an_answer(seeded(12)(CACHES[0].rstrip())) == []


@pytest.mark.exhaustive
async def test_an_answer_of_lvs_cut_at_any_line_is_told() -> None:
    assert await said_of_half_an_answer(every_line(CACHES[0].rstrip())) == []


@pytest.mark.parametrize("at", seeded(12)(CACHES[1]))
async def test_nothing_is_planned_on_half_an_answer_of_dmsetup_unless_the_volume_is_in_it(at: int) -> None:
    lvs, tables = CACHES
    machine = host(lvs, tables)
    machine.tools["dmsetup"] = host(lvs, tables[:at]).tools["dmsetup"]
    if tables[:at].endswith("\n") and "vg0-mail:" in tables[:at]:
        assert (await Lvm(machine).plan(CACHED, "cache_mode", "pass-through")).writes
        return
    with pytest.raises(BlockedError, match="incomplete output"):
        await Lvm(machine).plan(CACHED, "cache_mode", "pass-through")


async def test_a_volume_that_dmsetup_does_not_list_is_not_changed() -> None:
    lvs, tables = CACHES
    machine = host(lvs, "".join(row for row in tables.splitlines(keepends=True) if not row.startswith("vg0-mail:")))
    with pytest.raises(BlockedError, match="vg0/mail is not in it"):
        await Lvm(machine).plan(CACHED, "cache_mode", "pass-through")
