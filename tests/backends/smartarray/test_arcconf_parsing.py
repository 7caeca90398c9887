"""What arcconf prints of both families, and what is understood of it."""

from __future__ import annotations

import pytest

from backends.model import Level, Media, State
from backends.simulator.smartarray.arcconf import USAGE
from backends.vendors._cards import value_of
from backends.vendors.smartarray import effective
from backends.vendors.smartarray.arcconf import commands
from backends.vendors.smartarray.arcconf.parsing import (
    card_text,
    numbers,
    refusal_reason,
    short_list,
    tasks,
    write_cache,
)
from backends.vendors.smartarray.facts import CardText, Family
from tests.backends.smartarray.texts import NO_COLUMNS, SERIES, SMART, STATUS


def whole(text: str, status: str = "") -> CardText:
    found = card_text(text, 1, status=status)
    assert found is not None
    return found


def test_the_family_shows_in_the_text() -> None:
    assert (whole(SERIES).card.family, whole(SMART).card.family) == (Family.SERIES, Family.SMART)


def test_a_card_of_series_6_is_read() -> None:
    card = whole(SERIES).card
    assert (card.model, card.firmware, card.temperature_c) == ("Adaptec 6405", "5.2-0 (19109)", -4)
    assert {key: phrase.value for key, phrase in card.values.items()} == {
        "performance_mode": "dynamic",
        "task_priority": "high",
    }


def test_columns_and_indentation_do_not_matter() -> None:
    assert whole(NO_COLUMNS).volumes == whole(SERIES).volumes
    assert whole(NO_COLUMNS).card == whole(SERIES).card


def test_carriage_returns_do_not_matter() -> None:
    assert whole(SERIES.replace("\n", "\r\n")) == whole(SERIES)


def test_write_back_without_a_module_is_not_in_force_and_the_card_says_so() -> None:
    found = whole(SERIES)
    drive = found.volumes[0]
    assert value_of(drive.write_cache) == "write-back"
    force, why = effective.write_cache(found.card, drive)
    assert force == "write-through"
    assert why == "the cache has no battery or capacitor (ZMM not installed) (the controller reports Off)"


def test_members_are_found_by_serial_number_by_seat_and_by_channel() -> None:
    assert whole(SERIES).volumes[0].drives == ("0:16", "0:17", "0:18")


def test_a_defunct_drive_has_failed_and_a_model_that_fills_the_makers_letters_is_one_word() -> None:
    """As a ServeRAID's SATA drives read: `ST310003` and `40NS`."""
    text = SERIES.replace("\r", "")
    lines = [line.strip() for line in text.splitlines()]
    model = next(line for line in lines if line.startswith("Model"))
    maker = next(line for line in lines if line.startswith("Vendor"))
    on = next(line for line in lines if line.startswith("State") and "Online" in line)
    label = maker.partition(":")[0]
    for said, told in (("ST310003", "ST31000340NS"), ("IBM-ESXS", "IBM-ESXS 40NS"), ("SEAGATE", "SEAGATE 40NS")):
        printed = text.replace(maker, f"{label}: {said}").replace(model, f"{model.partition(':')[0]}: 40NS")
        assert whole(printed).drives[0].model == told
    assert whole(text.replace(on, f"{on.partition(':')[0]}: Defunct")).drives[0].state is State.FAILED


def test_drives_are_read_and_enclosures_are_none() -> None:
    drives = {one.place: (one.state, one.media, one.interface) for one in whole(SERIES).drives}
    assert drives == {"0:16": (State.ONLINE, Media.HDD, "sata"), "0:17": (State.SPARE, Media.HDD, "sas")}
    first = whole(SERIES).drives[0]
    assert (first.sector_bytes, first.size_bytes, first.wwn) == (4096, 953869 << 20, "5000c50039ee5900")


def test_work_under_way_stands_in_the_state_too() -> None:
    drive = whole(SERIES).volumes[0]
    assert (drive.level, drive.state) == (Level.RAID6, State.DEGRADED)
    assert [(job.kind, job.progress) for job in drive.jobs] == [("initialisation", 0.9)]


def test_work_under_way_is_told_by_getstatus() -> None:
    assert [(job.kind, job.progress) for job in tasks(STATUS)[0]] == [("rebuild", 0.03)]
    assert whole(SERIES, STATUS).volumes[0].jobs[0].kind == "rebuild"


def test_a_cache_that_is_not_supported_is_not_reported() -> None:
    assert whole(SERIES).volumes[1].write_cache is None


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("Disabled", "write-through"),
        ("Disabled (write-through)", "write-through"),
        ("Enabled", "always-write-back"),
        ("Enabled (write-back)", "always-write-back"),
        ("On when protected by battery/ZMM", "write-back"),
        ("Enabled (write-back) when protected by battery", "write-back"),
        ("Sometimes", "unknown"),
    ],
)
def test_words_for_the_write_cache(words: str, value: str) -> None:
    assert value_of(write_cache(words)) == value


