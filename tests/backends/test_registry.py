"""Finding vendors and asking them: a broken one is a problem, the rest goes on."""

from __future__ import annotations

import asyncio
from importlib.metadata import EntryPoint

import pytest

from backends.errors import NotFoundError, ToolMissingError
from backends.host import Host
from backends.model import Drive, Inventory, Problem, Target
from backends.protocol import Backend, Told
from backends.registry import Machine, find_vendors
from backends.vendors.block import VENDOR
from tests.backends.fakes import FakeHost, disk, machine


class Scripted:
    """A vendor whose inventory does as told."""

    def __init__(self, name: str, answer: Inventory | Exception, turns: int = 0) -> None:
        self.name = name
        self._answer = answer
        self._turns = turns

    def backend(self, host: Host) -> Backend:
        return self  # type: ignore[return-value]

    async def inventory(self) -> Inventory:
        for _ in range(self._turns):
            await asyncio.sleep(0)
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


BAD_PLUGIN = "not a vendor"


def one_drive(name: str) -> Inventory:
    return Inventory(drives=(Drive(target=Target(backend=name, address="x")),))


def test_our_own_vendors_are_found_without_problems() -> None:
    found = find_vendors(plugins=())
    assert VENDOR in found.vendors
    assert found.problems == ()


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("tests.backends.no_such_module:VENDOR", "ModuleNotFoundError"),
        ("tests.backends.test_registry:NO_SUCH_NAME", "AttributeError"),
        ("tests.backends.test_registry:BAD_PLUGIN", "AttributeError"),
        ("backends.vendors.block:VENDOR", "there is a vendor block already"),
    ],
)
def test_a_broken_plugin_is_a_problem(value: str, words: str) -> None:
    found = find_vendors(plugins=(EntryPoint(name="bad", value=value, group="raidbench.vendors"),))
    (problem,) = found.problems
    assert words in problem.message
    assert VENDOR in found.vendors


async def test_a_failing_backend_leaves_the_others_standing() -> None:
    vendors = [
        Scripted("sick", ToolMissingError("No tool.", hint="Install it.")),
        Scripted("mad", RuntimeError("oops")),
        Scripted("well", one_drive("well")),
    ]
    found = await Machine(FakeHost({}), vendors).probe()
    assert [drive.target.backend for drive in found.drives] == ["well"]
    assert found.problems[0] == Problem(where="sick", message="No tool.", hint="Install it.")
    assert "RuntimeError: oops" in found.problems[1].message


async def test_the_slow_is_told_last_and_merged_in_order() -> None:
    told: list[str] = []
    vendors = [Scripted("slow", one_drive("slow"), turns=9), Scripted("fast", one_drive("fast"))]
    found = await Machine(FakeHost({}), vendors).probe(lambda name, _: told.append(name))
    assert told == ["fast", "slow"]
    assert [drive.target.backend for drive in found.drives] == ["slow", "fast"]


def test_a_target_leads_to_its_backend() -> None:
    here = Machine(FakeHost(machine(disk("sda"))), [VENDOR])
    assert here.backend(Target(backend="block", address="sda")) is here.backends["block"]
    with pytest.raises(NotFoundError):
        here.backend(Target(backend="nothing", address="sda"))


class InParts(Scripted):
    """A vendor that tells a part before it is done, as slow cards do."""

    async def inventory_in_parts(self, told: Told) -> Inventory:
        told(f"{self.name}:one", one_drive(self.name))
        return await self.inventory()


async def test_a_part_is_told_before_the_whole_is_known() -> None:
    told: list[str] = []
    rack = Machine(FakeHost(machine(disk("sda"))), [InParts("slow", one_drive("slow"))])
    await rack.probe(lambda part, _found: told.append(part))
    assert told == ["slow:one"]


async def test_a_vendor_that_fails_after_a_part_is_a_problem() -> None:
    rack = Machine(FakeHost(machine(disk("sda"))), [InParts("slow", ToolMissingError("It is gone."))])
    found = await rack.probe(lambda _part, _found: None)
    assert [problem.where for problem in found.problems] == ["slow"]
