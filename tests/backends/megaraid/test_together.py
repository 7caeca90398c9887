"""Several settings of a virtual drive planned as one: what is re-created carries the values that were set with it."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from backends.change import Change
from backends.errors import NotFoundError
from backends.vendors.megaraid.addresses import card_target, volume_target
from backends.vendors.megaraid.backend import MegaRaid
from tests.backends.megaraid.cards import PlayedCard

C0, V1 = card_target("/c0"), volume_target("/c0", 1)
STRIP = str(128 << 10)


async def planned(host: PlayedCard, **values: str) -> tuple[Change, ...]:
    return await MegaRaid(host).plan_together(V1, values)


def lines(changes: Iterable[Change]) -> list[str]:
    """The words of each step after the object."""
    return [" ".join(step.argv[2:-2]) for change in changes for step in change.writes]


def back(change: Change) -> str:
    return " ".join(change.undo[-1].argv)


async def test_a_drive_made_anew_has_the_policies_of_the_same_set() -> None:
    changes = await planned(PlayedCard(), strip_size=STRIP, read_ahead="read-ahead", write_cache="write-back")
    *before, delete, add = lines(changes)
    assert (before, delete) == (["set rdcache=ra", "set wrcache=wb"], "del force")
    assert add.endswith("wb ra direct strip=128")


async def test_the_way_back_of_a_drive_made_anew_has_all_that_was_there_before_the_set() -> None:
    _, strip = await planned(PlayedCard(), strip_size=STRIP, read_ahead="read-ahead")
    assert back(strip).endswith("wt nora direct strip=64 J nolog")


async def test_the_preset_is_carried_in_all_its_parts() -> None:
    host = PlayedCard(wrcache="wb", rdcache="ra", iopolicy="cached")
    add = lines(await planned(host, strip_size=STRIP, fastpath="preset"))[-1]
    assert add.endswith("wt nora direct strip=128")


async def test_the_drives_own_cache_is_carried() -> None:
    add = lines(await planned(PlayedCard(), strip_size=STRIP, drive_cache="on"))[-1]
    assert "pdcache=on" in add


async def test_what_a_drive_made_anew_does_not_keep_is_set_after_it() -> None:
    changes = await planned(PlayedCard(), access_policy="read-only", auto_bgi="off", strip_size=STRIP)
    assert [change.key for change in changes] == ["strip_size", "auto_bgi", "access_policy"]


async def test_a_read_only_drive_is_made_read_write_first_and_remade_as_such() -> None:
    access, strip = await planned(PlayedCard(accesspolicy="ro"), strip_size=STRIP, access_policy="read-write")
    assert (access.key, back(strip).endswith("wt nora direct strip=64 J nolog")) == ("access_policy", True)


async def test_settings_that_do_not_depend_on_each_other_stay_in_the_order_given() -> None:
    changes = await planned(PlayedCard(), read_ahead="read-ahead", write_cache="write-back")
    assert [change.key for change in changes] == ["read_ahead", "write_cache"]


async def test_each_begins_where_the_one_before_it_ends() -> None:
    preset, ahead = await planned(PlayedCard(rdcache="ra"), fastpath="preset", read_ahead="read-ahead")
    assert (preset.key, ahead.before, ahead.after) == ("fastpath", "none", "read-ahead")


async def test_several_settings_of_a_card_are_planned_too() -> None:
    changes = await MegaRaid(PlayedCard()).plan_together(C0, {"rebuild_rate": "50", "bgi_rate": "40"})
    assert [(change.key, change.after) for change in changes] == [("rebuild_rate", "50"), ("bgi_rate", "40")]


async def test_one_unknown_key_refuses_the_set() -> None:
    with pytest.raises(NotFoundError, match="no setting rebuild_rate"):
        await planned(PlayedCard(), read_ahead="read-ahead", rebuild_rate="50")
