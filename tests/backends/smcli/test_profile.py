"""The three dialects of a profile, and what frames an answer."""

from __future__ import annotations

import pytest

from backends.vendors.smcli.dialects import is_carried_out, names_in, refusal
from backends.vendors.smcli.facts import SystemProfile, parse_profile
from backends.vendors.smcli.readings import BY_KEY, FLUSH_MODIFIER, SystemView, readings, value_of
from backends.vendors.smcli.statements import step

NETAPP = """
PROFILE FOR STORAGE ARRAY: EF560 (11/3/15 9:12:44 AM CET)

SUMMARY------------------------------
   Cache block size:  32 KB
   Start cache flushing at (in percentage):  95
   Stop cache flushing at (in percentage):   90
   Storage array world-wide identifier (ID): 60080E500023C73400000000546F0A51

VOLUME GROUPS------------------------------
   Name: g1
      Status: Optimal
      RAID level: 10
      Associated drives - present (in piece order)
      Tray   Slot
      99     1    [mirrored pair with drive at tray 99, slot 2]
      Drive at Tray 99, Slot 1
      Drive at Tray 99, Drawer 2, Slot 5

STANDARD VOLUMES------------------------------
SUMMARY
   Number of standard volumes: 1
DETAILS
   Volume name: v1
      Volume status: Optimal
      Capacity: 1.500 TB
      Volume world-wide identifier: 60:08:0e:50:00:23:c7:34:00:00:0a:4d:54:6f:11:d2
      Associated volume group: g1
      RAID level: 10
      Segment size: 128 KB
      Write cache: Enabled (currently suspended)
         Write cache without batteries: Disabled
         Write cache with mirroring: Enabled
      Flush write cache after (in seconds): 0.25
      Dynamic cache read prefetch: Disabled

DRIVES------------------------------
   Drive at Tray 99, Slot 1
      Status: Optimal
      Mode: Hot Spare Standby
"""
DELL = NETAPP.replace("STANDARD VOLUMES", "STANDARD VIRTUAL DISKS").replace("Volume name", "Virtual Disk name")
FINE = (
    "Performing syntax check...\n\nExecuting script...\n\nScript execution complete.\n\nSMcli completed successfully.\n"
)


def profile(text: str = NETAPP) -> SystemProfile:
    found = parse_profile(text)
    assert found is not None
    return found


def view(text: str = NETAPP) -> SystemView:
    return SystemView(program="SMcli", profile=profile(text), volume=profile(text).volumes[0])


def test_the_words_of_e_series_are_understood() -> None:
    one = profile()
    (volume,) = one.volumes
    assert (one.name, one.wwn) == ("EF560", "60080e500023c73400000000546f0a51")
    assert (volume.name, volume.size("capacity"), volume.size("segment size")) == ("v1", 3 << 39, 128 << 10)


def test_members_are_found_in_tables_and_in_sentences() -> None:
    assert profile().arrays[0].members == ("99,1", "99,2,5")


def test_what_the_disk_system_adds_in_brackets_is_what_is_in_force() -> None:
    found = readings(view())["write_cache"]
    assert (found.now, found.effective) == ("write-back", "write-through")
    assert found.why_effective == 'the disk system reports: "currently suspended"'


@pytest.mark.parametrize(("text", "noun"), [(NETAPP, "volume"), (DELL, "virtualDisk")])
def test_a_statement_speaks_the_dialect_of_the_profile(text: str, noun: str) -> None:
    assert step(view(text), "segment_size", "256").argv[-1] == f'set {noun} ["v1"] segmentSize=256;'


def test_a_part_of_a_second_is_a_fraction_outside_of_ibms_dialect() -> None:
    assert step(view(), "flush_modifier", "0.5").argv[-1].endswith("cacheFlushModifier=.5;")


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("10.00", "10"),
        ("0.25", "0.25"),
        ("1.50", "1.5"),
        ("Infinite", "infinite"),
        ("7.00", "unknown"),
        ("", "unknown"),
    ],
)
def test_the_flush_modifier_is_one_of_its_times(raw: str, value: str) -> None:
    changed = profile(NETAPP.replace("(in seconds): 0.25", f"(in seconds): {raw}"))
    assert value_of(changed.volumes[0], FLUSH_MODIFIER) == value


def test_what_the_profile_does_not_tell_is_not_reported() -> None:
    found = readings(view())["read_cache"]
    assert (found.now, found.availability.why_not) == (None, "the profile does not report it")


def test_a_row_of_a_longer_label_is_not_taken_for_another() -> None:
    text = NETAPP.replace("      Write cache: Enabled (currently suspended)\n", "")
    assert value_of(profile(text).volumes[0], BY_KEY["write_cache"]) is None


@pytest.mark.parametrize(
    ("text", "fine"),
    [
        (FINE, True),
        (FINE.replace("completed successfully", "failed"), False),
        (FINE.replace("Script execution complete.", ""), False),
        (f"{FINE}\nUnable to reach the array.\n", False),
        ("", False),
    ],
)
def test_only_the_whole_frame_means_that_it_was_carried_out(text: str, fine: bool) -> None:
    assert is_carried_out(text) is fine


def test_a_refusal_is_what_stands_in_the_frame() -> None:
    assert refusal("Executing script...\n\nThe value 7 is not valid.\n\nSMcli failed.\n") == "The value 7 is not valid."


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            "DS4700_A\t10.0.0.1\t10.0.0.2\nunnamed    10.0.0.3\n\nSMcli completed successfully.\n",
            ("DS4700_A", "unnamed"),
        ),
        ("There are no storage systems listed in the file.\n\nSMcli failed.\n", ()),
        ('a"b\thost\n-x\thost\n', ()),
    ],
)
def test_disk_systems_are_listed_by_the_first_column(text: str, names: tuple[str, ...]) -> None:
    assert names_in(text) == names


def test_what_is_no_profile_is_none() -> None:
    assert parse_profile("SMcli failed.") is None
