"""Hardware is looked for once more while a look is under way: what was told is not missing meanwhile."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from app.core.workbench import Workbench
from backends.errors import NotFoundError
from backends.model import Array, Drive, Inventory, Problem, Scope, Target
from backends.protocol import Vendor
from backends.registry import MachineBackends
from tests.backends.fakes import FakeHost


def seen(name: str) -> Inventory:
    """One drive."""
    return Inventory(drives=(Drive(target=Target(backend=name, address="d0")),))


class Answering:
    """A backend with a drive, told when the test says so."""

    def __init__(self, name: str) -> None:
        self.told = asyncio.Event()
        self.found = seen(name)

    async def inventory(self) -> Inventory:
        await self.told.wait()
        return self.found

    async def diagnose(self) -> tuple[Problem, ...]:
        return ()


class Bench(Workbench):
    """A workbench of two such backends, `quick` and `slow`."""

    def __init__(self) -> None:
        super().__init__(FakeHost({}))
        self.quick, self.slow = Answering("quick"), Answering("slow")
        both = (
            Vendor(name="quick", backend=lambda _host: self.quick),
            Vendor(name="slow", backend=lambda _host: self.slow),
        )
        self.hardware.machine = MachineBackends(self.host, both)

    async def shows(self, count: int) -> None:
        """Until so many drives are known."""
        async with asyncio.timeout(120):
            while len(self.session.inventory.drives) != count:
                await asyncio.sleep(0)


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setenv("RAIDBENCH_STATE_DIR", str(tmp_path))
    return Bench()


async def given_up(bench: Bench) -> None:
    """A look that is ended when one of the two has answered."""
    bench.quick.told.set()
    looking = asyncio.create_task(bench.hardware.probe())
    await bench.shows(1)
    looking.cancel()


async def test_what_a_look_that_was_given_up_has_told_is_shown_on(bench: Bench) -> None:
    await given_up(bench)
    bench.quick.told.clear()
    bench.slow.told.set()
    looking = asyncio.create_task(bench.hardware.probe())
    await bench.shows(2)
    bench.quick.told.set()
    assert (await looking).drives == bench.session.inventory.drives


async def test_a_second_look_shows_what_the_first_has_found_until_it_knows_better(bench: Bench) -> None:
    bench.quick.told.set()
    bench.slow.told.set()
    await bench.hardware.probe()
    bench.slow.told.clear()
    known: list[int] = []
    bench.subscribe(lambda session, _: known.append(len(session.inventory.drives)))
    looking = asyncio.create_task(bench.hardware.probe())
    while not known:
        await asyncio.sleep(0)
    bench.slow.told.set()
    await looking
    assert min(known) == 2


async def test_what_does_not_answer_any_more_is_gone_after_the_next_look(bench: Bench) -> None:
    bench.quick.told.set()
    bench.slow.told.set()
    await bench.hardware.probe()
    bench.slow.found = Inventory()
    assert (await bench.hardware.probe(), bench.session.inventory) == (seen("quick"), seen("quick"))


def volume(card: str) -> Array:
    """A card's first volume, which somebody called `ssd`."""
    owner = Target(backend="quick", address=card, scope=Scope.CONTROLLER)
    target = Target(backend="quick", address=f"{card}/v0", scope=Scope.ARRAY)
    return Array(target=target, controller=owner, name="ssd")


async def test_what_is_called_so_in_the_list_is_found_and_two_of_one_name_are_told(bench: Bench) -> None:
    bench.quick.told.set()
    bench.slow.told.set()
    bench.quick.found = Inventory(arrays=(volume("/c0"),))
    assert (await bench.hardware.find("ssd")).target.address == "/c0/v0"
    bench.quick.found = Inventory(arrays=(volume("/c0"), volume("/c1")))
    await bench.hardware.probe()
    with pytest.raises(NotFoundError, match="'ssd' is ambiguous: quick:/c0/v0 or quick:/c1/v0"):
        await bench.hardware.find("ssd")


async def test_an_address_with_a_colon_is_found_without_its_vendor(bench: Bench) -> None:
    bench.quick.told.set()
    bench.slow.told.set()
    bay = Drive(target=Target(backend="quick", address="/slot0/2I:1:5"))
    bench.quick.found = Inventory(drives=(bay,))
    assert (await bench.hardware.find("/slot0/2I:1:5")).target == bay.target
    assert (await bench.hardware.find("quick:/slot0/2I:1:5")).target == bay.target
