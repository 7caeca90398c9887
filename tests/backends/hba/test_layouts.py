"""The bytes a MegaRAID card answers, and what they mean."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable

import pytest

from backends.model import Level, Media, State
from backends.vendors._cards import ReportedValue
from backends.vendors.hba.firmware import codes, layouts
from backends.vendors.hba.firmware.layouts import FirmwareDrive
from backends.vendors.megaraid.facts import ddf_level
from tests.backends.hba.answers import (
    BATTERY,
    CONFIGURATION,
    CONTROLLER,
    DRIVES,
    PROPERTIES,
    SILENT_DRIVE,
    VOLUME,
    VOLUMES,
    drive,
)
from tests.case_loop import loop_over

SLOT = FirmwareDrive(device_id=9, enclosure=252, slot=3, kind=0)


def test_the_card_says_what_it_is() -> None:
    card = layouts.card(CONTROLLER, 7)
    assert (card.model, card.serial, card.firmware) == ("LSI MegaRAID SAS 9260-8i", "LABMEGA0", "1.80-QEMU")


def test_the_card_says_its_package_and_its_memory() -> None:
    card = layouts.card(CONTROLLER, 7)
    assert (card.package, card.cache_bytes) == ("2.5+-QEMU", 512 << 20)


def test_the_card_says_which_strips_it_can_make() -> None:
    card = layouts.card(CONTROLLER, 7)
    assert (card.strip_minimum, card.strip_maximum) == (4 << 10, 32 << 20)


def test_the_card_says_which_settings_it_can_change() -> None:
    changed = bytearray(CONTROLLER)
    assert layouts.card(bytes(changed), 7).supports == dict.fromkeys(codes.OPERATIONS, True)
    struct.pack_into("<I", changed, 1508, codes.OPERATIONS["write_cache"])
    supported = layouts.card(bytes(changed), 7).supports
    assert {key for key, can_change in supported.items() if can_change} == {"write_cache"}


def test_a_card_without_a_battery_says_so() -> None:
    assert not layouts.has_battery(CONTROLLER)
    assert layouts.card(CONTROLLER, 7).backup_known


def test_rates_are_percent_and_seconds() -> None:
    rates = layouts.rates(PROPERTIES)
    assert (rates["rebuild_rate"], rates["cache_flush_interval"]) == ("30", "4")


def test_the_list_of_arrays_has_their_numbers() -> None:
    assert layouts.volume_numbers(VOLUMES) == (3, 2, 1, 0)


def test_an_array_says_level_strip_size_and_state() -> None:
    found = layouts.volume(VOLUME)
    assert (found.level, found.strip_bytes, found.size_bytes, found.state) == (
        Level.RAID0,
        4096,
        256 << 20,
        State.OPTIMAL,
    )


def test_what_is_set_and_what_is_in_force_are_told_apart() -> None:
    data = bytearray(VOLUME)
    data[20], data[23] = 0x01 | 0x04, 0x04
    found = layouts.volume(bytes(data))
    assert found.configured.write_cache == ReportedValue(value="write-back", raw="cache policy 0x05")
    assert found.in_force == codes.policies(0x04)


def test_background_work_on_an_array_has_a_progress() -> None:
    data = bytearray(VOLUME)
    data[264:268] = struct.pack("<I", 0b10)
    data[272:274] = struct.pack("<H", 0x8000)
    job = layouts.volume(bytes(data)).jobs[0]
    assert (job.kind, round(job.progress or 0, 2)) == ("background-initialisation", 0.5)


@loop_over(
    ("primary", "secondary", "spans", "level"),
    [
        (0, 0, 1, Level.RAID0),
        (1, 0, 1, Level.RAID1),
        (1, 0, 2, Level.RAID10),
        (1, 3, 1, Level.RAID10),
        (5, 0, 1, Level.RAID5),
        (5, 0, 3, Level.RAID50),
        (6, 0, 2, Level.RAID60),
        (17, 0, 1, Level.UNKNOWN),
        (5, 2, 1, Level.UNKNOWN),
    ],
)
def test_levels(primary: int, secondary: int, spans: int, level: Level) -> None:
    assert ddf_level(primary, secondary, spans) is level


@pytest.mark.parametrize(
    ("bits", "write", "read", "io"),
    [
        (0x00, "write-through", "none", "direct"),
        (0x01, "write-back", "none", "direct"),
        (0x11, "always-write-back", "none", "direct"),
        (0x10, "write-through", "none", "direct"),
        (0x04, "write-through", "read-ahead", "direct"),
        (0x0C, "write-through", "adaptive", "direct"),
        (0x60, "write-through", "none", "cached"),
    ],
)
def test_cache_policies(bits: int, write: str, read: str, io: str) -> None:
    found = codes.policies(bits)
    values = [word.value for word in (found.write_cache, found.read_ahead, found.io_policy) if word is not None]
    assert values == [write, read, io]


def test_the_list_of_drives_has_their_places() -> None:
    assert layouts.places(DRIVES) == (FirmwareDrive(512, None, 2, 0), FirmwareDrive(0, None, 0, 0))


def test_a_drive_says_what_it_is() -> None:
    found = layouts.drive(drive(9), SLOT)
    assert (found.model, found.serial, found.firmware) == ("EXAMPLE SSD 960", "SER1234567890", "0132")
    assert (found.media, found.interface, found.link, found.state) == (Media.SSD, "sata", "6.0Gb/s", State.ONLINE)


def test_a_drives_size_is_in_its_own_sectors() -> None:
    assert layouts.drive(drive(9), SLOT).size_bytes == 960197124096
    assert layouts.drive(drive(9, b404=struct.pack("<H", 4096)), SLOT).size_bytes == 960197124096 * 8


def test_a_drives_place_is_the_lists() -> None:
    assert layouts.drive(drive(9), SLOT).place == "252:3"


def test_a_rebuilding_drive_says_how_far_it_is() -> None:
    data = drive(9, b184=b"\x14", b260=struct.pack("<IH", 1, 0xFFFF // 4))
    found = layouts.drive(data, SLOT)
    assert found.state is State.REBUILDING
    assert [(job.kind, round(job.progress or 0, 2)) for job in found.jobs] == [("rebuild", 0.25)]


def test_an_answer_about_another_drive_is_not_believed() -> None:
    found = layouts.drive(drive(10), SLOT)
    assert (found.model, found.state) == (None, State.UNKNOWN)


def test_a_drive_that_says_nothing_of_itself_is_unknown() -> None:
    found = layouts.drive(SILENT_DRIVE, FirmwareDrive(0, None, 0, 0))
    assert (found.state, found.size_bytes, found.model) == (State.UNKNOWN, None, None)


def test_the_configuration_says_who_is_a_member_of_what() -> None:
    found = layouts.configuration(CONFIGURATION)
    assert (found.members(2), found.members(0)) == ((512,), (0,))


def test_the_configuration_of_a_real_card_has_the_size_of_one_record() -> None:
    real = CONFIGURATION[:4] + struct.pack("<HHHH", 2, 288, 2, 256) + CONFIGURATION[12:]
    assert layouts.configuration(real) == layouts.configuration(CONFIGURATION)


def test_the_configuration_says_the_state_of_a_member() -> None:
    assert layouts.configuration(CONFIGURATION).state(512) == 0x18


def test_a_missing_member_is_left_out() -> None:
    data = bytearray(CONFIGURATION)
    data[64:66] = b"\xff\xff"
    assert layouts.configuration(bytes(data)).members(2) == ()


def test_a_battery_without_a_complaint_is_optimal() -> None:
    found = layouts.battery(BATTERY)
    assert found is not None
    assert (found.state.value, found.healthy, found.temperature_c) == ("optimal", True, 28)
    assert (found.details["voltage"], found.details["current"]) == ("4.00 V", "-10 mA")


@loop_over(
    ("kind", "bit", "state", "healthy"),
    [
        (2, 0, "missing", False),
        (2, 10, "failed", False),
        (2, 11, "degraded", False),
        (2, 3, "charging", True),
        (2, 6, "learning", True),
        (1, 6, "learning", False),
        (1, 1, "failed", False),
        (9, 0, "unknown", None),
    ],
)
def test_what_a_battery_complains_of(kind: int, bit: int, state: str, healthy: bool | None) -> None:
    found = codes.backup(kind, 1 << bit, 30, 0, 4000)
    assert (found.state.value, found.healthy) == (state, healthy)


def test_no_battery_is_none() -> None:
    assert layouts.battery(bytes(64)) is None


PARSERS: tuple[tuple[Callable[[bytes], object], bytes], ...] = (
    (lambda data: layouts.card(data, 0), CONTROLLER),
    (layouts.rates, PROPERTIES),
    (layouts.volume_numbers, VOLUMES),
    (layouts.volume, VOLUME),
    (layouts.places, DRIVES),
    (lambda data: layouts.drive(data, SLOT), drive(9)),
    (layouts.configuration, CONFIGURATION),
    (layouts.battery, BATTERY),
)


@loop_over(("parse", "data"), PARSERS)
def test_an_answer_that_is_too_short_says_so(parse: Callable[[bytes], object], data: bytes) -> None:
    with pytest.raises(ValueError, match="bytes"):
        parse(data[:7])


@loop_over(("parse", "data"), PARSERS)
def test_no_answer_breaks_anything(parse: Callable[[bytes], object], data: bytes) -> None:
    """Bytes changed, cut off and put in: either it has a meaning or it is a ValueError."""
    chance = random.Random(20)
    for _ in range(400):
        mutated = bytearray(data)
        for _ in range(chance.randint(1, 12)):
            mutated[chance.randrange(len(mutated))] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
        if chance.random() < 0.3:
            del mutated[chance.randrange(len(mutated)) :]
        try:
            parse(bytes(mutated))
        except ValueError:
            continue