def test_a_smartraid_is_read() -> None:
    found = whole(SMART)
    card, drive = found.card, found.volumes[0]
    assert (card.values["cache_ratio"].value, card.values["drive_write_cache"].value) == ("10/90", "default")
    assert "queue_depth" not in card.values
    assert card.power is not None
    assert card.power.healthy
    assert (drive.name, drive.wwn, drive.drives) == ("OS: the first", "600508b1001c50cdc910104454af6da9", ("0:0",))
    assert value_of(drive.acceleration) == "controller-cache"


def test_a_tool_that_is_too_old_says_so_of_the_card() -> None:
    text = "Controllers found: 1\nController information\n   Controller Status      : Inaccessible\n"
    card = whole(text + "Command completed successfully.\n").card
    assert card.locked == "arcconf reports the controller as inaccessible"
    assert "too old" in card.problems[0]


def test_controllers_are_counted_from_one() -> None:
    assert numbers("Controllers found: 2\n\nCommand completed successfully.") == (1, 2)
    assert numbers("Controllers Found: 1\n   Controller 3:       : Optimal, Slot 8, HBA, X, SN, WWN\n") == (3,)
    assert numbers("garbage") == ()


def test_a_refusal_is_told_in_its_words() -> None:
    text = "Controllers found: 1\nThe requested feature is not supported on this controller.\n\nCommand aborted."
    assert refusal_reason(text) == "The requested feature is not supported on this controller."
    assert refusal_reason("Controllers found: 1\n\nCommand completed successfully.") is None
    assert refusal_reason("") is not None


def test_the_usage_names_the_words_for_caching() -> None:
    assert commands.SetcacheOptions("... <lon|loff> ...").caching == ("lon", "loff")
    assert commands.SetcacheOptions("CON: on, COFF: off").caching == ("con", "coff")
    assert commands.SetcacheOptions("ron roff wb wt").caching is None


def test_the_usage_tells_which_form_takes_noprompt_and_which_there_are() -> None:
    words = commands.SetcacheOptions(USAGE)
    assert words.noprompt_words("logicaldrive") == words.noprompt_words("drivewritecachepolicy") == ("noprompt",)
    assert words.noprompt_words("cacheratio") == words.noprompt_words("writecachebypassthreshold") == ()
    assert words.noprompt_words("recovercachemodule") is None


OFF = "   Cache Status                               : "


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("Cache State Details : Temporarily Disabled(Reason: Charge of the capacitor (pack 1) is low)",
         "Charge of the capacitor (pack 1) is low"),
        ("Cache State : Disabled Capacitor Charge Is Low", "Disabled Capacitor Charge Is Low"),
        ("Cache Status Details : No cable", "No cable"),
        ("Cache State : Disabled", None),
    ],
)  # fmt: skip
def test_the_reason_why_a_cache_is_off_is_told(lines: str, reason: str | None) -> None:
    text = SMART.replace(f"{OFF}Ok", f"{OFF}Temporarily Disabled\n   {lines}")
    assert whole(text).card.cache_details == reason
    working = SMART.replace(f"{OFF}Ok", f"{OFF}Ok\n   {lines.replace('Status Details', 'State Details')}")
    assert whole(working).card.cache_details is None


def in_front(*lines: str) -> str | None:
    """Return what is told of an SSD cache in front of a logical device with these lines."""
    mark = "   Write-cache status                       : Off\n"
    return whole(SERIES.replace(mark, mark + "".join(f"   {line}\n" for line in lines))).volumes[0].ssd_cache


def test_maxcache_in_front_of_a_logical_device_is_named() -> None:
    assert in_front("MaxCache read cache setting : Enabled", "MaxCache read cache status : On") == "read cache On"
    lines = ("maxCache write cache setting : Enabled", "maxCache write cache policy : Write Back")
    assert in_front(*lines) == "write cache Enabled (Write Back)"


def test_maxcache_that_is_off_is_not_named() -> None:
    assert in_front() is None
    assert in_front("MaxCache read cache setting : Enabled", "MaxCache read cache status : Off") is None
    assert in_front("MaxCache Assigned : No") is None


@pytest.mark.parametrize(
    ("counted", "named", "lost"),
    [(3, 1, "it counts 3 controllers but lists 1"), (1, 1, ""), (2, 2, ""), (2, 0, "")],
)
def test_a_list_that_names_fewer_than_it_counts_is_short(counted: int, named: int, lost: str) -> None:
    rows = "".join(f"   Controller {number}:   : Optimal, Slot {number}\n" for number in range(1, named + 1))
    assert short_list(f"Controllers found: {counted}\n{rows}") == lost
