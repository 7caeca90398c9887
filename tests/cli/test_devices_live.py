"""The list of devices fills up: what is settled is printed while a slow card still thinks, each thing once."""

from __future__ import annotations

import asyncio

import pytest

from app.cli import devices_progress
from app.cli.devices_progress import DevicesProgress, WaitingStatusLine, tunings
from app.cli.devices_text import list_heading, print_device_list
from app.cli.output import BrokenPipeOutputError
from backends.host import Host
from backends.model import Array, Controller, Inventory, Scope, State, Target
from backends.protocol import InventoryListener, Vendor, placeholder_inventory
from backends.registry import MachineBackends
from backends.vendors.block import VENDOR as BLOCK
from tests.backends.fakes import FakeHost, disk, machine

FIRST, SLOW = Target(backend="acme", address="/c0"), Target(backend="acme", address="/c1")


def card(target: Target, device: str, pci: str) -> Inventory:
    """A card with one array, which is a disk of the kernel."""
    array = Target(backend="acme", address=f"{target.address}/v0", scope=Scope.ARRAY)
    return Inventory(
        controllers=(Controller(target=target, vendor="acme", model="Acme", pci=pci),),
        arrays=(Array(target=array, controller=target, device=device, state=State.OPTIMAL),),
    )


ANSWERS = {FIRST: card(FIRST, "/dev/sda", "0000:01:00.0"), SLOW: card(SLOW, "/dev/sdb", "0000:02:00.0")}


class Cards:
    """A vendor with two cards, of which one waits at a gate."""

    def __init__(self, gate: asyncio.Event) -> None:
        self.gate = gate

    async def inventory(self) -> Inventory:
        return ANSWERS[FIRST].merge(ANSWERS[SLOW])

    async def inventory_in_parts(self, told: InventoryListener) -> Inventory:
        for one in (FIRST, SLOW):
            told(str(one), placeholder_inventory(one))
        told(str(FIRST), ANSWERS[FIRST])
        await self.gate.wait()
        told(str(SLOW), ANSWERS[SLOW])
        return await self.inventory()

    async def diagnose(self) -> tuple[()]:
        return ()


class Late(Cards):
    """A vendor that says nothing until the gate opens, and then that it has nothing."""

    async def inventory(self) -> Inventory:
        await self.gate.wait()
        return Inventory()

    inventory_in_parts = None  # type: ignore[assignment]


@pytest.fixture
def gate() -> asyncio.Event:
    return asyncio.Event()


@pytest.fixture
def host() -> FakeHost:
    """sda and sdb are behind the two cards, vda is behind none."""
    links = {
        "sda": "pci0000:00/0000:01:00.0/host0/target0:2:0/0:2:0:0",
        "sdb": "pci0000:00/0000:02:00.0/host1/target1:2:0/1:2:0:0",
        "vda": "virtio0",
    }
    numbers = {"sda": "8:0", "sdb": "8:16", "vda": "254:0"}
    bound = {f"/sys/bus/pci/drivers/acme_sas/0000:0{at}:00.0": "" for at in (1, 2)}
    return FakeHost(
        machine(*(disk(name, devno=devno) for name, devno in numbers.items()), **bound),
        links={f"/sys/block/{name}": f"/sys/devices/{way}/block/{name}" for name, way in links.items()},
    )


def vendor(gate: asyncio.Event) -> Vendor:
    return Vendor(name="acme", backend=lambda _host: Cards(gate), drivers=("acme_sas",))


def live(host: Host, *vendors: Vendor) -> DevicesProgress:
    return DevicesProgress(MachineBackends(host, [BLOCK, *vendors]), (), wide=False, simulated=False, at_once_s=0.0)


