"""Spoiled answers of tw_cli, cli64 and mvcli: nothing raised, nothing invented, no time lost.

`RAIDBENCH_MUTATIONS` sets how many for each parser; a few hundred without it.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from backends.model import Health
from backends.simulator import tw_cli
from backends.topology import Topology, Tree
from backends.vendors.areca import output_parsing as areca
from backends.vendors.areca.output_parsing import drives, pairs, raid_sets
from backends.vendors.marvell import backend as marvell
from backends.vendors.marvell.backend import ADAPTER, DISK, VOLUME
from backends.vendors.marvell.presence import records
from backends.vendors.threeware.inventory import ThreewareCard, inventory
from backends.vendors.threeware.settings import rows
from tests.backends.listed.texts import ARECA, ARECA_DRIVE, MARVELL, MARVELL_SMART, threeware
from tests.backends.system_texts import MANY, check_parser, spoiled

_3WARE = {
    word: tw_cli.answer((threeware(),), ("info", "c0", word)).text
    for word in ("unitstatus", "drivestatus", "bbustatus")
}

PARSERS: dict[str, Callable[[str], object]] = {
    "tw_cli": lambda text: tuple(tuple(row.values()) for row in rows(text, "Status")),
    "cli64 rows": lambda text: tuple(pairs(text).items()),
    "cli64 disk info": lambda text: [(one.model, one.size, one.usage) for one in drives(text)],
    "cli64 rsf info": raid_sets,
    "mvcli": lambda text: [tuple(row.values()) for kind in (ADAPTER, DISK, VOLUME) for row in records(text, *kind)],
}
GOOD = {
    "tw_cli": tuple(_3WARE.values()),
    "cli64 rows": tuple(ARECA[words] for words in (("sys", "info"), ("sys", "showcfg"), ("hw", "info"))),
    "cli64 disk info": (ARECA["disk", "info"],),
    "cli64 rsf info": (ARECA["rsf", "info"],),
    "mvcli": tuple(MARVELL.values()),
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", PARSERS)
def test_no_spoiled_answer_is_more_than_it_says(name: str) -> None:
    for seed in range(MANY):
        check_parser(PARSERS[name], spoiled(GOOD[name][seed % len(GOOD[name])], seed))


@pytest.mark.exhaustive
def test_every_spoiled_table_of_tw_cli_has_an_inventory() -> None:
    picture = Topology(tree=Tree(nodes={}, numbers={}))
    card = rows(tw_cli.answer((threeware(),), ("info",)).text, "Ctl")[0]
    for seed in range(MANY):
        units = rows(spoiled(_3WARE["unitstatus"], seed), "Unit", "UnitType", "Status")
        ports = rows(spoiled(_3WARE["drivestatus"], seed), "Status", "Unit", "Size")
        assert inventory(ThreewareCard(row=card, units=units, ports=ports), picture).controllers


@pytest.mark.exhaustive
@pytest.mark.parametrize(("read", "good"), [(areca.drive_health, ARECA_DRIVE), (marvell.drive_health, MARVELL_SMART)])
def test_no_spoiled_answer_about_a_drive_raises(read: Callable[[str], Health], good: str) -> None:
    for seed in range(MANY):
        found = read(spoiled(good, seed))
        assert found.temperature is None or found.temperature > 0
        assert found.media_errors is None or found.media_errors >= 0
