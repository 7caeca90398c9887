"""Finding vendors and asking them: a broken one is a problem, the rest goes on."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from backends.change import Change
from backends.errors import NotFoundError, ToolMissingError
from backends.host import Host
from backends.model import Controller, Drive, Inventory, Problem, Scope, Target
from backends.protocol import InventoryListener, Vendor, lazy_backend, present_if_found
from backends.registry import MachineBackends, UnusableBackend, find_vendors
from backends.settings import Reading, Setting
from backends.testing.conformance import FindsConformance
from backends.vendors.block import VENDOR
from tests.backends.fakes import FakeHost, disk, machine
from tests.case_loop import loop_over


class Scripted:
    """A vendor whose inventory does as told."""

    def __init__(self, name: str, answer: Inventory | Exception, turns: int = 0) -> None:
        self.name = name
        self._answer = answer
        self._turns = turns

    def here(self) -> Vendor:
        return Vendor(name=self.name, backend=lambda _host: self)

    async def diagnose(self) -> tuple[Problem, ...]:
        return ()

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
        ("tests.backends.test_registry:BAD_PLUGIN", "it defines no vendor"),
        ("backends.vendors.block:VENDOR", "a vendor block exists already"),
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
    found = await MachineBackends(FakeHost({}), [one.here() for one in vendors]).probe()
    assert [drive.target.backend for drive in found.drives] == ["well"]
    assert found.problems[0] == Problem(where="sick", message="No tool.", hint="Install it.")
    assert "RuntimeError: oops" in found.problems[1].message


async def test_the_slow_is_told_last_and_merged_in_order() -> None:
    told: list[str] = []
    vendors = [Scripted("slow", one_drive("slow"), turns=9), Scripted("fast", one_drive("fast"))]
    found = await MachineBackends(FakeHost({}), [one.here() for one in vendors]).probe(
        lambda name, _: told.append(name)
    )
    assert told == ["fast", "slow"]
    assert [drive.target.backend for drive in found.drives] == ["slow", "fast"]


class Counted(Scripted):
    """A vendor with two disks, which counts how often each is read. One fails as told."""

    def __init__(self, error: Exception) -> None:
        self.targets = tuple(Target(backend="counted", address=address) for address in ("a", "b"))
        super().__init__("counted", Inventory(drives=tuple(Drive(target=target) for target in self.targets)))
        self.read_of: Counter[str] = Counter()
        self._error = error

    def settings(self, target: Target) -> tuple[Setting, ...]:
        return ()

    async def read(self, target: Target) -> Mapping[str, Reading]:
        self.read_of[target.address] += 1
        if target.address == "b":
            raise self._error
        return {}

    async def plan(self, target: Target, key: str, value: str) -> Change:
        raise KeyError(key)

    async def back(self, target: Target, key: str, value: str, companions: Mapping[str, str]) -> Change:
        raise KeyError(key)

    async def apply(self, change: Change) -> None:
        raise KeyError(change.key)


@pytest.mark.parametrize("error", [ToolMissingError("No tool."), RuntimeError("oops")])
async def test_a_device_is_read_once_for_a_scan_also_if_it_cannot_be_read(error: Exception) -> None:
    vendor = Counted(error)
    machine = MachineBackends(FakeHost({}), [vendor.here()])
    counts: list[dict[str, int]] = []
    inventory = Inventory()
    for is_scanned in (True, False, True):
        if is_scanned:
            inventory = await machine.probe()
        readings, problems = await machine.read_remaining_devices(inventory)
        assert [str(target) for target in readings] == ["counted:a"]
        assert [problem.where for problem in problems] == ["counted:b"]
        assert str(error) in problems[0].message
        counts.append(dict(vendor.read_of))
    await machine.read_devices(inventory)  # everything, again
    assert [*counts, dict(vendor.read_of)] == [{"a": n, "b": n} for n in (1, 1, 2, 3)]


def test_a_target_leads_to_its_backend() -> None:
    here = MachineBackends(FakeHost(machine(disk("sda"))), [VENDOR])
    assert here.backend(Target(backend="block", address="sda")) is here.backends["block"]
    with pytest.raises(NotFoundError):
        here.backend(Target(backend="nothing", address="sda"))


class InParts(Scripted):
    """A vendor that tells a part before it is done, as slow cards do."""

    async def inventory_in_parts(self, told: InventoryListener) -> Inventory:
        told(f"{self.name}:one", one_drive(self.name))
        return await self.inventory()


class Partless(Scripted):
    """A vendor of cards that has none here."""

    async def inventory_in_parts(self, _told: InventoryListener) -> Inventory:
        return await self.inventory()


async def test_a_part_is_told_before_the_whole_is_known() -> None:
    told: list[str] = []
    rack = MachineBackends(FakeHost(machine(disk("sda"))), [InParts("slow", one_drive("slow")).here()])
    await rack.probe(lambda part, _found: told.append(part))
    assert told == ["slow:one"]


async def test_who_has_not_answered_is_known_while_parts_are_told() -> None:
    waited: list[frozenset[str]] = []
    quiet = Scripted("quiet", one_drive("quiet"))
    rack = MachineBackends(
        FakeHost(machine(disk("sda"))), [quiet.here(), InParts("slow", one_drive("slow"), turns=9).here()]
    )
    await rack.probe(lambda _part, _found: waited.append(rack.waited_for))
    assert (waited, rack.waited_for) == ([frozenset({"slow"})] * 2, frozenset())


async def test_a_vendor_that_has_no_parts_to_tell_is_told_all_the_same() -> None:
    told: list[str] = []
    rack = MachineBackends(FakeHost(machine(disk("sda"))), [Partless("none", Inventory()).here()])
    await rack.probe(lambda part, _found: told.append(part))
    assert told == ["none"]


async def test_a_vendor_that_fails_after_a_part_is_a_problem() -> None:
    rack = MachineBackends(FakeHost(machine(disk("sda"))), [InParts("slow", ToolMissingError("It is gone.")).here()])
    found = await rack.probe(lambda _part, _found: None)
    assert [problem.where for problem in found.problems] == ["slow"]


class Lister:
    """All that somebody writes whose card nobody else knows and who has nothing to set."""

    def __init__(self, host: Host) -> None:
        self.host = host

    async def inventory(self) -> Inventory:
        return Inventory(controllers=(Controller(target=LISTED, vendor="acme", model="A1"),))

    async def diagnose(self) -> tuple[Problem, ...]:
        return ()


LISTED = Target(backend="acme", address="0", scope=Scope.CONTROLLER)
ACME = Vendor(name="acme", backend=Lister)


def acme() -> MachineBackends:
    point = EntryPoint(name="acme", value="tests.backends.test_registry:ACME", group="raidbench.vendors")
    return MachineBackends(FakeHost({}), [one for one in find_vendors(plugins=(point,)).vendors if one.name == "acme"])


class TestAVendorThatOnlyListsThings(FindsConformance):
    @pytest.fixture
    def backend(self) -> Lister:
        return Lister(FakeHost({}))


async def test_a_vendor_installed_elsewhere_that_only_lists_things_is_one_class() -> None:
    assert [one.model for one in (await acme().probe()).controllers] == ["A1"]


def test_a_vendor_of_an_installed_package_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "acme-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[raidbench.vendors]\nacme = tests.backends.test_registry:ACME\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert [one.name for one in find_vendors().vendors][-1] == "acme"


async def test_what_is_only_listed_has_no_settings() -> None:
    assert (acme().settings(LISTED), await acme().read(LISTED)) == ((), {})
    with pytest.raises(NotFoundError, match="acme:0 has no settings"):
        acme().setter(LISTED)


async def test_a_vendor_that_a_machine_cannot_have_is_not_even_imported() -> None:
    absent = Vendor(
        name="absent",
        backend=lazy_backend("tests.backends.no_such_module:Lister"),
        present=present_if_found("/sys/none*"),
    )
    assert (await MachineBackends(FakeHost({}), [absent]).probe()) == Inventory()


async def test_a_vendor_that_cannot_be_imported_is_a_problem_and_the_others_stand() -> None:
    sick = Vendor(name="sick", backend=lazy_backend("tests.backends.no_such_module:Lister"))
    found = await MachineBackends(FakeHost({}), [sick, ACME]).probe()
    assert [one.model for one in found.controllers] == ["A1"]
    assert "Cannot load the vendor module sick: ModuleNotFoundError" in found.problems[0].message


async def test_whether_a_vendor_is_there_that_cannot_be_told_counts_as_there() -> None:
    async def unsure(_host: Host) -> bool:
        raise OSError("no idea")

    found = await MachineBackends(FakeHost({}), [Vendor(name="acme", backend=Lister, present=unsure)]).probe()
    assert len(found.controllers) == 1


def test_a_backend_is_made_once() -> None:
    here = acme()
    assert here.backends["acme"] is here.backends["acme"]


@loop_over("vendor", find_vendors(plugins=()).vendors, ids=lambda vendor: vendor.name)
def test_every_vendor_of_ours_leads_to_its_backend(vendor: Vendor) -> None:
    assert not isinstance(MachineBackends(FakeHost({}), [vendor]).backends[vendor.name], UnusableBackend)