async def until(words: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What is printed until these words are."""
    found = ""
    async with asyncio.timeout(120):
        while words not in found:
            await asyncio.sleep(0)
            found += capsys.readouterr().out
    return found


async def test_what_is_settled_is_out_while_a_cards_answer_is_held_back(
    host: FakeHost, gate: asyncio.Event, capsys: pytest.CaptureFixture[str]
) -> None:
    looking = asyncio.create_task(live(host, vendor(gate)).run())
    first = await until("block:vda", capsys)
    assert ("acme:/c0/v0" in first, "sdb" in first, "c1" in first) == (True, False, False)
    gate.set()
    await looking
    whole = first + capsys.readouterr().out
    told = [line.split()[-1] for line in whole.splitlines()]
    assert told == ["Address", "acme:/c0", "acme:/c0/v0", "block:vda", "acme:/c1", "acme:/c1/v0"]


async def test_how_much_there_is_is_said_when_it_is_true(
    host: FakeHost, gate: asyncio.Event, capsys: pytest.CaptureFixture[str]
) -> None:
    looking = asyncio.create_task(live(host, vendor(gate)).run())
    async with asyncio.timeout(120):
        while not (before := capsys.readouterr()).out:
            await asyncio.sleep(0)
    gate.set()
    await looking
    assert (before.err, capsys.readouterr().err) == ("fake\n", "2 controllers · 2 arrays · 1 drive\n")


async def test_where_nobody_is_waited_for_the_list_is_as_ever(
    host: FakeHost, gate: asyncio.Event, capsys: pytest.CaptureFixture[str]
) -> None:
    gate.set()
    here = MachineBackends(host, [BLOCK, vendor(gate)])
    found = await DevicesProgress(here, (), wide=True, simulated=True, at_once_s=1e9).run()
    printed = capsys.readouterr()
    print_device_list(found, list_heading(host.name, simulated=True), await tunings(here, found), wide=True)
    assert printed == capsys.readouterr()


async def test_a_disk_is_not_told_while_somebody_may_have_it_as_his_array(
    host: FakeHost, gate: asyncio.Event, capsys: pytest.CaptureFixture[str]
) -> None:
    opened = asyncio.Event()
    opened.set()
    anybody = Vendor(name="late", backend=lambda _host: Late(gate))
    looking = asyncio.create_task(live(host, vendor(opened), anybody).run())
    first = await until("acme:/c1/v0", capsys)
    gate.set()
    await looking
    assert ("vda" in first, "block:vda" in capsys.readouterr().out) == (False, True)


async def test_nothing_is_told_before_the_kernel_has_answered(
    host: FakeHost, gate: asyncio.Event, capsys: pytest.CaptureFixture[str]
) -> None:
    opened = asyncio.Event()
    opened.set()
    look = DevicesProgress(
        MachineBackends(host, [vendor(opened), Vendor(name="block", backend=lambda _host: Late(gate))]),
        (),
        wide=False,
        simulated=False,
        at_once_s=0.0,
    )
    looking = asyncio.create_task(look.run())
    for _ in range(200):
        await asyncio.sleep(0)
    before = capsys.readouterr().out
    gate.set()
    await looking
    assert (before, "acme:/c0/v0" in capsys.readouterr().out) == ("", True)


async def test_a_reader_that_has_enough_ends_it(
    host: FakeHost, gate: asyncio.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(_rows: object) -> None:
        raise BrokenPipeOutputError

    monkeypatch.setattr(devices_progress, "lines", gone)
    with pytest.raises(BrokenPipeOutputError):
        await asyncio.wait_for(live(host, vendor(gate)).run(), 120)
    assert not gate.is_set()


async def test_who_is_waited_for_is_said_on_a_terminal(
    host: FakeHost, gate: asyncio.Event, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(devices_progress, "is_terminal", lambda _stream: True)
    monkeypatch.setattr(devices_progress, "WAITING_S", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    looking = asyncio.create_task(live(host, vendor(gate)).run())
    said = ""
    async with asyncio.timeout(120):
        while "waiting for c1 ..." not in said:
            await asyncio.sleep(0)
            said += capsys.readouterr().err
    gate.set()
    await looking
    assert capsys.readouterr().err.startswith("\r\x1b[K")


def test_where_nothing_can_be_erased_it_is_said_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(devices_progress, "is_terminal", lambda _stream: True)
    monkeypatch.setenv("TERM", "dumb")
    line = WaitingStatusLine()
    for names in (["acme"], ["c1"], []):
        line.show(names)
    line.clear()
    assert capsys.readouterr().err == "waiting for acme ...\n"


def test_beside_a_terminal_nothing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    WaitingStatusLine().show(["c1"])
    assert capsys.readouterr().err == ""
