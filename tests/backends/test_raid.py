"""Drives that carry data: one answer for all levels and makers, each with where it comes from."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from backends.model import Level, State, Target
from backends.raid import copies_of, data_drives, full_stripe, layout_of
from backends.topology import Topology
from backends.topology.tree import Tree
from backends.vendors._disk_systems import level_of
from backends.vendors.lvm.facts import LvFacts
from backends.vendors.lvm.inventory import array_of
from backends.vendors.marvell import backend as marvell
from backends.vendors.mdraid.facts import ArrayFacts, ReshapedValue
from backends.vendors.megaraid import geometry as megaraid
from backends.vendors.megaraid.facts import VirtualDrive
from backends.vendors.smartarray import inventory as smartarray
from backends.vendors.smartarray import text as texts
from backends.vendors.smartarray.facts import LogicalDrive
from backends.vendors.threeware import inventory as threeware
from tests.case_loop import loop_over

NOTHING = Topology(tree=Tree(nodes={}, numbers={}))
OWNER = Target(backend="any", address="card")


def _megaraid(level: str, members: int, spans: int | None = None) -> int | None:
    drives = tuple(f"252:{slot}" for slot in range(members))
    return megaraid.data_drives(
        VirtualDrive(card=0, number=0, level=Level(level), state=State.OPTIMAL, spans=spans, drives=drives)
    )


def _smart_array(words: str, members: int, groups: int | None = None, *, strips: int | None = None) -> int | None:
    volume = LogicalDrive(
        number=1,
        level=texts.level(words),
        level_raw=words,
        drives=tuple(f"1I:1:{at}" for at in range(members)),
        parity_groups=groups,
        strip_bytes=1 << 18,
        stripe_bytes=None if strips is None else strips << 18,
    )
    return smartarray._data_drives(volume, counted=True)


def _md(word: str, members: int, layout: int = 0) -> int | None:
    return ArrayFacts(name="md0", level_word=word, disks=members, layout=ReshapedValue(now=layout)).data_drives


def _lvm(word: str, members: int) -> int | None:
    volume = LvFacts(
        group="vg0",
        name="mail",
        hidden=False,
        uuid="",
        group_uuid="",
        kind=word,
        layout=("raid", word),
        places=tuple(f"mail_rimage_{at}" for at in range(members)),
        columns={"stripes": str(members)},
    )
    return array_of(volume, {"mail": volume}, NOTHING).data_drives


def _threeware(word: str, members: int, status: str = "OK") -> int | None:
    unit = {"Unit": "u0", "UnitType": word, "Status": status}
    card = threeware.ThreewareCard(row={"Ctl": "c0"}, units=(unit,), ports=())
    ports = [{"VPort": f"p{at}"} for at in range(members)]
    return threeware._array(card, unit, OWNER, ports, NOTHING).data_drives


def _marvell(word: str, members: int) -> int | None:
    return marvell._array(
        {"id": "0", "raid mode": word, "pd raid setup": " ".join("0123456"[:members])}, OWNER
    ).data_drives


def _disk_system(number: str, members: int) -> int | None:
    return data_drives(level_of(number, members), members)


USER_GUIDE = "MegaRAID SAS Software User Guide: RAID 1 takes 2 to 32 drives, an even number, and holds half of them"
ADM = "HPE Smart Array SR user guide: RAID 1 (ADM) and 10 (ADM) keep three copies"
ARCCONF = "arcconf lists `Group 1, Segment 0`"
SETUP_GEO = "drivers/md/raid10.c, setup_geo: near copies in the low byte of the layout, far copies in the next"
LVMRAID = "lvmraid(7): raid1 keeps one copy on every image, raid10 two"
MIRROR = "lvmraid(7): the older mirror, a copy on every leg"
CLI_GUIDE = "3ware CLI Guide: RAID 1 of two, RAID 10 of pairs; the drives of a RAID 50 group are told at creation only"
MARVELL = "88SE9230 product brief: RAID 10 of four disks in pairs"
DS4000 = (
    "DS4000 Script Commands Guide: RAID 1 of four drives and more is striped over pairs; RAID 3 has one parity drive"
)

TABLE: list[tuple[Callable[..., int | None], tuple[object, ...], int | None, str]] = [
    (_megaraid, ("raid0", 4), 4, ""),
    (_megaraid, ("raid1", 2), 1, ""),
    (_megaraid, ("raid1", 4), 2, USER_GUIDE),
    (_megaraid, ("raid5", 4), 3, ""),
    (_megaraid, ("raid6", 4), 2, ""),
    (_megaraid, ("raid10", 4, 2), 2, ""),
    (_megaraid, ("raid50", 6, 2), 4, ""),
    (_megaraid, ("raid60", 8, 2), 4, ""),
    (_megaraid, ("raid50", 6), None, "spans not told"),
    (_megaraid, ("jbod", 1), None, "no stripe"),
    (_smart_array, ("0", 4), 4, ""),
    (_smart_array, ("1", 2), 1, ""),
    (_smart_array, ("1 (ADM)", 3), 1, ADM),
    (_smart_array, ("1+0", 4), 2, ""),
    (_smart_array, ("1+0 (ADM)", 6), 2, ADM),
    (_smart_array, ("10 (Triple)", 6), 2, ADM),
    (_smart_array, ("5", 4), 3, ""),
    (_smart_array, ("6", 4), 2, ""),
    (_smart_array, ("50", 6, 2), 4, ARCCONF),
    (_smart_array, ("60", 8, 2), 4, ARCCONF),
    (_smart_array, ("50", 6), None, "parity groups not told"),
    (_md, ("raid0", 4), 4, ""),
    (_md, ("raid1", 4), 1, "drivers/md/raid1.c: every member is a copy"),
    (_md, ("raid4", 4), 3, ""),
    (_md, ("raid5", 4), 3, ""),
    (_md, ("raid5", 2), 1, ""),
    (_md, ("raid6", 4), 2, ""),
    (_md, ("raid10", 4, 0x102), 2, SETUP_GEO),
    (_md, ("raid10", 6, 0x103), 2, SETUP_GEO),
    (_md, ("raid10", 4, 0x201), 2, SETUP_GEO),
    (_md, ("raid10", 3, 0x102), None, "no whole number"),
    (_md, ("linear", 4), None, "no stripe"),
    (_lvm, ("raid0", 4), 4, ""),
    (_lvm, ("striped", 4), 4, ""),
    (_lvm, ("raid1", 4), 1, LVMRAID),
    (_lvm, ("mirror", 2), 1, MIRROR),
    (_lvm, ("raid4", 4), 3, ""),
    (_lvm, ("raid5", 4), 3, ""),
    (_lvm, ("raid6", 5), 3, ""),
    (_lvm, ("raid10", 4), 2, LVMRAID),
    (_lvm, ("linear", 1), None, "no stripe"),
    (_threeware, ("RAID-0", 4), 4, ""),
    (_threeware, ("RAID-1", 2), 1, CLI_GUIDE),
    (_threeware, ("RAID-5", 4), 3, ""),
    (_threeware, ("RAID-6", 5), 3, ""),
    (_threeware, ("RAID-10", 4), 2, CLI_GUIDE),
    (_threeware, ("RAID-50", 6), None, CLI_GUIDE),
    (_threeware, ("SINGLE", 1), None, "no stripe"),
    (_threeware, ("RAID-5", 3, "DEGRADED"), None, "a drive that is gone is not listed"),
    (_marvell, ("RAID0", 2), 2, ""),
    (_marvell, ("RAID1", 2), 1, ""),
    (_marvell, ("RAID10", 4), 2, MARVELL),
    (_marvell, ("JBOD", 1), None, "no stripe"),
    (_disk_system, ("0", 4), 4, ""),
    (_disk_system, ("1", 2), 1, ""),
    (_disk_system, ("1", 4), 2, DS4000),
    (_disk_system, ("3", 4), 3, DS4000),
    (_disk_system, ("5", 4), 3, ""),
    (_disk_system, ("6", 5), 3, ""),
    (_disk_system, ("10", 4), 2, ""),
]
"""Maker, its level and members (with spans, groups, layout or state), data drives, the source where makers differ."""


def test_drives_that_carry_data_by_level_and_maker() -> None:
    wrong = [(maker.__name__, about, data, got) for maker, about, data, _ in TABLE if (got := maker(*about)) != data]
    assert not wrong


def test_every_level_with_a_stripe_is_in_the_table() -> None:
    striped = {level for level in Level if data_drives(level, 12, spans=2) is not None}
    assert striped == {Level(f"raid{number}") for number in (0, 1, 4, 5, 6, 10, 50, 60)}


@loop_over("level", Level)
def test_without_members_there_is_no_answer(level: Level) -> None:
    assert data_drives(level, 0, spans=2) is None
    assert data_drives(level, None, spans=2) is None


@pytest.mark.parametrize(
    ("level", "members"), [(Level.RAID5, 1), (Level.RAID6, 2), (Level.RAID50, 2), (Level.RAID60, 4)]
)
def test_parity_alone_carries_no_data(level: Level, members: int) -> None:
    assert data_drives(level, members, spans=2) is None


@pytest.mark.parametrize(
    ("words", "strips", "groups", "data"),
    [("5", 15, None, 15), ("1+0", 2, None, 2), ("50", 2, 2, 4), ("60", 4, 3, 12), ("50", 2, None, None)],
)
def test_a_whole_stripe_of_a_smart_array_is_that_of_one_parity_group(
    words: str, strips: int, groups: int | None, data: int | None
) -> None:
    """As ssacli tells of 6 drives in 2 groups: strips of 256 KB, Full Stripe Size 512 KB."""
    assert _smart_array(words, 6, groups, strips=strips) == data


def test_a_full_stripe_is_a_strip_of_each_data_drive() -> None:
    assert full_stripe(1 << 16, 3) == 3 << 16
    assert full_stripe(None, 3) is None
    assert full_stripe(1 << 16, None) is None


@pytest.mark.parametrize(
    ("text", "layout", "copies"),
    [
        ("f2", "f2", 2),
        ("far", "f2", 2),
        ("near=3", "n3", 3),
        ("offset4", "o4", 4),
        (" N2 ", "n2", 2),
        ("o12", "o12", 12),
    ],
)
def test_a_layout_is_read_as_mdadm_writes_and_as_it_prints_it(text: str, layout: str, copies: int) -> None:
    assert (layout_of(text), copies_of(layout)) == (layout, copies)


@loop_over("text", ["", "f", "f0", "f1", "far=1", "x2", "left-symmetric", "f123", "f2o2", "f\u0662"])
def test_what_is_no_layout_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="near, far or offset"):
        layout_of(text)
