"""How many drives of a virtual drive carry data, and whether it could be made again exactly."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from backends.model import Level, State
from backends.vendors._cards import UNKNOWN, BackgroundOperation, ReportedValue
from backends.vendors.megaraid.dialect import CardSnapshot, NewVolume
from backends.vendors.megaraid.facts import Card, PhysicalDrive, Policies, VirtualDrive
from backends.vendors.megaraid.geometry import data_drives, shape
from backends.vendors.megaraid.storcli.volumes import volumes
from tests.backends.megaraid.answers import properties, show_all, topology, volume_row
from tests.case_loop import loop_over

EIGHT = tuple(f"252:{slot}" for slot in range(8))
RAID5 = VirtualDrive(card=0, number=0, level=Level.RAID5, state=State.OPTIMAL, spans=1, drives_per_span=8, drives=EIGHT)


@loop_over(
    ("level", "spans", "data"),
    [
        (Level.RAID0, 1, 8),
        (Level.RAID1, 1, 4),
        (Level.RAID10, 2, 4),
        (Level.RAID5, 1, 7),
        (Level.RAID50, 2, 6),
        (Level.RAID6, 1, 6),
        (Level.RAID60, 2, 4),
        (Level.UNKNOWN, 1, None),
    ],
)
def test_eight_drives_less_mirrors_and_parity_carry_data(level: Level, spans: int, data: int | None) -> None:
    volume = replace(RAID5, level=level, spans=spans, drives_per_span=8 // spans)
    assert data_drives(volume) == data
    assert data_drives(replace(volume, drives_per_span=None)) == data
    assert data_drives(replace(volume, drives=())) == data


def test_one_that_is_not_spanned_has_one_span_where_the_tool_does_not_say() -> None:
    assert data_drives(replace(RAID5, spans=None, drives=())) == 7


def test_a_missing_drive_does_not_make_the_stripe_narrower() -> None:
    assert data_drives(replace(RAID5, state=State.DEGRADED, drives=EIGHT[1:])) == 7


@pytest.mark.parametrize("level", [Level.RAID50, Level.RAID60])
def test_parity_of_an_unknown_number_of_spans_is_not_guessed(level: Level) -> None:
    assert data_drives(replace(RAID5, level=level, spans=None)) is None


@loop_over("state", [state for state in State if state is not State.OPTIMAL])
def test_the_drives_listed_are_not_counted_while_some_may_be_missing(state: State) -> None:
    assert data_drives(replace(RAID5, state=state, drives_per_span=None, drives=EIGHT[1:])) is None


def test_of_a_group_that_misses_a_drive_storclis_list_is_no_count() -> None:
    whole = show_all(volumes=[volume_row()], groups=topology("252:1", "252:2", "-"))
    (told,) = volumes(0, whole | {"VD1 Properties": properties()})
    (silent,) = volumes(0, whole)
    assert (told.drives_per_span, silent.drives_per_span) == (3, None)


def drive(slot: int, **how: Any) -> PhysicalDrive:
    known: dict[str, Any] = {"state": State.ONLINE, "group": 0, "size_bytes": 1000}
    return PhysicalDrive(card=0, enclosure=252, slot=slot, **(known | how))


def word(value: str) -> ReportedValue:
    return ReportedValue(value=value, raw=value)


WHOLE = replace(
    RAID5,
    group=0,
    alone=True,
    strip_bytes=65_536,
    name="mail",
    access=word("read-write"),
    drive_cache=word("off"),
    configured=Policies(write_cache=word("write-back"), read_ahead=word("none"), io_policy=word("direct")),
)
CONTENTS = CardSnapshot(card=Card(number=0), volumes=(WHOLE,), drives=tuple(drive(slot) for slot in range(8)))


def why_not(contents: CardSnapshot = CONTENTS, **how: Any) -> str | None:
    return shape(contents, replace(WHOLE, **how)).why_not


@loop_over(
    ("level", "spans", "each"),
    [
        (Level.RAID0, 1, None),
        (Level.RAID1, 1, None),
        (Level.RAID5, 1, None),
        (Level.RAID6, 1, None),
        (Level.RAID10, 4, 2),
        (Level.RAID10, 2, 4),
        (Level.RAID10, 1, 8),
        (Level.RAID50, 2, 4),
        (Level.RAID60, 2, 4),
    ],
)
def test_every_level_can_be_made_again_with_the_drives_of_each_of_its_spans(
    level: Level, spans: int, each: int | None
) -> None:
    """Its strip size can be set then: a spanned one is asked for by the drives of a span."""
    volume = replace(WHOLE, level=level, spans=spans, drives_per_span=8 // spans)
    made = shape(CONTENTS, volume)
    assert made.why_not is None
    assert made.new is not None
    assert (made.new.level, made.new.drives, made.new.drives_per_span) == (level.value, EIGHT, each)


def test_it_is_made_again_with_everything_that_was_set() -> None:
    assert shape(CONTENTS, WHOLE).new == NewVolume(
        level="raid5",
        drives=EIGHT,
        drives_per_span=None,
        strip_bytes=65_536,
        write_cache="write-back",
        read_ahead="none",
        io_policy="direct",
        drive_cache="off",
        name="mail",
    )


def test_what_the_tool_does_not_know_is_left_to_the_card() -> None:
    policies = replace(WHOLE.configured, io_policy=None)
    made = shape(CONTENTS, replace(WHOLE, access=None, drive_cache=None, configured=policies, spans=None)).new
    assert made is not None
    assert (made.io_policy, made.drive_cache) == ("", None)


SPANS = "its spans are not understood"
LISTED = "one of its drives has no enclosure and slot"
FILLS = "it does not use its drives completely, so its size would change"
UNSURE = "it may not use its drives completely"


@loop_over(
    ("how", "why"),
    [
        ({"ssd_cache": True}, "it is a CacheCade cache"),
        ({"level": Level.RAID4, "level_raw": "RAID4"}, "its level (RAID4) cannot be re-created"),
        ({"level": Level.UNKNOWN}, "its level (not reported) cannot be re-created"),
        ({"secured": True}, "it is encrypted: the key cannot be re-created"),
        ({"strip_bytes": None}, "the tool does not report its strip size"),
        ({"access": ReportedValue(value="read-only", raw="RO")}, "its access policy is read-only (RO)"),
        ({"state": State.DEGRADED, "state_raw": "Dgrd"}, "it is degraded (Dgrd)"),
        ({"state": State.UNKNOWN}, "it is in an unknown state"),
        ({"jobs": (BackgroundOperation(kind="migration"),)}, "migration is running"),
        ({"drives": ()}, "the tool does not report its drives"),
        ({"drives": (":0", *EIGHT[1:])}, LISTED),
        ({"drives": (*EIGHT[:7], "252:")}, LISTED),
        ({"drives": (*EIGHT[:7], "252:?")}, LISTED),
        ({"level": Level.RAID10, "spans": None}, SPANS),
        ({"level": Level.RAID50, "spans": 2, "drives_per_span": None}, SPANS),
        ({"level": Level.RAID60, "spans": 2, "drives_per_span": 8}, SPANS),
        ({"level": Level.RAID10, "spans": -1, "drives_per_span": -8}, SPANS),
        ({"spans": 2}, SPANS),
        ({"drives_per_span": 7}, "it has 7 drives, but the tool lists 8"),
        ({"group": None}, "the tool does not report its drive group"),
        ({"alone": False}, FILLS),
        ({"alone": None, "size_bytes": 6929}, FILLS),
        ({"alone": None, "size_bytes": None}, UNSURE),
        ({"configured": replace(WHOLE.configured, write_cache=None)}, "its write policy is not understood"),
        ({"configured": replace(WHOLE.configured, write_cache=word(UNKNOWN))}, "its write policy is not understood"),
        ({"configured": replace(WHOLE.configured, read_ahead=None)}, "its read policy is not understood"),
        ({"configured": replace(WHOLE.configured, read_ahead=word(UNKNOWN))}, "its read policy is not understood"),
        ({"configured": replace(WHOLE.configured, io_policy=word(UNKNOWN))}, "its I/O policy is not understood"),
        ({"drive_cache": word(UNKNOWN)}, "the policy for its drives' caches is not understood"),
    ],
)
def test_what_could_not_be_made_again_exactly_is_not_and_says_why(how: dict[str, Any], why: str) -> None:
    made = shape(CONTENTS, replace(WHOLE, **how))
    assert (made.new, made.why_not) == (None, why)


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (drive(3, state=State.REBUILDING, state_raw="Rbld"), "its drive 252:3 is rebuilding (Rbld)"),
        (drive(3, state=State.MISSING), "its drive 252:3 is missing"),
    ],
)
def test_a_drive_that_is_not_online_stands_against_it(one: PhysicalDrive, why: str) -> None:
    assert why_not(replace(CONTENTS, drives=(*CONTENTS.drives[:3], one, *CONTENTS.drives[4:]))) == why


def test_of_two_that_stand_against_it_the_first_is_named() -> None:
    failed = (drive(2, state=State.FAILED, state_raw="Offln"), drive(4, state=State.MISSING, state_raw="Msng"))
    assert why_not(replace(CONTENTS, drives=(*CONTENTS.drives, *failed))) == "its drive 252:2 is failed (Offln)"
    others = tuple(replace(WHOLE, number=number) for number in (3, 4))
    assert why_not(replace(CONTENTS, volumes=others)) == "it shares its drives with virtual drive 3"
    spares = tuple(drive(slot, state=State.SPARE) for slot in (9, 10))
    assert "252:9" in (why_not(replace(CONTENTS, drives=(*CONTENTS.drives, *spares))) or "")
    work = tuple(BackgroundOperation(kind=kind) for kind in ("migration", "initialisation"))
    assert why_not(jobs=work) == "migration is running"


def test_a_drive_of_another_array_does_not() -> None:
    assert why_not(replace(CONTENTS, drives=(*CONTENTS.drives, drive(9, state=State.FAILED)))) is None


def test_a_virtual_drive_beside_it_on_the_same_drives_stands_against_it() -> None:
    beside = replace(WHOLE, number=3)
    assert why_not(replace(CONTENTS, volumes=(WHOLE, beside))) == "it shares its drives with virtual drive 3"
    assert why_not(replace(CONTENTS, volumes=(WHOLE, replace(beside, group=1)))) is None


@pytest.mark.parametrize(("group", "why"), [(0, "it has a dedicated hot spare, 252:9, which would be lost"), (1, None)])
def test_a_hot_spare_of_its_own_stands_against_it(group: int, why: str | None) -> None:
    spare = drive(9, state=State.SPARE, group=group)
    assert why_not(replace(CONTENTS, drives=(*CONTENTS.drives, spare))) == why


@pytest.mark.parametrize("size", [6930, 7000])
def test_whether_it_fills_its_drives_is_reckoned_where_the_tool_does_not_say(size: int) -> None:
    """Seven of eight drives of 1000 carry data; a card keeps up to a hundredth for itself."""
    assert why_not(alone=None, size_bytes=size) is None


@pytest.mark.parametrize("size", [None, 0])
def test_a_drive_of_unknown_size_leaves_that_open(size: int | None) -> None:
    drives = (drive(0, size_bytes=size), *CONTENTS.drives[1:])
    assert why_not(replace(CONTENTS, drives=drives), alone=None, size_bytes=7000) == UNSURE


def test_the_smallest_drive_counts() -> None:
    drives = (drive(0, size_bytes=2000), *CONTENTS.drives[1:])
    assert why_not(replace(CONTENTS, drives=drives), alone=None, size_bytes=7000) is None


def test_an_array_that_would_carry_nothing_is_not_reckoned_with() -> None:
    pair = replace(CONTENTS, drives=CONTENTS.drives[:2])
    how = {"level": Level.RAID6, "drives": EIGHT[:2], "drives_per_span": 2, "alone": None, "size_bytes": 1000}
    assert why_not(pair, **how) == UNSURE
