"""Spoiled answers of SMcli: nothing raised, nothing invented, no time lost.

`RAIDBENCH_MUTATIONS` sets how many for each parser; a few hundred without it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from backends.simulator.smcli import DiskSystem
from backends.topology import Topology, Tree
from backends.vendors.smcli.dialects import names_in, refusal
from backends.vendors.smcli.facts import parse_profile
from backends.vendors.smcli.inventory import inventory
from backends.vendors.smcli.readings import SystemView, readings
from tests.backends.smcli.test_profile import DELL, NETAPP
from tests.backends.system_texts import MANY, check_parser, spoiled

PROFILE = DiskSystem().answer(("-n", "DS4700_A", "-c", "show storageSubsystem profile;")).text
NAMES = DiskSystem().answer(("-d",)).text


def told(text: str) -> object:
    """All that a profile says, without the labels, which are spelled in small letters."""
    found = parse_profile(text)
    if found is None:
        return None
    parts = (found.summary, *found.controllers, *found.arrays, *found.volumes, *found.drives)
    places = [place.split(",") for one in parts for place in (one.name, *one.members)]
    return [*places, *(tuple(one.rows.values()) for one in parts), found.batteries]


PARSERS: dict[str, Callable[[str], object]] = {
    "SMcli profile": told,
    "SMcli -d": names_in,
    "SMcli frame": lambda text: refusal(text[:200]) and None,
}
GOOD = {"SMcli profile": (PROFILE, NETAPP, DELL), "SMcli -d": (NAMES,), "SMcli frame": (PROFILE,)}


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", PARSERS)
def test_no_spoiled_answer_is_more_than_it_says(name: str) -> None:
    for seed in range(MANY):
        check_parser(PARSERS[name], spoiled(GOOD[name][seed % len(GOOD[name])], seed))


@pytest.mark.exhaustive
def test_every_spoiled_profile_has_an_inventory_and_readings() -> None:
    picture = Topology(tree=Tree(nodes={}, numbers={}))
    for seed in range(MANY):
        if (profile := parse_profile(spoiled(PROFILE, seed))) is not None:
            assert inventory(profile, picture).controllers
            view = SystemView(program="SMcli", profile=profile)
            assert readings(view)
            assert all(readings(replace(view, volume=one)) for one in profile.volumes)
