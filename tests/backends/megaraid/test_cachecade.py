"""SSDs as a cache of virtual drives (CacheCade): which are served by one, and what the cache itself is."""

from __future__ import annotations

import pytest

from backends.topology import scan_topology
from backends.vendors._cards import UNKNOWN, ReportedValue
from backends.vendors.megaraid.dialect import CardSnapshot
from backends.vendors.megaraid.effective import VolumeView
from backends.vendors.megaraid.facts import Card, VirtualDrive
from backends.vendors.megaraid.inventory import inventory
from backends.vendors.megaraid.megacli import MegaCli
from backends.vendors.megaraid.megacli.volumes import parse_volumes
from backends.vendors.megaraid.readings import volume_readings
from backends.vendors.megaraid.storcli.volumes import volumes
from tests.backends.fakes import FakeHost
from tests.backends.megaraid import answers
from tests.backends.megaraid import megacli_texts as texts

CACHE = (
    "CacheCade Virtual Drive: 1 (Target Id: 1)\nVirtual Drive Type: CacheCade \nName:cache0\nSize:512.0 GB\n"
    "Default Cache Policy: WriteBack, ReadAheadNone, Direct, No Write Cache if Bad BBU\n"
)


@pytest.mark.parametrize(
    ("lines", "meaning"),
    [
        ("Is VD Cached: No", "off"),
        ("Is VD Cached: Yes\nCache Cade Type : Read Only", "reads"),
        ("Is VD Cached: Yes\nCache Cade Type : Read and Write", "reads and writes"),
        ("Is VD Cached: Yes", "on"),
        ("Is VD Cached: Oui", UNKNOWN),
    ],
)
def test_megacli_says_what_is_cached(lines: str, meaning: str) -> None:
    (one,) = parse_volumes(texts.volume(0).replace("Is VD Cached: No", lines))
    assert one.cached is not None
    assert one.cached.value == meaning


def test_where_megacli_says_nothing_of_it_nothing_is_known() -> None:
    assert parse_volumes(texts.volume(0).replace("Is VD Cached: No", ""))[0].cached is None


@pytest.mark.parametrize(("column", "meaning"), [("-", "off"), ("R", "on"), (" RW ", "on"), ("", None), (None, None)])
def test_storcli_says_it_in_its_column(column: object, meaning: str | None) -> None:
    (one,) = volumes(0, {"VD LIST": [answers.volume_row(Cac=column)]})
    assert (one.cached.value if one.cached is not None else None) == meaning


@pytest.mark.parametrize(
    ("volume", "told"),
    [
        (
            VirtualDrive(card=0, number=0, cached=ReportedValue(value="reads", raw="Yes, Read Only")),
            "reads (Yes, Read Only)",
        ),
        (VirtualDrive(card=0, number=0, cached=ReportedValue(value="on", raw="RW")), "on (RW)"),
        (VirtualDrive(card=0, number=0, ssd_cache=True), "it is a cache of virtual drives"),
        (VirtualDrive(card=0, number=0, cached=ReportedValue(value="off", raw="-")), None),
        (VirtualDrive(card=0, number=0), None),
    ],
)
async def test_it_is_among_the_facts(volume: VirtualDrive, told: str | None) -> None:
    contents = CardSnapshot(card=Card(number=0), volumes=(volume,))
    (array,) = inventory("/c0", contents, "storcli64", None, await scan_topology(FakeHost({}))).arrays
    assert {fact.label: fact.value for fact in array.facts}.get("CacheCade") == told


def test_policies_of_the_cache_itself_are_not_offered() -> None:
    (cache,) = parse_volumes(CACHE)
    view = VolumeView(
        contents=CardSnapshot(card=Card(number=0), volumes=(cache,)),
        dialect=MegaCli(FakeHost({}), "/MegaCli64"),
        volume=cache,
    )
    found = volume_readings(view)
    assert [key for key, reading in found.items() if reading.availability.available] == []
    assert found["write_cache"].availability.why_not == "it is a CacheCade cache, not a virtual drive"
