"""What ssacli, hpssacli and hpacucli print, and what is understood of it."""

from __future__ import annotations

import re

import pytest

from backends.model import Level, Media, State
from backends.vendors.smartarray import effective
from backends.vendors.smartarray.addresses import SLOT
from backends.vendors.smartarray.facts import CardText, LogicalDrive, RaidCard
from backends.vendors.smartarray.ssacli import commands
from backends.vendors.smartarray.ssacli.parsing import acceleration, cards
from backends.vendors.smartarray.ssacli.sections import errors

OLD = """
Smart Array P400i in Slot 0 (Embedded)
   Bus Interface: PCI
   Slot: 0
   Serial Number: PH89DEMO0001
   Controller Status: OK
   Firmware Version: 7.24-0
   Rebuild Priority: Medium
   Surface Scan Delay: 15 secs
   Elevator Sort: Enabled
   Cache Board Present: True
   Cache Status: Temporarily Disabled
   Cache Status Details: Cache disabled; low batteries.
   Accelerator Ratio: 25% Read / 75% Write
   Drive Write Cache: Disabled
   Total Cache Size: 256 MB
   No-Battery Write Cache: Disabled
   Cache Backup Power Source: Batteries
   Battery/Capacitor Count: 1
   Battery/Capacitor Status: Failed (Replace Batteries)
   PCI Address (Domain:Bus:Device.Function): 0000:06:00.0
   Sensor ID: 0
      Location: Inlet
      Serial Number: not the card's
   Primary Boot Volume: None

   Port Name: 1I
         Port ID: 0

   Internal Drive Cage at Port 1I, Box 1, OK
      Drive Bays: 4
      Port: 1I

   Physical Drives
      physicaldrive 1I:1:1 (port 1I:box 1:bay 1, SATA HDD, 250 GB, OK)
      physicaldrive 1I:1:3 (port 1I:box 1:bay 3, SATA HDD, 100 GB, OK)
      physicaldrive 1I:1:4 (port 1I:box 1:bay 4, SATA HDD, 100 GB, Predictive Failure)

   Array: A
      Interface Type: SATA
      Unused Space: 0  MB (0.0%)
      Status: OK

      Logical Drive: 1
         Size: 93.1  GB
         Fault Tolerance: 1
         Stripe Size: 128 KB
         Full Stripe Size: 128 KB
         Status: OK
         Array Accelerator:  Enabled
         Unique Identifier: 600508B1001038333220202020200004
         Disk Name: /dev/cciss/c0d0      Mount Points: /boot 94 MB Partition Number 1
         Logical Drive Label: BOOT DISK     7E6D
         Mirror Group 1:
      physicaldrive 1I:1:3 (port 1I:box 1:bay 3, SATA HDD, 100 GB, OK)
         Mirror Group 2:
            physicaldrive 1I:1:4 (port 1I:box 1:bay 4, SATA HDD, 100 GB, Predictive Failure)
         Drive Type: Data

      physicaldrive 1I:1:3
         Status: OK
         Drive Type: Data Drive
         Interface Type: SATA
         Size: 100 GB
         Rotational Speed: 7200
         Serial Number: WD-DEMO3
         Model: ATA     GB0250C8045
         Current Temperature (C): 31

   unassigned

      physicaldrive 1I:1:1
         Status: OK
         Drive Type: Unassigned Drive
         Interface Type: Solid State SATA
         Size: 250 GB
         Native Block Size: 512

   SEP (Vendor ID HP, Model DL380) 250
      Firmware Version: 9.9
"""


def only(text: str) -> CardText:
    (found,) = cards(text)
    return found


def volume(text: str, number: int = 1) -> LogicalDrive:
    found = only(text).volume(number)
    assert found is not None
    return found


def test_a_card_is_read_with_its_own_fields_alone() -> None:
    card = only(OLD).card
    assert (card.model, card.number, card.serial, card.firmware) == ("Smart Array P400i", "0", "PH89DEMO0001", "7.24-0")


def test_old_labels_mean_the_same_settings() -> None:
    values = only(OLD).card.values
    assert (values["cache_ratio"].value, values["drive_write_cache"].value) == ("25/75", "disable")


