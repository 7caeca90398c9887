"""The devices of a host are shown as they are there, out of what it told; what makes no sense is left out."""

from __future__ import annotations

import dataclasses
import json

import pytest

from app.cli.devices import all_settings
from app.core.presentation import json_schema
from app.core.presentation.device import device_facts
from app.core.presentation.device_table import DeviceListOptions, devices_table
from app.core.presentation.setting import settings_table
from app.features.fleet.hosts.remote_devices import parse_devices
from backends.model import Array, Controller, Drive, Health, Inventory, Target
from backends.registry import MachineBackends
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.table import MACHINES
from tests.backends.simulator.asking import FAST
from tests.case_loop import loop_over


@pytest.mark.parametrize("rack", ["linux", *(pytest.param(name, marks=pytest.mark.long) for name in ("lsi", "hpe"))])
async def test_a_host_is_shown_as_it_is_shown_there(rack: str) -> None:
    machine = MachineBackends.of(SimulatedHost(MACHINES[rack](), speed=FAST))
    there = await machine.probe()
    settings, _ = await all_settings(machine, there)
    told = parse_devices(json.loads(json.dumps(json_schema.devices(there, settings, host="x", simulated=True))))
    assert devices_table(told.inventory, DeviceListOptions(expanded=True), {}) == devices_table(
        there, DeviceListOptions(expanded=True), {}
    )
    things: tuple[Controller | Array | Drive, ...] = (*there.controllers, *there.arrays, *there.drives)
    for thing in things:
        if thing.target in there.twins:
            continue
        here = told.inventory.find(str(thing.target))
        assert here is not None
        assert device_facts(here) == device_facts(thing)
        declared, readings = told.settings.get(thing.target, ((), {}))
        own = settings_table(
            machine.settings(thing.target), await machine.read_cached(thing.target), thing.target.scope
        )
        assert [row.cells for row in settings_table(declared, readings, thing.target.scope).rows] == [
            row.cells for row in own.rows
        ]


@loop_over("junk", [None, 7, "x", [], {}, [[]], [{}], [{"address": 5}], [{"address": "nothing"}]])
def test_what_makes_no_sense_is_left_out(junk: object) -> None:
    told = parse_devices({"controllers": junk, "arrays": junk, "drives": junk, "problems": junk})
    assert (told.inventory.drives, told.inventory.arrays, told.settings) == ((), (), {})


def test_fields_that_make_no_sense_are_unknown() -> None:
    drive = {
        "address": "block:sda",
        "state": "on fire",
        "media": 3,
        "size_bytes": -1,
        "settings": [{"key": "a\x1b[2J"}],
    }
    told = parse_devices({"drives": [drive, drive], "arrays": [{"address": "md:md0", "members": ["md:md0", None]}]})
    (shown,), (array,) = told.inventory.drives, told.inventory.arrays
    assert (shown.state.value, shown.media.value, shown.size_bytes) == ("unknown", "unknown", None)
    assert array.members == ()  # nothing stands upon itself
    (setting,), readings = told.settings[shown.target]
    assert "\x1b" not in setting.key
    assert readings[setting.key].now is None


SICK = Health(
    predicts_failure=True,
    media_errors=3,
    other_errors=900,
    predictive_errors=0,
    wear_percent=104.5,
    temperature=74.0,
    temperature_limit=70.0,
    locked=False,
    foreign=True,
    copyback=False,
)


@pytest.mark.parametrize("health", [SICK, Health()])
def test_the_health_of_a_drive_is_as_it_is_there(health: Health) -> None:
    drive = Drive(target=Target(backend="block", address="sda"), health=health)
    shown = json.loads(json.dumps(json_schema.devices(Inventory(drives=(drive,)), {}, host="x", simulated=True)))
    assert set(shown["drives"][0]["health"]) == {field.name for field in dataclasses.fields(Health)}
    assert parse_devices(shown).inventory.drives[0].health == health


@loop_over("junk", [None, 7, "x", [], -1, float("inf"), float("nan"), 10**400, True, {}])
def test_health_that_makes_no_sense_is_not_known(junk: object) -> None:
    names = [field.name for field in dataclasses.fields(Health)]
    told = parse_devices({"drives": [{"address": "block:sda", "health": dict.fromkeys(names, junk)}]})
    health = told.inventory.drives[0].health
    flags = (health.predicts_failure, health.locked, health.foreign, health.copyback)
    assert flags == ((True,) * 4 if junk is True else (None,) * 4)
    assert health.media_errors == (7 if junk == 7 else None)
    assert health.wear_percent == (junk if junk in (7, -1) and junk is not True else None)
    assert parse_devices({"drives": [{"address": "block:sda", "health": junk}]}).inventory.drives[0].health == Health()
