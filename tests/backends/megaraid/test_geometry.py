"""How many drives of a virtual drive carry data."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.model import Level, State
from backends.vendors.megaraid.facts import VirtualDrive
from backends.vendors.megaraid.geometry import data_drives
from backends.vendors.megaraid.storcli.volumes import volumes
from tests.backends.megaraid.answers import properties, show_all, topology, volume_row

EIGHT = tuple(f"252:{slot}" for slot in range(8))
RAID5 = VirtualDrive(card=0, number=0, level=Level.RAID5, state=State.OPTIMAL, spans=1, drives_per_span=8, drives=EIGHT)


@pytest.mark.parametrize(
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


def test_a_missing_drive_does_not_make_the_stripe_narrower() -> None:
    assert data_drives(replace(RAID5, state=State.DEGRADED, drives=EIGHT[1:])) == 7


@pytest.mark.parametrize("level", [Level.RAID50, Level.RAID60])
def test_parity_of_an_unknown_number_of_spans_is_not_guessed(level: Level) -> None:
    assert data_drives(replace(RAID5, level=level, spans=None)) is None


@pytest.mark.parametrize("state", [state for state in State if state is not State.OPTIMAL])
def test_the_drives_listed_are_not_counted_while_some_may_be_missing(state: State) -> None:
    assert data_drives(replace(RAID5, state=state, drives_per_span=None, drives=EIGHT[1:])) is None


def test_of_a_group_that_misses_a_drive_storclis_list_is_no_count() -> None:
    whole = show_all(volumes=[volume_row()], groups=topology("252:1", "252:2", "-"))
    (told,) = volumes(0, whole | {"VD1 Properties": properties()})
    (silent,) = volumes(0, whole)
    assert (told.drives_per_span, silent.drives_per_span) == (3, None)
