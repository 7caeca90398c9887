"""Another table in device-mapper during a run: what is written goes elsewhere, so the run is ended and says so."""

from __future__ import annotations

import asyncio

import pytest

from app.engine.measure.ending import REMAPPED, EndingWatch, RemapLook
from app.engine.session.figures import RunFigures, RunStatus
from backends.host import Completed
from tests.backends.fakes import FakeHost
from tests.backends.test_mapped import AFTER, SECTORS, WHOLE, beside, tell


def other(host: FakeHost) -> None:
    tell(host, f"a: 0 {SECTORS} linear 8:16 0\nb: {AFTER}\n")


@pytest.fixture
def host() -> FakeHost:
    return beside(WHOLE, AFTER, mounted=False)


async def test_the_same_table_at_every_look_is_no_reason_to_end(host: FakeHost) -> None:
    look = RemapLook(host, ("/dev/dm-0",))
    assert [await look() for _ in range(3)] == [()] * 3


@pytest.mark.parametrize("words", ["8:16 0", f"8:0 {SECTORS}"], ids=["another disk", "another part of it"])
async def test_a_table_that_leads_elsewhere_is_told(host: FakeHost, words: str) -> None:
    look = RemapLook(host, ("/dev/dm-0",))
    await look()
    tell(host, f"a: 0 {SECTORS} linear {words}\nb: {AFTER}\n")
    assert await look() == ("/dev/dm-0 lies on something else since its device-mapper table was changed",)


async def test_that_of_a_layer_below_counts_and_that_of_a_neighbour_does_not(host: FakeHost) -> None:
    host.files |= {
        "/sys/block/dm-2/dev": "253:2",
        "/sys/block/dm-2/size": str(SECTORS),
        "/sys/block/dm-2/dm/name": "c",
        "/sys/block/dm-2/slaves/dm-0": "",
        "/sys/block/dm-0/holders/dm-2": "",
    }
    above, beside_it = RemapLook(host, ("/dev/dm-2",)), RemapLook(host, ("/dev/dm-1",))
    assert (await above(), await beside_it()) == ((), ())
    other(host)
    assert (await above())[0].startswith("/dev/dm-0 lies on something else")
    assert await beside_it() == ()


async def test_an_answer_that_fails_is_no_change(host: FakeHost) -> None:
    look = RemapLook(host, ("/dev/dm-0",))
    await look()
    host.tools["dmsetup"] = Completed(returncode=1, stdout="", stderr="no")
    assert await look() == ()
    other(host)
    assert await look() != ()


async def test_where_there_is_no_such_device_nothing_is_asked(host: FakeHost) -> None:
    host.files = {path: text for path, text in host.files.items() if "/dm-" not in path}
    assert await RemapLook(host, ("/dev/sda",))() == ()


async def test_the_run_is_stopped_and_says_why(host: FakeHost) -> None:
    look, stop = RemapLook(host, ("/dev/dm-0",)), asyncio.Event()
    await look()
    other(host)
    async with EndingWatch(REMAPPED, look, stop) as watch:
        await asyncio.wait_for(stop.wait(), 120)
    told = watch.tell(RunFigures(status=RunStatus.STOPPED))
    assert told.reason == "Stopped: /dev/dm-0 lies on something else since its device-mapper table was changed."
    assert "dmsetup table" in told.hint
