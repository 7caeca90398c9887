"""What a level makes of drives, and which drives make no array together."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from backends.array_planning import (
    ArrayRequest,
    Candidate,
    capacity,
    confirm_labels,
    creation_policies,
    is_name,
    require_alike,
    require_free_drive,
    require_shape,
    spans_of,
    spans_that_fit,
)
from backends.change_steps import require_still_free
from backends.device_label import confirm_token
from backends.errors import DeviceGoneError, InvalidValueError, RefusedError
from backends.model import Level, Media, Target
from tests.case_loop import loop_over

CARD = Target(backend="acme", address="c0")


def drive(number: int, **more: object) -> Candidate:
    one = Candidate(
        drive=Target(backend="acme", address=f"c0/{number}"),
        controller=CARD,
        place=f"252:{number}",
        model="X1",
        serial=f"SERIAL00{number:02}",
        media=Media.SSD,
        interface="sas",
        size_bytes=1000 << 20,
        sector_bytes=512,
    )
    return replace(one, **more)  # type: ignore[arg-type]


def wish(level: Level, count: int, **more: object) -> ArrayRequest:
    one = ArrayRequest(level=level, drives=tuple(drive(n) for n in range(count)), name="rb-1", strip_bytes=1 << 18)
    return replace(one, **more)  # type: ignore[arg-type]


@loop_over(
    ("level", "count", "spans", "data"),
    [
        (Level.RAID0, 1, None, 1),
        (Level.RAID0, 6, None, 6),
        (Level.RAID1, 2, None, 1),
        (Level.RAID5, 6, None, 5),
        (Level.RAID6, 6, None, 4),
        (Level.RAID10, 6, None, 3),
        (Level.RAID10, 8, 2, 4),
        (Level.RAID50, 6, None, 4),
        (Level.RAID60, 8, None, 4),
    ],
)
def test_the_drives_that_carry_data_are_those_of_the_level(
    level: Level, count: int, spans: int | None, data: int
) -> None:
    assert require_shape(wish(level, count, spans=spans)) == data


@loop_over(
    ("level", "count", "spans", "why"),
    [
        (Level.RAID1, 1, None, "at least 2 drives"),
        (Level.RAID1, 3, None, "cannot be created from 3 drives"),
        (Level.RAID5, 2, None, "at least 3 drives"),
        (Level.RAID6, 3, None, "at least 4 drives"),
        (Level.RAID10, 5, None, "cannot be divided into 2 spans"),
        (Level.RAID10, 8, 3, "cannot be divided into 3 spans"),
        (Level.RAID50, 7, None, "cannot be divided into 2 spans"),
        (Level.RAID5, 6, 2, "has no spans"),
        (Level.CONCAT, 2, None, "cannot create concat"),
    ],
)
def test_a_level_that_the_drives_do_not_make_is_refused_with_the_reason(
    level: Level, count: int, spans: int | None, why: str
) -> None:
    with pytest.raises(InvalidValueError, match=why):
        require_shape(wish(level, count, spans=spans))


@pytest.mark.parametrize(
    ("level", "count", "end"), [(Level.RAID10, 5, "at least 2, and it must be even."), (Level.RAID50, 7, "at least 3.")]
)
def test_the_hint_says_which_spans_a_level_takes(level: Level, count: int, end: str) -> None:
    with pytest.raises(InvalidValueError) as refused:
        require_shape(wish(level, count))
    assert (refused.value.hint or "").endswith(end)


def test_copies_of_three_drives_are_for_the_kernel_alone() -> None:
    three = wish(Level.RAID1, 3)
    kernel = replace(three, drives=tuple(replace(one, controller=None) for one in three.drives))
    assert require_shape(kernel) == 1


def test_a_raid_10_has_pairs_unless_somebody_says_otherwise() -> None:
    assert (spans_of(Level.RAID10, 8, None), spans_of(Level.RAID10, 8, 2), spans_of(Level.RAID50, 6, None)) == (4, 2, 2)


@loop_over(
    ("level", "drives", "spans"),
    [
        (Level.RAID50, 12, (2, 3, 4)),
        (Level.RAID60, 12, (2, 3)),
        (Level.RAID10, 12, (2, 3, 6)),
        (Level.RAID10, 8, (2, 4)),
        (Level.RAID50, 6, (2,)),
        (Level.RAID50, 5, ()),
        (Level.RAID60, 7, ()),
        (Level.RAID50, 0, ()),
        (Level.RAID5, 12, ()),
    ],
)
def test_drives_can_be_divided_into_each_number_of_spans_that_a_level_allows(
    level: Level, drives: int, spans: tuple[int, ...]
) -> None:
    assert spans_that_fit(level, drives) == spans
    for number in spans:
        assert spans_of(level, drives, number) == number
    for number in {0, 1, 2, 3, 4, 5, 6, 7, 12} - {*spans}:
        if level is not Level.RAID5:
            with pytest.raises(InvalidValueError, match=f"cannot be divided into {number} spans"):
                spans_of(level, drives, number)


LEGAL = {"write_cache": ("write-through", "write-back"), "read_cache": ("on",)}
USUAL = {"write_cache": "write-through", "read_cache": "off", "acceleration": "none"}


def test_policies_at_birth_are_wishes_else_the_usual_ones_that_can_be_said() -> None:
    assert creation_policies({}, LEGAL, USUAL) == {"write_cache": "write-through"}
    assert creation_policies({"write_cache": "write-back"}, LEGAL, USUAL) == {"write_cache": "write-back"}
    assert creation_policies({"read_cache": "on"}, LEGAL, USUAL) == {"write_cache": "write-through", "read_cache": "on"}
    assert creation_policies({}, {}, USUAL) == {}


@pytest.mark.parametrize(
    ("wished", "legal", "why", "hint"),
    [
        (
            {"io_policy": "direct"},
            LEGAL,
            "io_policy cannot be set when creating an array",
            "Options available at creation: write_cache, read_cache",
        ),
        (
            {"io_policy": "direct"},
            {},
            "io_policy cannot be set when creating an array",
            "Set the others after the array exists.",
        ),
        (
            {"write_cache": "maybe"},
            LEGAL,
            "write_cache must be write-through or write-back when creating an array, not 'maybe'",
            "Set the others",
        ),
    ],
)
def test_a_policy_that_cannot_be_said_at_birth_is_refused_and_never_left_out(
    wished: dict[str, str], legal: dict[str, tuple[str, ...]], why: str, hint: str
) -> None:
    with pytest.raises(InvalidValueError, match=why) as caught:
        creation_policies(wished, legal, USUAL)
    assert caught.value.hint.startswith(hint)


@pytest.mark.parametrize(
    ("other", "what"),
    [({"media": Media.HDD}, "media"), ({"interface": "sata"}, "interfaces"), ({"sector_bytes": 4096}, "sector sizes")],
)
def test_drives_of_different_kinds_make_no_array(other: dict[str, object], what: str) -> None:
    with pytest.raises(InvalidValueError, match=f"different {what}"):
        require_alike((drive(1), drive(2, **other)))


def test_unequal_sizes_and_models_are_told_and_a_drive_counts_once() -> None:
    assert len(require_alike((drive(1), drive(2, size_bytes=1 << 30, model="X2")))) == 2
    with pytest.raises(InvalidValueError, match="given twice"):
        require_alike((drive(1), drive(1)))


def test_the_smallest_drive_counts_in_whole_strips() -> None:
    one = wish(Level.RAID5, 3)
    uneven = replace(one, drives=(*one.drives[:2], replace(one.drives[2], size_bytes=(900 << 20) + 5)))
    assert capacity(uneven, 2) == 2 * (900 << 20)
    assert capacity(replace(one, drives=(*one.drives[:2], replace(one.drives[2], size_bytes=None))), 2) is None


def test_every_reason_against_a_drive_is_told_and_none_can_be_talked_round() -> None:
    with pytest.raises(RefusedError, match=r"252:1 cannot be used for an array: it is a hot spare\. it is locked\."):
        require_free_drive(drive(1, why_not=("it is a hot spare", "it is locked")))


def test_one_drive_is_confirmed_by_the_end_of_its_serial_number() -> None:
    assert confirm_token(confirm_labels((drive(1),))) == "AL0001"


def _token(*drives: Candidate) -> str:
    return confirm_token(confirm_labels(drives))


TWO = (drive(1), drive(12))


@pytest.mark.parametrize(
    "others",
    [
        (drive(12), drive(1)),
        (drive(1), drive(12), drive(13)),
        (drive(1), drive(12, serial="SERIAL0112")),
        (drive(1), drive(12, serial=None)),
    ],
)
def test_the_word_for_several_drives_is_that_of_no_other_drives(others: tuple[Candidate, ...]) -> None:
    assert _token(*TWO) == _token(*TWO)
    assert re.fullmatch("2-[0-9a-f]{6}", _token(*TWO))
    assert _token(*others) != _token(*TWO)


@pytest.mark.parametrize("now", [{"serial": "SERIAL9999"}, {"serial": None}])
def test_a_drive_that_was_swapped_in_its_slot_is_refused(now: dict[str, None]) -> None:
    request = wish(Level.RAID0, 2)
    require_still_free(request, request.drives)
    with pytest.raises(DeviceGoneError):
        require_still_free(request, (drive(0), drive(1, **now)))


def test_drives_without_serial_numbers_count_by_their_places() -> None:
    bare = tuple(drive(number, serial=None) for number in range(24))
    assert _token(*bare).startswith("24-")
    assert _token(*bare) != _token(*bare[:23], replace(bare[23], place="252:99"))


def test_the_question_shows_model_serial_number_and_size_of_every_drive() -> None:
    assert [label.sentence for label in confirm_labels(TWO)] == [
        "252:1 is X1, serial number SERIAL0001, 1000 MiB.",
        "252:12 is X1, serial number SERIAL0012, 1000 MiB.",
    ]


def test_free_extents_are_confirmed_by_the_name_of_their_group() -> None:
    volumes = tuple(replace(each, free_extents=10) for each in TWO)
    (label,) = confirm_labels(volumes)
    assert (label.token, len(label.drives)) == ("c0", 2)


@pytest.mark.parametrize(
    ("name", "fits"),
    [("rb-1a2b3c4d", True), ("", False), ("-x", False), ("a b", False), ("x" * 16, False), ("a;b", False)],
)
def test_a_name_is_one_that_every_maker_takes(name: str, fits: bool) -> None:
    assert is_name(name) is fits