def test_caching_that_is_set_is_not_in_force_while_the_batteries_are_low() -> None:
    found = only(OLD)
    drive = volume(OLD)
    policy = effective.write_policy(found.card, drive)
    assert policy is not None
    assert policy.value == "write-back"
    why = "the cache is temporarily disabled: Cache disabled; low batteries"
    assert effective.write_cache(found.card, drive) == ("write-through", why)


def test_two_fields_in_one_line_are_two_fields() -> None:
    assert volume(OLD).device == "/dev/cciss/c0d0"


def test_members_under_a_misplaced_heading_are_members() -> None:
    assert volume(OLD).drives == ("1I:1:3", "1I:1:4")


def test_a_logical_drive_is_read() -> None:
    drive = volume(OLD)
    assert (drive.level, drive.strip_bytes, drive.state) == (Level.RAID1, 131072, State.OPTIMAL)
    assert drive.wwn == "600508b1001038333220202020200004"
    assert drive.size_bytes == round(93.1 * 2**30)


def test_drives_are_sold_in_powers_of_ten() -> None:
    drive = only(OLD).drive("1I:1:3")
    assert drive is not None
    assert drive.size_bytes == 100 * 10**9


def test_states_and_media_of_drives() -> None:
    drives = {one.place: (one.state, one.media, one.array) for one in only(OLD).drives}
    assert drives == {
        "1I:1:1": (State.UNASSIGNED, Media.SSD, None),
        "1I:1:3": (State.ONLINE, Media.HDD, "A"),
        "1I:1:4": (State.ONLINE, Media.HDD, "A"),
    }


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n   ", "\n     "),
        lambda text: text.replace("   ", "\t"),
        lambda text: text.replace(" Array: A", " array A").replace("Logical Drive: 1", "logical drive 1"),
        lambda text: text.replace("   Array: A", "       Array: A"),
        lambda text: "\ufeff" + text,
        lambda text: "# sudo hpssacli ctrl all show config detail\n" + text,
    ],
)
def test_odd_indents_and_line_ends_change_nothing(spoil: object) -> None:
    assert callable(spoil)
    drive = volume(spoil(OLD))
    plain = volume(OLD)
    assert (drive.number, drive.size_bytes, drive.wwn, drive.acceleration) == (
        plain.number,
        plain.size_bytes,
        plain.wwn,
        plain.acceleration,
    )


def test_a_locked_card_says_so_in_its_own_words() -> None:
    text = "\nSmart Array P410 in Slot 1\n\nCACHE STATUS PROBLEM DETECTED: The cache has a problem.\n"
    text += "                               Changes are not allowed.\n\n   Slot: 1\n   Serial Number: PACC1\n"
    card = only(text).card
    assert card.locked == "CACHE STATUS PROBLEM DETECTED: The cache has a problem. Changes are not allowed."
    assert card.serial == "PACC1"


def test_a_warning_before_the_title_is_the_cards() -> None:
    text = "FIRMWARE UPGRADE REQUIRED: An update prevents errors on a\n      RAID 1 volume in a scenario of load.\n\n"
    found = only(
        text + "Smart Array E200i in Slot 0 (Embedded)\n\n   array A\n\n      logicaldrive 1 (1 GB, RAID 5, OK)\n"
    )
    assert found.card.problems[0].endswith("RAID 1 volume in a scenario of load.")
    assert found.volumes[0].level is Level.RAID5


@pytest.mark.parametrize(
    ("row", "level", "state", "kinds"),
    [
        ("(136.7 GB, RAID 5, Interim Recovery Mode)", Level.RAID5, State.DEGRADED, []),
        ("(2.0 TB, RAID 6 (ADG), OK)", Level.RAID6, State.OPTIMAL, []),
        ("(2.0 TB, RAID 1+0, Recovering, 12% complete)", Level.RAID10, State.REBUILDING, ["rebuild"]),
        ("(2.0 TB, RAID 50, Transforming, 3% complete)", Level.RAID50, State.OPTIMAL, ["migration"]),
        ("(745.18 GB, RAID 1): OK", Level.RAID1, State.OPTIMAL, []),
        ("(1 GB, RAID 0, Failed)", Level.RAID0, State.FAILED, []),
    ],
)
def test_a_row_of_a_list_says_level_and_state(row: str, level: Level, state: State, kinds: list[str]) -> None:
    (found,) = cards(f"\nSmart Array P420 in Slot 2\n\n   array A\n\n      logicaldrive 1 {row}\n")
    drive = found.volumes[0]
    assert (drive.level, drive.state, [job.kind for job in drive.jobs]) == (level, state, kinds)


