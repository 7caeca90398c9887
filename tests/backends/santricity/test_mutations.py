"""Spoiled answers of the web services: nothing raised, nothing invented, no time lost.

`RAIDBENCH_MUTATIONS` sets how many for each parser; a few hundred without it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from backends.host import Completed
from backends.model import Array, Controller, Drive
from backends.topology import Topology, Tree
from backends.vendors.santricity import responses
from backends.vendors.santricity.facts import WebHardware, WebSystem, WebView, WebVolume
from backends.vendors.santricity.inventory import inventory
from backends.vendors.santricity.readings import BY_KEY, readings
from tests.backends.santricity.services import DOOR, PlayedServices
from tests.backends.system_texts import MANY, check_parser, spoiled
from tests.case_loop import loop_over

PLAYED = PlayedServices()
PICTURE = Topology(tree=Tree(nodes={}, numbers={}))


def there(wwn: str | None, text: str) -> bool:
    """Whether a world wide name stands in a text: in small letters or capitals, with colons or without."""
    assert wwn is None or wwn in text.lower().replace(":", ""), wwn
    return True


def systems(text: str) -> object:
    found = responses.systems(text, DOOR)
    return [replace(one, door="", wwn=None) for one in found if there(one.wwn, text)]


def hardware(text: str) -> object:
    found = responses.hardware(text)
    parts = [(one.model, one.serial, one.firmware, one.status) for one in found.controllers]
    drives = [
        (one.model, one.serial, one.media, one.status, one.size_bytes) for one in found.drives if there(one.wwn, text)
    ]
    return [parts, drives, [one for one in found.batteries if one != "unknown"], found.serials]


PARSERS: dict[str, Callable[[str], object]] = {
    "storage-systems": systems,
    "volumes": lambda text: [_fields(each) for each in responses.volumes(text) if there(each.wwn, text)],
    "storage-pools": lambda text: [(one.id, one.name) for one in responses.groups(text) if there(one.wwn, text)],
    "hardware-inventory": hardware,
    "refusal": lambda text: responses.refusal(Completed(returncode=22, stdout=text, stderr="HTTP 422 x"), "x") and None,
}
GOOD = {
    "storage-systems": json.dumps([PLAYED.system(), PLAYED.system() | {"id": "2", "name": "array2"}], indent=1),
    "volumes": json.dumps([PLAYED.volume(), PLAYED.volume() | {"volumeRef": "02AB", "label": "slow"}], indent=1),
    "storage-pools": json.dumps([PLAYED.group()], indent=1),
    "hardware-inventory": json.dumps(PLAYED.hardware(), indent=1),
    "refusal": json.dumps({"errorMessage": "No.", "localizedMessage": "No.", "retcode": "5"}),
}


def _fields(one: WebVolume) -> tuple[object, ...]:
    known = (one.id, one.name, one.level, one.status, one.action, one.size_bytes, one.segment_bytes)
    return (*known, one.group, one.owner, one.preferred, one.thin, one.changeable)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", PARSERS)
def test_no_spoiled_answer_is_more_than_it_says(name: str) -> None:
    for seed in range(MANY):
        check_parser(PARSERS[name], spoiled(GOOD[name], seed))


@pytest.mark.exhaustive
def test_whatever_is_told_has_an_inventory_and_readings() -> None:
    good = responses.volumes(GOOD["volumes"])
    for seed in range(MANY):
        (system, *_) = responses.systems(spoiled(GOOD["storage-systems"], seed), DOOR) or (
            WebSystem(door=DOOR, id="1", name="1"),
        )
        found = responses.volumes(spoiled(GOOD["volumes"], seed)) or good
        groups = responses.groups(spoiled(GOOD["storage-pools"], seed))
        made_of = responses.hardware(spoiled(GOOD["hardware-inventory"], seed))
        whole = inventory(system, found, groups, made_of, PICTURE)
        things: tuple[Controller | Array | Drive, ...] = (*whole.controllers, *whole.arrays, *whole.drives)
        addresses = [str(one.target) for one in things]
        assert len(addresses) == len(set(addresses))
        assert all("\n" not in one and " " not in one.replace("/drive ", "") for one in addresses)
        for volume in found:
            told = readings(WebView(system=system, volume=volume, hardware=made_of))
            legal = {key: {choice.value for choice in one.choices} for key, one in told.items() if key in BY_KEY}
            assert all(told[key].now in (None, "unknown", *legal[key]) for key in legal)


@loop_over("id", ["../../x", "1/2", "1 2", "1\r\nX: y", "", "ä", "x" * 65, "?a=b", "%2e%2e", "1#"])
def test_what_could_lead_elsewhere_in_a_path_is_no_id(id: str) -> None:
    assert responses.systems(json.dumps([{"id": id, "name": "x"}]), DOOR) == ()
    assert responses.volumes(json.dumps([{"volumeRef": id, "label": "x"}])) == ()


def test_two_of_one_name_are_called_by_their_ids() -> None:
    told = [{"id": "1", "name": "twin"}, {"id": "2", "name": "twin"}, {"id": "3", "name": "1"}]
    assert [one.name for one in responses.systems(json.dumps(told), DOOR)] == ["1", "2", "3"]


def test_what_is_not_told_is_nothing() -> None:
    assert responses.hardware("") == WebHardware()
    assert responses.systems("{}", DOOR) == ()
    (one,) = responses.volumes('[{"volumeRef": "02AB"}]')
    view = WebView(system=WebSystem(door=DOOR, id="1", name="1"), volume=one)
    assert {reading.now for reading in readings(view).values()} == {None}
