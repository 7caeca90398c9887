"""The devices of a host are shown as they are there, out of what it told; what makes no sense is left out."""

from __future__ import annotations

import json

import pytest

from app.cli.devices import all_settings
from app.engine.hosts.told_devices import told_devices
from app.engine.view import schema
from app.engine.view.device import facts
from app.engine.view.device_table import Listing, devices_table
from app.engine.view.setting import settings_table
from backends.model import Array, Controller, Drive
from backends.racks.host import SimulatedHost
from backends.racks.machines.table import MACHINES
from backends.registry import Machine
from tests.backends.racks.asking import FAST


@pytest.mark.parametrize("rack", ["linux", *(pytest.param(name, marks=pytest.mark.long) for name in ("lsi", "hpe"))])
async def test_a_host_is_shown_as_it_is_shown_there(rack: str) -> None:
    machine = Machine.of(SimulatedHost(MACHINES[rack](), speed=FAST))
    there = await machine.probe()
    settings, _ = await all_settings(machine, there)
    told = told_devices(json.loads(json.dumps(schema.devices(there, settings, host="x", simulated=True))))
    assert devices_table(told.inventory, Listing(whole=True), {}) == devices_table(there, Listing(whole=True), {})
    things: tuple[Controller | Array | Drive, ...] = (*there.controllers, *there.arrays, *there.drives)
    for thing in things:
        if thing.target in there.twins:
            continue
        here = told.inventory.find(str(thing.target))
        assert here is not None
        assert facts(here) == facts(thing)
        declared, readings = told.settings.get(thing.target, ((), {}))
        own = settings_table(machine.settings(thing.target), await machine.kept(thing.target), thing.target.scope)
        assert [row.cells for row in settings_table(declared, readings, thing.target.scope).rows] == [
            row.cells for row in own.rows
        ]


@pytest.mark.parametrize("junk", [None, 7, "x", [], {}, [[]], [{}], [{"address": 5}], [{"address": "nothing"}]])
def test_what_makes_no_sense_is_left_out(junk: object) -> None:
    told = told_devices({"controllers": junk, "arrays": junk, "drives": junk, "problems": junk})
    assert (told.inventory.drives, told.inventory.arrays, told.settings) == ((), (), {})


def test_fields_that_make_no_sense_are_unknown() -> None:
    drive = {
        "address": "block:sda",
        "state": "on fire",
        "media": 3,
        "size_bytes": -1,
        "settings": [{"key": "a\x1b[2J"}],
    }
    told = told_devices({"drives": [drive, drive], "arrays": [{"address": "md:md0", "members": ["md:md0", None]}]})
    (shown,), (array,) = told.inventory.drives, told.inventory.arrays
    assert (shown.state.value, shown.media.value, shown.size_bytes) == ("unknown", "unknown", None)
    assert array.members == ()  # nothing stands upon itself
    (setting,), readings = told.settings[shown.target]
    assert "\x1b" not in setting.key
    assert readings[setting.key].now is None