def test_the_slot_of_a_card_on_the_board_has_a_letter() -> None:
    assert only("\nDynamic Smart Array B140i in Slot 0b\n   Controller Status: OK\n").card.number == "0b"


def test_hba_mode_stands_in_the_title() -> None:
    assert only("\nSmart Array P840ar in Slot 0 (Embedded) (HBA Mode)\n   Slot: 0\n").card.passes_through


@pytest.mark.parametrize(
    ("method", "caching", "value"),
    [
        ("Controller Cache", "Enabled", "controller-cache"),
        ("Smart Path", "Disabled", "smart-path"),
        ("SSD I/O Bypass", "Disabled", "smart-path"),
        ("None", "Disabled", "none"),
        ("", "Enabled", "controller-cache"),
        ("", "Disabled", "none"),
        ("Teleport", "Disabled", "unknown"),
    ],
)
def test_one_accelerator_serves_a_logical_drive(method: str, caching: str, value: str) -> None:
    lines = f"         Caching:  {caching}\n" + (f"         LD Acceleration Method: {method}\n" if method else "")
    found = volume(f"\nSmart Array X in Slot 1\n   Array: A\n      Logical Drive: 1\n{lines}")
    assert found.acceleration is not None
    assert found.acceleration.value == value


def test_a_cache_size_without_a_unit_is_in_gib() -> None:
    assert only("\nHPE Smart Array X in Slot 0\n   Total Cache Size: 2.0\n").card.cache_bytes == 2 << 30


def test_an_error_is_told_whole() -> None:
    text = "\nError: Another instance of ACU is already running (possibly a service). Please \nterminate it.\n\nmore\n"
    assert list(errors(text)) == [
        "Error: Another instance of ACU is already running (possibly a service). Please terminate it."
    ]


def test_only_the_exact_form_of_a_query_is_one() -> None:
    assert commands.is_query(commands.query("0", "cacheratio"))
    assert commands.is_query(commands.query("0", "ss", 3))
    assert not commands.is_query(("ctrl", "slot=0", "modify", "cacheratio=?", "forced"))
    assert not commands.is_query(("ctrl", "slot=0", "modify", "cacheratio=10/90?"))
    assert not commands.is_query(("ctrl", "slot=0", "delete", "cacheratio=?"))


def test_legal_values_stand_below_their_heading() -> None:
    text = '\nError: "raid=1" is not a valid option\n\nAvailable options are:\n       0\n       5 (default value)\n'
    assert commands.options(text) == ("0", "5")
    assert commands.options("\nError: Syntax error.\n") == ()


@pytest.mark.parametrize("front", ["\t", "    ", "\ufeff"])
def test_a_text_that_somebody_pasted_is_read_as_it_was(front: str) -> None:
    pasted = front + OLD.lstrip() if front == "\ufeff" else "".join(f"{front}{line}\n" for line in OLD.splitlines())
    assert cards(pasted) == cards(OLD)


def test_lines_may_end_as_on_another_system() -> None:
    assert cards(OLD.replace("\n", "\r\n")) == cards(OLD)


def test_a_cache_that_is_off_for_good_is_not_in_force() -> None:
    said = "Cache disabled; backup power source failed to charge to an acceptable level"
    gone = OLD.replace("Temporarily Disabled", "Permanently Disabled").replace("Cache disabled; low batteries.", said)
    gone = "\n".join(line for line in gone.splitlines() if "Accelerator Ratio" not in line)
    (one,) = cards(gone)
    force, why = effective.write_cache(one.card, one.volumes[0])
    assert (force, why) == ("write-through", f"the cache is permanently disabled: {said}")


