"""The doctor says nothing of completeness while a controller on the bus is not reported by its tool."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from app.features.doctor.engine import DoctorItem, examine
from backends.host import SIMULATED_MACHINE
from backends.model import Controller, Inventory, Problem, Scope, Target
from tests.backends.fakes import FakeHost
from tests.core.changes.test_trials import paths


class Cards:
    """A vendor that reports the controllers at these places of the bus."""

    def __init__(self, *places: str) -> None:
        self.places = places

    async def inventory(self) -> Inventory:
        return Inventory(
            controllers=tuple(
                Controller(
                    target=Target(backend="megaraid", address=f"/c{at}", scope=Scope.CONTROLLER),
                    vendor="megaraid",
                    pci=place,
                )
                for at, place in enumerate(self.places)
            )
        )

    async def diagnose(self) -> tuple[Problem, ...]:
        return ()


async def told(folder: Path, cards: Cards) -> list[DoctorItem]:
    """Return what is said of vendors on a machine with two MegaRAID controllers."""
    files: dict[str, str] = {}
    links: dict[str, str] = {}
    for number in ("3b", "5e"):
        place = f"/sys/bus/pci/devices/0000:{number}:00.0"
        files |= {f"{place}/class": "0x010400", f"{place}/vendor": "0x1000", f"{place}/device": "0x0016"}
        links[f"{place}/driver"] = "/sys/bus/pci/drivers/megaraid_sas"
    host = FakeHost(files, links=links)
    host.reached = replace(SIMULATED_MACHINE, opens_devices=False)
    found = await examine(host, paths(folder), {"megaraid": cards, "areca": Cards()})
    return [one for one in found if one.name in ("vendors", "megaraid")]


async def test_one_of_two_controllers_that_does_not_answer_is_named(tmp_path: Path) -> None:
    vendors, missing = await told(tmp_path, Cards("00:3b:00:00"))
    assert vendors.detail == "complete for 1 of 2"
    assert "0000:5e:00.0 (PCI 1000:0016, driver megaraid_sas) is on the bus, but no tool reports it" in missing.detail
    assert "storcli64" in missing.advice


async def test_nothing_is_missing_where_both_answer(tmp_path: Path) -> None:
    (vendors,) = await told(tmp_path, Cards("00:3b:00:00", "00:5e:00:00"))
    assert vendors.detail == "complete"