@pytest.mark.parametrize("words", ["All disabled", "All Disabled", "None", "Disabled"])
def test_a_logical_drive_that_nothing_accelerates_has_the_acceleration_none(words: str) -> None:
    found = acceleration(words, "Disabled", None)
    assert found is not None
    assert (found.value, found.raw) == ("none", words)


def test_an_accelerator_that_is_not_known_is_shown_in_the_tools_words() -> None:
    found = acceleration("Quantum Cache", "Enabled", None)
    assert found is not None
    assert (found.value, found.raw) == ("unknown", "Quantum Cache")


def without_battery_line(details: str, status: str = "Temporarily Disabled", source: str = "Batteries") -> RaidCard:
    """Return a card that says nothing of the state of its battery."""
    text = OLD.replace("   Battery/Capacitor Count: 1\n   Battery/Capacitor Status: Failed (Replace Batteries)\n", "")
    text = text.replace("Cache disabled; low batteries.", details).replace("Temporarily Disabled", status)
    return cards(text.replace("Power Source: Batteries", f"Power Source: {source}"))[0].card


@pytest.mark.parametrize("details", ["Cable Error", "Capacitor charge is low", "Cache disabled; low batteries"])
def test_the_reason_why_the_cache_is_off_tells_of_the_battery_where_its_own_line_is_missing(details: str) -> None:
    power = without_battery_line(details).power
    assert power is not None
    assert (power.kind, power.state, power.healthy) == ("bbu", details, False)


def test_a_power_source_that_is_named_without_a_state_is_there_and_unknown() -> None:
    power = without_battery_line("ADG enabler missing", source="Capacitors").power
    assert power is not None
    assert (power.kind, power.state, power.healthy) == ("capacitor", "unknown", None)


def test_a_reason_of_a_cache_in_use_says_nothing_of_the_battery() -> None:
    power = without_battery_line("The cache had valid data in its battery backed memory", status="OK").power
    assert power is not None
    assert power.healthy is None


def test_no_battery_at_all_is_not_fitted() -> None:
    power = without_battery_line("ADG enabler missing", source="None").power
    assert power is not None
    assert (power.kind, power.state) == ("none", "not fitted")


def test_a_value_that_is_wrapped_at_the_left_margin_is_whole_and_what_follows_is_the_cards() -> None:
    long = "The array controller had valid data stored in"
    text = OLD.replace("Cache disabled; low batteries.", f"{long}\nits memory when it was reset: nothing\nwas lost.")
    card = cards(text)[0].card
    assert card.cache_details == f"{long} its memory when it was reset: nothing was lost"
    assert card.values["cache_ratio"].value == "25/75"
    assert card.power is not None


def test_the_reason_why_a_cache_is_off_for_good_is_told_as_well() -> None:
    reason = "Cache Disable Reason: The power source has failed to charge."
    card = cards(OLD.replace("low batteries.\n", f"low batteries.\n   {reason}\n"))[0].card
    assert card.cache_details == "Cache disabled; low batteries. The power source has failed to charge"


@pytest.mark.parametrize(("slot", "is_one"), [("0", True), ("0b", True), ("2085", True), ("16385", True), ("x", False)])
def test_slots_are_numbers_of_any_length(slot: str, is_one: bool) -> None:
    assert (re.fullmatch(SLOT, slot) is not None) == is_one


@pytest.mark.parametrize(
    ("method", "named"), [("SSD Smart Cache", True), ("maxCache", True), ("Controller Cache", False)]
)
def test_an_ssd_cache_that_accelerates_a_logical_drive_is_named(method: str, named: bool) -> None:
    text = (
        "Smart Array P440 in Slot 1\n   Slot: 1\n\n   Array: A\n      Logical Drive: 1\n         Caching: Enabled (x)\n"
    )
    volume = cards(f"{text}         LD Acceleration Method: {method}\n")[0].volumes[0]
    assert volume.ssd_cache == (method if named else None)
    assert volume.acceleration is not None
    assert volume.acceleration.value == ("unknown" if named else "controller-cache")
    old = cards(text)[0].volumes[0].acceleration
    assert old is not None
    assert old.value == "controller-cache"
